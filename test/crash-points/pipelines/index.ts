import type { Kind } from "../../../src/kernel/kind.ts";
import type { OperationScenario } from "../operations.ts";
import { boxScenarios } from "./boxes.ts";
import { dnsZoneScenarios } from "./dns-zone.ts";
import { keyValueSetScenarios } from "./key-value-set.ts";

/** Every pipeline has its scenario here; one without fails the check. */
export const operationScenarios: readonly OperationScenario[] = [
  ...boxScenarios,
  ...dnsZoneScenarios,
  ...keyValueSetScenarios,
];

/** Pipelines of hosts have none yet. This list only gets shorter: a new pipeline comes with its scenario. */
export const yetWithoutScenario: readonly string[] = ["host.create", "host.delete", "host.power"];

/** Names of pipelines that have no scenario. */
export function pipelinesWithoutScenario(
  kinds: Iterable<Pick<Kind, "pipelines">>,
  covered: readonly Pick<OperationScenario, "name">[] = operationScenarios,
): readonly string[] {
  const names = new Set(covered.map(({ name }) => name.split(",")[0]));
  const pipelines = [...kinds].flatMap((kind) => (kind.pipelines ?? []).map(({ name }) => name));
  return [...new Set(pipelines)].filter((name) => !names.has(name));
}
