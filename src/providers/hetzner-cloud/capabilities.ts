import type { ComputeCapabilities } from "../../ports/compute.ts";

export const hetznerCloudCapabilities: ComputeCapabilities = Object.freeze({
  createsServers: true,
  serverMark: "labels",
  uniqueServerNames: true,
  firewalls: true,
  firewallsOnCards: false,
  firewallSelectors: true,
  networks: true,
  networkRanges: true,
  loadBalancers: true,
  balancerRules: false,
  balancerOrigins: false,
  volumes: true,
  reverseDns: true,
  protection: true,
  serverMetrics: true,
});
