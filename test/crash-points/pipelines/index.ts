import type { Kind } from "../../../src/kernel/kind.ts";
import type { OperationScenario } from "../operations.ts";
import { boxScenarios } from "./boxes.ts";
import { dnsZoneScenarios } from "./dns-zone.ts";
import { hostScenarios } from "./host.ts";
import { ionosHostScenarios } from "./ionos-host.ts";
import { keyValueSetScenarios } from "./key-value-set.ts";
import { providerScenarios } from "./provider.ts";

/** Every pipeline has its scenario here; one without fails the check. */
export const operationScenarios: readonly OperationScenario[] = [
  ...boxScenarios,
  ...dnsZoneScenarios,
  ...hostScenarios,
  ...ionosHostScenarios,
  ...keyValueSetScenarios,
  ...providerScenarios,
];

/** Names of pipelines that have no scenario. */
export function pipelinesWithoutScenario(
  kinds: Iterable<Pick<Kind, "pipelines">>,
  covered: readonly Pick<OperationScenario, "name">[] = operationScenarios,
): readonly string[] {
  const names = new Set(covered.map(({ name }) => name.split(",")[0]));
  const pipelines = [...kinds].flatMap((kind) => (kind.pipelines ?? []).map(({ name }) => name));
  return [...new Set(pipelines)].filter((name) => !names.has(name));
}
