import type { Scenario } from "../scenario.ts";
import { dnsZoneScenario } from "./dns-zone.ts";
import { keyValueSetScenario } from "./key-value-set.ts";
import { simSetScenario, simZoneScenario } from "./sim-kinds.ts";

/** Every kind with a loop has its scenario here; a kind without one fails the check. */
export const scenarios: readonly Scenario[] = [simSetScenario, simZoneScenario, keyValueSetScenario, dnsZoneScenario];
