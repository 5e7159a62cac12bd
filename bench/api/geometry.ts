import { accountIdOf, organizationIdOf } from "../../src/control-api/names.ts";

/** What is there before anything is measured. */
export interface ApiGeometry {
  /** Resources of one kind in one scope, among which a list finds its page. */
  readonly resources: number;
  /** Roles at scopes that one caller has. */
  readonly grants: number;
}

export const organization = "bench";
export const organizationId = organizationIdOf(organization);
export const scope = `organization/${organizationId}`;
export const account = "lab";
export const accountId = accountIdOf(organization, account);
export const teams = 200;
/** One in so many is not ready, and one in so many of those waits for a person. */
export const unreadyOneIn = 50;
export const heldOneIn = 1_000;
export const operatorToken = "bench-token-of-the-operator";

export function zoneManifest(name: string) {
  return {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name, mode: "observe" },
    spec: { account, zone: `${name}.test` },
  };
}
