import { compare } from "../../kernel/diff.ts";
import type { Subject } from "../../kernel/loop.ts";
import type { CloudServer } from "../../ports/compute.ts";
import type { FieldDifference, PublishedValues } from "../../ports/records.ts";
import { scopeLabels } from "../cloud/layers.ts";
import { placedAsDeclared, placeOf, type Placed } from "../cloud/same-place.ts";
import { typeOf } from "../compute-profile/naming-one.ts";
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
  /** Its public addresses as they were seen; nobody declares them. */
  readonly addresses?: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };
}

/** What a server is built as. Another build is another server. */
export interface BuildItem extends Placed {
  readonly type: string;
  /**
   * What it was made from, as it was declared then. A provider may say it in another way, or no longer; so of a server that was
   * adopted, or made before this was noted, it is not known.
   */
  readonly image?: string | undefined;
}

export type HostItem = ServerItem | BuildItem;

export const serverKey = "server";
export const buildKey = "build";

/** Under which operations have the server of a host on record. */
export function serverThing({ name }: Pick<Subject<unknown>, "name">): string {
  return `server ${name}`;
}

/** Undefined where nobody has looked up the type of its profile. */
export function wantedBuild(spec: HostSpec): BuildItem | undefined {
  const type = typeOf(spec);
  return type === undefined ? undefined : { type, location: spec.location, image: spec.image };
}

export function typeUnknown({ name, spec }: Pick<Subject<HostSpec>, "name" | "spec">): string {
  return `The type of ComputeProfile/${spec.profile ?? ""} was not looked up when Host/${name} was declared: declare the host again`;
}

export function seenBuild(server: CloudServer, { image }: Readonly<Record<string, string>>): BuildItem {
  return { type: server.type, ...placeOf(server), ...(image === undefined ? {} : { image }) };
}

/** None of it can be changed on a server that is there. */
const built: ReadonlySet<string> = new Set(["/type", "/location", "/image"]);
export function isAnotherServer(differences: readonly FieldDifference[]): boolean {
  return differences.some(({ field }) => built.has(field));
}

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
    addresses: { ipv4: addressesOf(server, "ipv4"), ipv6: addressesOf(server, "ipv6") },
  };
}

/** Where a provider names the network of a server alone, its first address is the one that images set up. */
function addressesOf({ addresses }: CloudServer, family: "ipv4" | "ipv6"): readonly string[] {
  const own = addresses.filter((address) => address.family === family).map(({ ip }) => ip.replace(/::\/64$/, "::1"));
  return [...new Set(own.filter((ip) => !ip.includes("/")))].slice(0, 1);
}

/** Where nobody knows what it was made from, nobody can say that it is another image. */
function sameBuild(wanted: HostItem, seen: HostItem): readonly FieldDifference[] {
  if (!("location" in wanted) || !("location" in seen)) return compare(wanted, seen).differences;
  const placed = placedAsDeclared(seen, wanted);
  return compare(wanted, seen.image === undefined ? { ...placed, image: wanted.image } : placed).differences;
}

export function sameHost(wanted: HostItem, seen: HostItem): readonly FieldDifference[] {
  if (!("power" in wanted) || !("power" in seen)) return sameBuild(wanted, seen);
  const networks = Object.fromEntries(
    Object.entries(seen.networks).map(([name, ip]) => [name, wanted.networks[name] === "" ? "" : ip]),
  );
  const { name, labels, firewalls, volumes, protect, reverseDns } = seen;
  const comparable = {
    name,
    labels,
    firewalls,
    volumes,
    protect,
    networks,
    // On its way to somewhere is not off: the next look tells.
    power: seen.power === "changing" ? wanted.power : seen.power,
    // What nobody declared is the provider's own name for the address.
    ...(wanted.reverseDns === undefined || reverseDns === undefined ? {} : { reverseDns }),
  };
  return compare(wanted, comparable).differences;
}

/** What others may use of a host. A server that is not there, or has no address, shows none. */
export function publishedAddresses(seen: readonly HostItem[]): PublishedValues {
  const server = seen.find((item): item is ServerItem => "power" in item);
  const { ipv4 = [], ipv6 = [] } = server?.addresses ?? {};
  return { ...(ipv4.length === 0 ? {} : { ipv4 }), ...(ipv6.length === 0 ? {} : { ipv6 }) };
}
