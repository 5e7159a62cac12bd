import { z } from "zod";
import { compare } from "../../kernel/diff.ts";
import type {
  Desired,
  DesiredContext,
  Inspection,
  LookContext,
  Observation,
  Seen,
  Subject,
} from "../../kernel/loop.ts";
import type { CloudNetwork, CloudServer, ComputeReader } from "../../ports/compute.ts";
import type { CloudForwarder, CloudReservedAddress, ForwardingRule } from "../../ports/load-balancer.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { placedAsDeclared, placeOf, type Placed } from "../cloud/same-place.ts";
import { isMarkedFor, leastComplete, ownAmong, seenOf } from "../cloud/seen-marker.ts";
import { forwarderType } from "./fits.ts";
import type { LoadBalancerSpec } from "./schema.ts";

/**
 * Where a provider has rules that forward on a reserved address, a load balancer is two things: the rules, and the address. Each is
 * an item of its own, so that "the rules are gone and the address is still there" is a difference like any other: while one uses
 * the other it cannot go, and what is left is closed by the next cycle.
 */
export interface ForwarderItem extends Placed {
  readonly name: string;
  /** The network where visitors come in: the internet, or its id. */
  readonly listensIn: string;
  /** The network of its targets, by name. */
  readonly network: string;
  /** "reserved" for the address that is kept for it, and others as they are. */
  readonly address: string;
  /** By port. */
  readonly rules: Readonly<Record<string, Omit<ForwardingRule, "listenPort">>>;
  /** Who is at its targets' addresses, and where visitors find it: for people, and nobody's to compare. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly addresses?: readonly string[];
}

export interface AddressItem {
  /** What it is called, without the mark. */
  readonly reservedFor: string;
}

export const forwarderKey = "load-balancer";
const addressPrefix = "address ";
const internet = "internet";
const reserved = "reserved";

const hostsShape = z.record(z.string(), z.string());
const measuredShape = z.union([z.object({ region: z.string(), hosts: hostsShape }), z.object({ unknown: z.string() })]);

export function regionOf(key: string): string {
  return key.slice(addressPrefix.length);
}

/** Undefined where the provider has load balancers of another sort. Without a measurement, what was wanted last stands. */
export function desiredForwarder(
  ctx: DesiredContext,
  subject: Subject<LoadBalancerSpec>,
): Desired<ForwarderItem | AddressItem> | undefined {
  const measured = ctx.measured.known ? measuredShape.safeParse(ctx.measured.value).data : undefined;
  if (ctx.measured.known && measured === undefined) return undefined;
  if (measured !== undefined && "unknown" in measured) return { known: false, reason: measured.unknown };
  const last = ctx.lastGood(forwarderKey);
  const before = isForwarder(last) ? (last.hosts ?? {}) : undefined;
  const keys =
    measured === undefined
      ? ctx.lastKeys().filter((key) => key.startsWith(addressPrefix))
      : [`${addressPrefix}${measured.region}`];
  if (!ctx.measured.known && (before === undefined || keys.length === 0))
    return subject.spec.type === forwarderType ? { known: false, reason: ctx.measured.reason } : undefined;
  const hosts = measured?.hosts ?? before ?? {};
  const address: AddressItem = { reservedFor: subject.name };
  return {
    known: true,
    items: [
      ...keys.map((key) => ({ key, item: address })),
      { key: forwarderKey, item: wantedForwarder(subject, hosts) },
    ],
  };
}

export function isForwarder(item: unknown): item is ForwarderItem {
  return typeof item === "object" && item !== null && "rules" in item && "listensIn" in item;
}

export function isAddress(item: object): item is AddressItem {
  return "reservedFor" in item;
}

function wantedForwarder(
  { name, spec }: Subject<LoadBalancerSpec>,
  hosts: Readonly<Record<string, string>>,
): ForwarderItem {
  const rules = spec.services.map(({ listenPort, targetPort, protocol, check }): ForwardingRule => {
    const target = { port: targetPort, everySeconds: check.everySeconds };
    return {
      listenPort,
      protocol,
      algorithm: spec.algorithm,
      timeoutSeconds: check.timeoutSeconds,
      retries: check.retries,
      targets: Object.fromEntries(Object.keys(hosts).map((ip) => [ip, target])),
    };
  });
  return {
    name,
    location: spec.location,
    listensIn: internet,
    network: spec.network?.name ?? "",
    address: reserved,
    rules: rulesByPort(rules),
    hosts,
  };
}

/** Two rules of one port are told apart by their place. */
function rulesByPort(rules: readonly ForwardingRule[]): ForwarderItem["rules"] {
  const byPort: Record<string, Omit<ForwardingRule, "listenPort">> = {};
  for (const { listenPort, ...rule } of rules)
    byPort[byPort[listenPort] === undefined ? String(listenPort) : `${listenPort} (again)`] = rule;
  return byPort;
}

export function rulesOf({ rules }: Pick<ForwarderItem, "rules">): readonly ForwardingRule[] {
  return Object.entries(rules).map(([port, rule]) => ({ ...rule, listenPort: Number(port) }));
}

export function sameForwarder(wanted: ForwarderItem, seen: ForwarderItem): readonly FieldDifference[] {
  const facts = ({ hosts: _hosts, addresses: _addresses, ...rest }: ForwarderItem) => rest;
  return compare(facts(wanted), facts(placedAsDeclared(seen, wanted))).differences;
}

interface Around {
  readonly networks: readonly CloudNetwork[];
  readonly servers: readonly CloudServer[];
  /** Addresses that are reserved for it. */
  readonly addresses: readonly string[];
}

