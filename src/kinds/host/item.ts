import { compare } from "../../kernel/diff.ts";
import type { Subject } from "../../kernel/loop.ts";
import type { CloudServer } from "../../ports/compute.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { scopeLabels } from "../cloud/layers.ts";
import type { HostSpec } from "./schema.ts";

/** What is healed in place. */
export interface ServerItem {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly power: "on" | "off" | "changing";
  /** Setpoint's networks by name, each with the address there; an empty one leaves that to the provider. */
  readonly networks: Readonly<Record<string, string>>;
  readonly firewalls: readonly string[];
  readonly volumes: readonly string[];
  readonly reverseDns?: string;
  readonly protect: boolean;
}

/** What a server is built as. Another build is another server. */
export interface BuildItem {
  readonly type: string;
  readonly location: string;
}

export type HostItem = ServerItem | BuildItem;

export const serverKey = "server";
export const buildKey = "build";

export function wantedServer(subject: Subject<HostSpec>): ServerItem {
  const { spec, name } = subject;
  return {
    name,
    labels: { ...spec.labels, ...scopeLabels(subject) },
    power: spec.power,
    networks: Object.fromEntries(spec.networks.map((network) => [network.name, network.ip ?? ""])),
    firewalls: spec.firewalls.map((firewall) => firewall.name).sort(),
    volumes: [...spec.volumes].sort(),
    ...(spec.reverseDns === undefined ? {} : { reverseDns: spec.reverseDns }),
    protect: spec.protect,
  };
}

export interface NamesAround {
  /** Names of Setpoint's networks by id. */
  readonly networks: ReadonlyMap<string, string>;
  readonly volumes: ReadonlyMap<string, string>;
  /** Names of the firewalls that were put on the server by name. */
  readonly firewalls: readonly string[];
}

/** Networks that are not Setpoint's are not in it: they stay as somebody attached them. */
export function seenServer(server: CloudServer, names: NamesAround): ServerItem {
  const ipv4 = server.addresses.find(({ family }) => family === "ipv4")?.name;
  return {
    name: server.name,
    labels: server.labels,
    power: server.power,
    networks: Object.fromEntries(
      server.networks.flatMap(({ network, ip }) => {
        const name = names.networks.get(network);
        return name === undefined ? [] : [[name, ip]];
      }),
    ),
    firewalls: [...names.firewalls].sort(),
    volumes: server.volumes.flatMap((id) => names.volumes.get(id) ?? []).sort(),
    ...(ipv4 === undefined ? {} : { reverseDns: ipv4 }),
    protect: server.protected,
  };
}

export function sameHost(wanted: HostItem, seen: HostItem): readonly FieldDifference[] {
  if (!("power" in wanted) || !("power" in seen)) return compare(wanted, seen).differences;
  const networks = Object.fromEntries(
    Object.entries(seen.networks).map(([name, ip]) => [name, wanted.networks[name] === "" ? "" : ip]),
  );
  const { reverseDns, ...rest } = seen;
  const comparable = {
    ...rest,
    networks,
    // On its way to somewhere is not off: the next look tells.
    power: seen.power === "changing" ? wanted.power : seen.power,
    // What nobody declared is the provider's own name for the address.
    ...(wanted.reverseDns === undefined || reverseDns === undefined ? {} : { reverseDns }),
  };
  return compare(wanted, comparable).differences;
}
