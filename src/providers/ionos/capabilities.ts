import type { ComputeCapabilities } from "../../ports/compute.ts";
import { typeNames } from "./types.ts";

/** Rules are on network cards there, and networks have no range. */
export const ionosCapabilities: ComputeCapabilities = Object.freeze({
  createsServers: true,
  serverTypeNames: typeNames,
  serverMark: "name",
  uniqueServerNames: false,
  firewalls: true,
  firewallsOnCards: true,
  firewallSelectors: false,
  networks: true,
  networkRanges: false,
  loadBalancers: true,
  balancerRules: true,
  balancerOrigins: false,
  volumes: true,
  reverseDns: false,
  protection: false,
  serverMetrics: false,
});
