import type { Kind, KindRegistry } from "../kernel/kind.ts";
import { cloudNetworkKind } from "./cloud-network/kind.ts";
import { computeProfileKind } from "./compute-profile/kind.ts";
import { computeProviderKind } from "./compute-provider/kind.ts";
import { dnsRecordKind } from "./dns-record/kind.ts";
import { dnsZoneKind } from "./dns-zone/kind.ts";
import { firewallKind } from "./firewall/kind.ts";
import { hostKind } from "./host/kind.ts";
import { loadBalancerKind } from "./load-balancer/kind.ts";
import { scalingGroupKind } from "./scaling-group/kind.ts";

/** Every kind there is. A kind that is not listed here does not exist. */
export const kinds: KindRegistry = new Map<string, Kind>(
  (
    [
      cloudNetworkKind,
      computeProfileKind,
      computeProviderKind,
      dnsRecordKind,
      dnsZoneKind,
      firewallKind,
      hostKind,
      loadBalancerKind,
      scalingGroupKind,
    ] as readonly Kind[]
  ).map((kind) => [kind.kind, kind]),
);