function seenForwarder(forwarder: CloudForwarder, { networks, servers, addresses }: Around): Seen<ForwarderItem> {
  const [listensIn, forwardsIn] = [forwarder.listensIn, forwarder.forwardsIn].map((id) =>
    networks.find((network) => network.id === id),
  );
  const isReserved = forwarder.addresses.length === 1 && addresses.includes(forwarder.addresses[0] ?? "");
  const ips = new Set(forwarder.rules.flatMap(({ targets }) => Object.keys(targets)));
  const hosts = servers.flatMap(({ name, networks: own }) =>
    own
      .filter(({ network, ip }) => network === forwarder.forwardsIn && ips.has(ip))
      .map(({ ip }) => [ip, name] as const),
  );
  const isOurs = typeof forwardsIn?.mark === "object" && "installationId" in forwardsIn.mark;
  return seenOf(forwarderKey, forwarder, {
    name: forwarder.name,
    ...placeOf(forwarder),
    listensIn: listensIn?.public === true ? internet : forwarder.listensIn,
    network: isOurs ? forwardsIn.name : `#${forwarder.forwardsIn}`,
    address: isReserved ? reserved : [...forwarder.addresses].sort().join(", "),
    rules: rulesByPort(forwarder.rules),
    hosts: Object.fromEntries(hosts),
    addresses: forwarder.addresses,
  });
}

/** In use is in use: who would give it back is refused by the provider, so nobody asks. */
function seenAddress(address: CloudReservedAddress, users: readonly string[]): Seen<AddressItem> {
  const seen = seenOf(`${addressPrefix}${address.region}`, address, { reservedFor: address.name });
  const by = [...address.usedBy, ...users];
  return by.length === 0 ? seen : { ...seen, lockedBy: `in use: ${by.join("; ")}` };
}

export async function observeForwarder(
  ctx: LookContext<ComputeReader>,
  subject: Subject<LoadBalancerSpec>,
): Promise<Observation<ForwarderItem | AddressItem>> {
  const forwarders = await ctx.inventory<CloudForwarder>("load-balancers");
  const { around, own, addresses, networks } = await lookAround(ctx, subject);
  const items: Seen<ForwarderItem | AddressItem>[] = [
    ...ownAmong(ctx, forwarders.entries, subject).map((forwarder) => seenForwarder(forwarder, around)),
    ...own.map((address) => seenAddress(address, usersOf(address, forwarders.entries))),
  ];
  const older = forwarders.startedAtMonotonicMs < addresses.startedAtMonotonicMs ? forwarders : addresses;
  return {
    ...ctx.from<unknown, ForwarderItem | AddressItem>(older, items),
    ...leastComplete([forwarders, addresses, networks]),
  };
}

/** What a load balancer is read with. A name is anybody's: an address is its own by its recorded id or its mark alone. */
async function lookAround(ctx: LookContext<ComputeReader>, subject: Pick<Subject<unknown>, "uid">) {
  const addresses = await ctx.inventory<CloudReservedAddress>("floating-ips");
  const networks = await ctx.inventory<CloudNetwork>("networks");
  const servers = await ctx.inventory<CloudServer>("servers");
  const own = addresses.entries.filter((address) => ctx.ownIds.has(address.id) || isMarkedFor(address, subject));
  const around: Around = {
    networks: networks.entries,
    servers: servers.entries,
    addresses: own.flatMap((address) => address.addresses),
  };
  return { around, own, addresses, networks };
}

function usersOf({ addresses }: CloudReservedAddress, forwarders: readonly CloudForwarder[]): readonly string[] {
  return forwarders
    .filter((forwarder) => forwarder.addresses.some((ip) => addresses.includes(ip)))
    .map(({ name }) => `load balancer ${name}`);
}

export async function readForwarder(
  ctx: LookContext<ComputeReader>,
  subject: Subject<LoadBalancerSpec>,
  { key, externalId }: { readonly key: string; readonly externalId: string | undefined },
): Promise<Seen<ForwarderItem | AddressItem> | "absent"> {
  const { reader, signal, marker } = ctx;
  if (key.startsWith(addressPrefix)) {
    const found =
      externalId === undefined
        ? await reader.markedAddress?.(marker, regionOf(key), signal)
        : await reader.reservedAddress?.(externalId, signal);
    return found === undefined || found === "absent" ? "absent" : seenAddress(found, []);
  }
  const found =
    externalId === undefined
      ? await reader.forwarderByName?.(subject.name, signal)
      : await reader.forwarder?.(externalId, signal);
  if (found === undefined || found === "absent") return "absent";
  return seenForwarder(found, (await lookAround(ctx, subject)).around);
}

/** Hosts that are named and have no server in the network yet: it works without them, and whoever declared it should know. */
export function inspectForwarder(
  { spec }: Subject<LoadBalancerSpec>,
  seen: readonly Seen<object>[],
): Inspection | undefined {
  const item = seen.map((one) => one.item).find(isForwarder);
  if (item === undefined) return undefined;
  const there = new Set(Object.values(item.hosts ?? {}));
  const missing = spec.targets.flatMap((target) => ("host" in target && !there.has(target.host) ? [target.host] : []));
  const report = { addresses: item.addresses ?? [], hosts: item.hosts ?? {}, notThere: missing };
  if (missing.length === 0) return { conditions: [], report };
  const message = `These hosts have no server in the network ${item.network} (yet), and get no visitors: ${missing.join(", ")}. Make them with setpoint ops start host/NAME host.create, and name the network in their spec.networks`;
  return { conditions: [{ type: "TargetsNotThere", status: "True", reason: "NoServer", message }], report };
}
