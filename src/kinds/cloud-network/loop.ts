import { compare } from "../../kernel/diff.ts";
import { defineLoop, type LookContext, type Subject, type WriteContext } from "../../kernel/loop.ts";
import type { CloudNetwork, CloudRoute, CloudSubnet, ComputeReader, ComputeWriter } from "../../ports/compute.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { covers, foldCidr, parseCidr } from "../cloud/cidr.ts";
import { placedAsDeclared, placeOf, type Placed } from "../cloud/same-place.ts";
import { ownAmong, requireCapability, requireNoProblems, seenOf } from "../cloud/seen-marker.ts";
import { networkProblems } from "./fits.ts";
import type { CloudNetworkSpec } from "./schema.ts";

/** A network as it is compared: which servers are in it is the business of their hosts. */
export interface NetworkItem extends Placed {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Empty where the provider gives the addresses, like the location where networks are everywhere. */
  readonly range: string;
  /** It leads to the internet, which nobody declares. */
  readonly public: boolean;
  /** By range and by destination: lists whose order means nothing, so that each difference is a field of its own. */
  readonly subnets: Readonly<Record<string, string>>;
  readonly routes: Readonly<Record<string, string>>;
  readonly protect: boolean;
}

const key = "network";

export const cloudNetworkLoop = defineLoop<CloudNetworkSpec, NetworkItem, ComputeReader, ComputeWriter>({
  kind: "CloudNetwork",
  everySeconds: 300,
  marks: true,
  listedIn: "networks",
  // Everything in a network stands on it: that it goes, or is replaced, is a person's word each time.
  limits: { deletesPerCycle: { count: 0, percent: 0, atLeast: 0 } },
  desired: (_ctx, { name, spec }) => ({ known: true, items: [{ key, item: itemOf({ ...spec, name }) }] }),
  observe: async (ctx, subject) => {
    requireAble(ctx, subject);
    const inventory = await ctx.inventory<CloudNetwork>("networks");
    const own = ownAmong(ctx, inventory.entries, subject);
    return ctx.from(
      inventory,
      own.map((network) => seenNetwork(network)),
    );
  },
  read: (ctx, subject, { externalId }) => readNetwork(ctx, subject, externalId),
  same: (wanted, seen) => compare(wanted, placedAsDeclared(seen, wanted)).differences,
  replaces: (differences) =>
    differences.some((difference) => difference.field === "/location" || cannotBeWidened(difference)),
  create: async (ctx, subject, { item }) => {
    const { name, labels, range } = item;
    const { location } = subject.spec;
    const made = await ctx.writer.createNetwork(
      { name, labels, range, location, mark: ctx.marker, subnets: subnetsOf(item), routes: routesOf(item) },
      ctx.signal,
    );
    if (subject.spec.protect) await ctx.writer.setNetworkProtection(made.id, true, ctx.signal);
    return { externalId: made.id };
  },
  update: updateNetwork,
  remove: (ctx, _subject, seen) => ctx.writer.deleteNetwork(seen.externalId, ctx.signal),
});

function seenNetwork(network: CloudNetwork) {
  const { servers } = network;
  const seen = seenOf(key, network, itemOf({ ...network, protect: network.protected }));
  // A network with servers in it is in use: the provider would detach them, and nobody asked for that.
  const inUse = servers.length === 0 ? undefined : `${servers.length} servers are in the network`;
  const lockedBy = seen.lockedBy ?? inUse;
  return lockedBy === undefined ? seen : { ...seen, lockedBy };
}

/** What cannot be kept is refused before anything is made that looks as if it were. */
function requireAble(
  { reader: { capabilities } }: LookContext<ComputeReader>,
  { spec }: Subject<CloudNetworkSpec>,
): void {
  requireCapability(capabilities, "networks", "private networks");
  requireNoProblems(networkProblems(spec, capabilities));
}

interface NetworkFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly range?: string | undefined;
  readonly location?: string | undefined;
  readonly locationId?: string | undefined;
  readonly public?: boolean | undefined;
  readonly subnets: readonly CloudSubnet[];
  readonly routes: readonly CloudRoute[];
  readonly protect: boolean;
}

function itemOf({ name, labels, range = "", subnets, routes, protect, ...rest }: NetworkFacts): NetworkItem {
  return {
    name,
    labels,
    range: foldCidr(range),
    ...placeOf({ location: rest.location ?? "", locationId: rest.locationId }),
    public: rest.public ?? false,
    subnets: Object.fromEntries(subnets.map((subnet) => [foldCidr(subnet.range), subnet.zone])),
    routes: Object.fromEntries(routes.map(({ destination, gateway }) => [foldCidr(destination), gateway])),
    protect,
  };
}

function subnetsOf({ subnets }: NetworkItem): readonly CloudSubnet[] {
  return Object.entries(subnets).map(([range, zone]) => ({ range, zone }));
}

function routesOf({ routes }: NetworkItem): readonly CloudRoute[] {
  return Object.entries(routes).map(([destination, gateway]) => ({ destination, gateway }));
}

async function readNetwork(
  ctx: LookContext<ComputeReader>,
  subject: Subject<CloudNetworkSpec>,
  externalId: string | undefined,
) {
  const found =
    externalId === undefined
      ? await ctx.reader.networkByName(subject.name, ctx.signal)
      : await ctx.reader.network(externalId, ctx.signal);
  return found === "absent" ? "absent" : seenNetwork(found);
}

/** A range only ever grows in place; any other one is another network. */
function cannotBeWidened({ field, wanted, seen }: FieldDifference): boolean {
  if (field !== "/range" || typeof wanted !== "string" || typeof seen !== "string") return false;
  const [outer, inner] = [parseCidr(wanted), parseCidr(seen)];
  return !(outer.ok && inner.ok && covers(outer.cidr, inner.cidr));
}

async function updateNetwork(
  ctx: WriteContext<ComputeWriter>,
  _subject: Subject<CloudNetworkSpec>,
  { item }: { readonly item: NetworkItem },
  seen: { readonly externalId: string; readonly item: NetworkItem; readonly marker?: unknown },
): Promise<void> {
  const { writer, marker, signal } = ctx;
  const { externalId: id, item: before } = seen;
  if (item.range !== before.range) await writer.setNetworkRange(id, item.range, signal);
  // A subnet with another zone is another subnet of the same range, so the old one goes first.
  for (const subnet of changed(before.subnets, item.subnets))
    await writer.removeSubnet(id, { range: subnet, zone: before.subnets[subnet] ?? "" }, signal);
  for (const subnet of subnetsOf(item).filter(({ range, zone }) => before.subnets[range] !== zone))
    await writer.addSubnet(id, subnet, signal);
  for (const destination of changed(before.routes, item.routes))
    await writer.removeRoute(id, { destination, gateway: before.routes[destination] ?? "" }, signal);
  for (const route of routesOf(item).filter(({ destination, gateway }) => before.routes[destination] !== gateway))
    await writer.addRoute(id, route, signal);
  if (item.protect !== before.protect) await writer.setNetworkProtection(id, item.protect, signal);
  const facts = ({ name, labels, public: open }: NetworkItem) => ({ name, labels, public: open });
  const described = compare(facts(item), facts(before));
  if (described.differences.length > 0 || seen.marker === "none")
    await writer.describeNetwork(id, { name: item.name, labels: item.labels, mark: marker }, signal);
}

/** Keys that are there with a value that is not wanted. */
function changed(
  before: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.keys(before).filter((name) => wanted[name] !== before[name]);
}
