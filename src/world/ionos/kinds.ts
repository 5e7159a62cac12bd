import { z } from "zod";
import { locationIds } from "./catalogue.ts";
import type { ElementType } from "./rows.ts";

/** One sort of element: where it is in the API, what it may hold, and what is inside it. */
export interface Kind {
  readonly type: ElementType;
  readonly segment: string;
  readonly idParam: string;
  readonly parent: ElementType | undefined;
  readonly children: readonly ElementType[];
  /** What may be said about one when it is made; some of it is needed. */
  readonly properties: z.ZodObject;
  /** How long making, changing or removing one takes. */
  readonly seconds: number;
}

const text = z.string().max(255);
const reference = z.looseObject({ id: z.string() });
const port = z.int().min(1).max(65_535);

const datacenter = z.object({
  name: text.optional(),
  description: z.string().optional(),
  location: z.string().refine((id) => locationIds.has(id), "is not a known location"),
  secAuthProtection: z.boolean().optional(),
});
const server = z.object({
  name: text.optional(),
  cores: z.int().min(1),
  ram: z.int().min(256).multipleOf(256),
  availabilityZone: z.enum(["AUTO", "ZONE_1", "ZONE_2"]).default("AUTO"),
  cpuFamily: z.string().default("INTEL_ICELAKE"),
  type: z.enum(["ENTERPRISE", "CUBE", "VCPU"]).default("ENTERPRISE"),
  templateUuid: z.string().optional(),
  placementGroupId: z.string().optional(),
  bootVolume: reference.optional(),
  bootCdrom: reference.optional(),
});
const volume = z.object({
  name: text.optional(),
  type: z.enum(["HDD", "SSD", "SSD Standard", "SSD Premium", "DAS", "ISO"]).default("HDD"),
  size: z.number().min(1).max(4_096),
  availabilityZone: z.enum(["AUTO", "ZONE_1", "ZONE_2", "ZONE_3"]).default("AUTO"),
  image: z.string().optional(),
  imageAlias: z.string().optional(),
  imagePassword: z.string().optional(),
  sshKeys: z.array(z.string()).optional(),
  userData: z.string().optional(),
  licenceType: z.string().optional(),
  bus: z.enum(["VIRTIO", "IDE"]).default("VIRTIO"),
  backupunitId: z.string().optional(),
  bootOrder: z.enum(["AUTO", "NONE", "PRIMARY"]).optional(),
  cpuHotPlug: z.boolean().default(true),
  ramHotPlug: z.boolean().default(true),
  nicHotPlug: z.boolean().default(true),
  nicHotUnplug: z.boolean().default(true),
  discVirtioHotPlug: z.boolean().default(true),
  discVirtioHotUnplug: z.boolean().default(true),
});
const lan = z.object({
  name: text.optional(),
  public: z.boolean().default(false),
  pcc: z.string().optional(),
  ipFailover: z.array(z.object({ ip: z.string(), nicUuid: z.string() })).optional(),
});
const nic = z.object({
  name: text.optional(),
  ips: z.array(z.string()).nullish(),
  dhcp: z.boolean().default(true),
  lan: z.coerce.number().int().min(1),
  firewallActive: z.boolean().default(false),
  firewallType: z.enum(["INGRESS", "EGRESS", "BIDIRECTIONAL"]).default("INGRESS"),
  vnet: z.string().optional(),
});
const nullableText = z.string().nullish();
const icmp = z.int().min(0).max(254).nullish();
const octet = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const block = z
  .string()
  .regex(new RegExp(`^${octet}(\\.${octet}){3}(/(3[0-2]|[12]?\\d))?$`), "is not an IPv4 address or a block of them")
  .nullish();
const firewallRule = z.object({
  name: text.optional(),
  protocol: z.enum(["TCP", "UDP", "ICMP", "ANY"]),
  sourceMac: nullableText,
  sourceIp: block,
  targetIp: block,
  icmpCode: icmp,
  icmpType: icmp,
  portRangeStart: port.optional(),
  portRangeEnd: port.optional(),
  type: z.enum(["INGRESS", "EGRESS"]).default("INGRESS"),
});
const ipblock = z.object({
  name: text.optional(),
  location: z.string().refine((id) => locationIds.has(id), "is not a known location"),
  size: z.int().min(1).max(256),
});
const balancer = z.object({
  name: text,
  listenerLan: z.int().min(1),
  targetLan: z.int().min(1),
  ips: z.array(z.string()).optional(),
  lbPrivateIps: z.array(z.string()).optional(),
});
const forwardingRule = z.object({
  name: text,
  algorithm: z.enum(["ROUND_ROBIN", "LEAST_CONNECTION", "RANDOM", "SOURCE_IP"]),
  protocol: z.enum(["TCP", "HTTP"]),
  listenerIp: z.string(),
  listenerPort: port,
  healthCheck: z
    .object({
      clientTimeout: z.int().optional(),
      connectTimeout: z.int().optional(),
      targetTimeout: z.int().optional(),
      retries: z.int().optional(),
    })
    .optional(),
  targets: z.array(
    z.object({
      ip: z.string(),
      port,
      weight: z.int().min(0).max(256),
      healthCheck: z
        .object({
          check: z.boolean().optional(),
          checkInterval: z.int().optional(),
          maintenance: z.boolean().optional(),
        })
        .optional(),
    }),
  ),
});

const snapshot = z.object({
  name: text.optional(),
  description: z.string().optional(),
  location: z.string(),
  size: z.number(),
  licenceType: z.string().optional(),
});

const kind = (
  type: ElementType,
  [segment, idParam]: readonly [string, string],
  parent: ElementType | undefined,
  children: readonly ElementType[],
  [seconds, properties]: readonly [number, z.ZodObject],
): Kind => ({ type, segment, idParam, parent, children, properties, seconds });

export const kinds: readonly Kind[] = [
  kind(
    "datacenter",
    ["datacenters", "datacenterId"],
    undefined,
    ["server", "volume", "lan", "networkloadbalancer"],
    [4, datacenter],
  ),
  kind("server", ["servers", "serverId"], "datacenter", ["nic"], [20, server]),
  kind("volume", ["volumes", "volumeId"], "datacenter", [], [10, volume]),
  kind("lan", ["lans", "lanId"], "datacenter", [], [3, lan]),
  kind("nic", ["nics", "nicId"], "server", ["firewall-rule"], [5, nic]),
  kind("firewall-rule", ["firewallrules", "firewallruleId"], "nic", [], [2, firewallRule]),
  kind("ipblock", ["ipblocks", "ipblockId"], undefined, [], [2, ipblock]),
  kind(
    "networkloadbalancer",
    ["networkloadbalancers", "networkLoadBalancerId"],
    "datacenter",
    ["forwarding-rule"],
    [60, balancer],
  ),
  kind("snapshot", ["snapshots", "snapshotId"], undefined, [], [15, snapshot]),
  kind("forwarding-rule", ["forwardingrules", "forwardingRuleId"], "networkloadbalancer", [], [5, forwardingRule]),
];

const byType = new Map(kinds.map((each) => [each.type, each]));

export function kindOf(type: ElementType): Kind {
  const found = byType.get(type);
  if (found === undefined) throw new Error(`There is no kind of element "${type}".`);
  return found;
}

/** Such as /datacenters/{datacenterId}/servers. */
export function listPath({ segment, parent }: Kind): string {
  return parent === undefined ? `/${segment}` : `${onePath(kindOf(parent))}/${segment}`;
}

export function onePath(of: Kind): string {
  return `${listPath(of)}/{${of.idParam}}`;
}
