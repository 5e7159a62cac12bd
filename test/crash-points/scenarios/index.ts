import type { KindRegistry } from "../../../src/kernel/kind.ts";
import type { Scenario } from "../scenario.ts";
import {
  cloudNetworkScenario,
  computeProfileScenario,
  computeProviderScenario,
  firewallScenario,
  hostScenario,
  loadBalancerScenario,
  scalingGroupScenario,
} from "./cloud.ts";
import { dnsZoneScenario } from "./dns-zone.ts";
import { ionosFirewallScenario, ionosLoadBalancerScenario, ionosNetworkScenario } from "./ionos.ts";
import { keyValueSetScenario } from "./key-value-set.ts";
import { simSetScenario, simZoneScenario } from "./sim-kinds.ts";

/** Every kind with a loop has its scenario here; a kind without one fails the check. */
export const scenarios: readonly Scenario[] = [
  simSetScenario,
  simZoneScenario,
  keyValueSetScenario,
  dnsZoneScenario,
  firewallScenario,
  cloudNetworkScenario,
  computeProfileScenario,
  computeProviderScenario,
  hostScenario,
  loadBalancerScenario,
  scalingGroupScenario,
  ionosFirewallScenario,
  ionosNetworkScenario,
  ionosLoadBalancerScenario,
];

/** Names of the registered kinds that have a loop and no scenario. */
export function withoutScenario(kinds: KindRegistry, covered: readonly Pick<Scenario, "kind">[] = scenarios): string[] {
  const names = new Set(covered.map((scenario) => scenario.kind));
  return [...kinds.values()].flatMap(({ kind, loop }) => (loop === undefined || names.has(kind) ? [] : [kind]));
}
