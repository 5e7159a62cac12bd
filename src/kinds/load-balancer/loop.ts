import { compare } from "../../kernel/diff.ts";
import { EngineError, TerminalError } from "../../kernel/errors.ts";
import { canonical } from "../../kernel/hash.ts";
import {
  defineLoop,
  type Inventory,
  type LookContext,
  type Seen,
  type Subject,
  type Wanted,
  type WriteContext,
} from "../../kernel/loop.ts";
import type { CloudThing, ComputeReader, ComputeWriter } from "../../ports/compute.ts";
import type { CloudLoadBalancer, ForwarderWriter, NewForwarder } from "../../ports/load-balancer.ts";
import { isOwn, leastComplete, requireCapability, requireNoProblems, seenOf } from "../cloud/seen-marker.ts";
import { balancerProblems } from "./fits.ts";
import {
  type AddressItem,
  desiredForwarder,
  type ForwarderItem,
  inspectForwarder,
  isAddress,
  isForwarder,
  observeForwarder,
  readForwarder,
  regionOf,
  rulesOf,
  sameForwarder,
} from "./forwarder.ts";
import { measureTargets } from "./forwarder-targets.ts";
import {
  type BalancerItem,
  type NamesAround,
  sameBalancer,
  seenBalancer,
  servicesOf,
  targetsOf,
  wantedBalancer,
} from "./item.ts";
import type { LoadBalancerSpec } from "./schema.ts";

const key = "load-balancer";

type Item = BalancerItem | ForwarderItem | AddressItem;

export const loadBalancerLoop = defineLoop<LoadBalancerSpec, Item, ComputeReader, ComputeWriter>({
  kind: "LoadBalancer",
  everySeconds: 60,
  // A host that is being drained says so.
  listedAfterEvents: true,
  marks: true,
  listedIn: "load-balancers",
  site: ({ spec }) => spec.location,
  // Its addresses are in people's DNS: that it goes, or is replaced, is a person's word each time.
  limits: { deletesPerCycle: { count: 0, percent: 0, atLeast: 0 } },
  measure: measureTargets,
  desired: (ctx, subject) =>
    desiredForwarder(ctx, subject) ?? { known: true, items: [{ key, item: wantedBalancer(subject) }] },
  observe: async (ctx, subject) => {
    requireAble(ctx, subject);
    if (ctx.reader.capabilities.balancerRules) return await observeForwarder(ctx, subject);
    const inventory = await ctx.inventory<CloudLoadBalancer>("load-balancers");
    const own = inventory.entries.filter((balancer) => isOwn(ctx, balancer, subject));
    const around = await listAround(ctx, own);
    const items = own.map((balancer) => seenOf(key, balancer, seenBalancer(balancer, namesFrom(around))));
    return { ...ctx.from(inventory, items), ...leastComplete([inventory, ...around]) };
  },
  read: (ctx, subject, named) =>
    ctx.reader.capabilities.balancerRules
      ? readForwarder(ctx, subject, named)
      : readBalancer(ctx, subject, named.externalId),
  same: (wanted, seen) => {
    if (isBalancer(wanted) && isBalancer(seen)) return sameBalancer(wanted, seen);
    if (isForwarder(wanted) && isForwarder(seen)) return sameForwarder(wanted, seen);
    return compare(wanted, seen).differences;
  },
  replaces: (differences) => differences.some(({ field }) => field === "/location"),
  create: createItem,
  update: async (ctx, subject, wanted, seen) => {
    const { item } = wanted;
    if (isBalancer(item) && isBalancer(seen.item)) await updateBalancer(ctx, item, { ...seen, item: seen.item });
    else if (isForwarder(item))
      await forwarding(ctx).setForwarder(seen.externalId, newForwarder(ctx, item), ctx.signal);
    else await forwarding(ctx).describeAddress(seen.externalId, { name: subject.name, mark: ctx.marker }, ctx.signal);
  },
  remove: async (ctx, _subject, { externalId: id, item }) => {
    if (isBalancer(item)) await ctx.writer.deleteLoadBalancer(id, ctx.signal);
    else if (isForwarder(item)) await forwarding(ctx).deleteForwarder(id, ctx.signal);
    else await forwarding(ctx).releaseAddress({ id, mark: ctx.marker }, ctx.signal);
  },
  inspect: async ({ reader }, subject, seen) =>
    reader.capabilities.balancerRules ? inspectForwarder(subject, seen) : undefined,
});

function isBalancer(item: Item): item is BalancerItem {
  return "services" in item;
}

async function createItem(
  ctx: WriteContext<ComputeWriter>,
  { name: subjectName }: Subject<LoadBalancerSpec>,
  { key: named, item }: Wanted<Item>,
): Promise<{ readonly externalId: string }> {
  const { writer, marker: mark, signal } = ctx;
  if (isForwarder(item)) return made(await forwarding(ctx).createForwarder(newForwarder(ctx, item), signal));
  if (isAddress(item))
    return made(await forwarding(ctx).reserveAddress({ name: subjectName, mark, region: regionOf(named) }, signal));
  const { name, labels, type, location, algorithm } = item;
  const [network] = Object.entries(item.networks);
  const wanted = { name, labels, mark, type, location, algorithm, public: item.public, network: network?.[0] };
  return made(
    await writer.createLoadBalancer({ ...wanted, services: servicesOf(item), targets: targetsOf(item) }, signal),
  );
}

function made({ id }: { readonly id: string }): { readonly externalId: string } {
  return { externalId: id };
}

function newForwarder({ marker: mark }: WriteContext<ComputeWriter>, item: ForwarderItem): NewForwarder {
  const { name, location, network } = item;
  return { name, mark, location, network, rules: rulesOf(item) };
}

/** Whoever says that load balancers are rules that forward can write them. */
function forwarding({ writer }: WriteContext<ComputeWriter>): ForwarderWriter {
  const { createForwarder, setForwarder, deleteForwarder, reserveAddress, describeAddress, releaseAddress } = writer;
  if (
    createForwarder === undefined ||
    setForwarder === undefined ||
    deleteForwarder === undefined ||
    reserveAddress === undefined ||
    describeAddress === undefined ||
    releaseAddress === undefined
  )
    throw new TerminalError("PROVIDER_REFUSED", "The provider of this account has no load balancers that are rules");
  return { createForwarder, setForwarder, deleteForwarder, reserveAddress, describeAddress, releaseAddress };
}

async function readBalancer(
  ctx: LookContext<ComputeReader>,
  subject: Subject<LoadBalancerSpec>,
  externalId: string | undefined,
): Promise<Seen<BalancerItem> | "absent"> {
  const found =
    externalId === undefined
      ? await ctx.reader.loadBalancerByName(subject.name, ctx.signal)
      : await ctx.reader.loadBalancer(externalId, ctx.signal);
  if (found === "absent") return "absent";
  return seenOf(key, found, seenBalancer(found, namesFrom(await listAround(ctx, [found]))));
}

/** What cannot be kept is refused before anything is made that looks as if it were. */
function requireAble({ reader: { capabilities } }: LookContext<ComputeReader>, { spec }: Subject<LoadBalancerSpec>) {
  requireCapability(capabilities, "loadBalancers", "load balancers");
  requireNoProblems(balancerProblems(spec, capabilities));
}

type Around = readonly Inventory<CloudThing>[];

/** Only the lists that have a word to say about these load balancers: networks, servers, certificates. */
async function listAround(ctx: LookContext<ComputeReader>, own: readonly CloudLoadBalancer[]): Promise<Around> {
  const asked = {
    networks: own.some(({ network }) => network !== undefined),
    servers: own.some(({ targets }) => targets.some(({ type }) => type === "server")),
    certificates: own.some(({ services }) => services.some(({ certificates }) => certificates.length > 0)),
  };
  const empty = {
    completeness: "complete",
    proof: "not asked for",
    startedAtMonotonicMs: Infinity,
    entries: [],
  } as const;
  const lists: Inventory<CloudThing>[] = [];
  for (const [name, needed] of Object.entries(asked))
    lists.push(needed ? await ctx.inventory<CloudThing>(name) : empty);
  return lists;
}

function namesFrom([networks, servers, certificates]: Around): NamesAround {
  const byId = (things: readonly CloudThing[] = []) => new Map(things.map(({ id, name }) => [id, name]));
  const ours = (things: readonly CloudThing[] = []) =>
    things.filter(({ mark }) => typeof mark === "object" && "installationId" in mark);
  return {
    networks: byId(ours(networks?.entries)),
    servers: byId(ours(servers?.entries)),
    certificates: byId(certificates?.entries),
  };
}

/** Who it is comes first: what is ours must be seen to be ours whatever fails after it. */
async function updateBalancer(
  ctx: WriteContext<ComputeWriter>,
  item: BalancerItem,
  seen: Seen<BalancerItem>,
): Promise<void> {
  const { writer, marker: mark, signal } = ctx;
  const { externalId: id, item: before } = seen;
  const fields = new Set(sameBalancer(item, before).map(({ field }) => field.split("/")[1]));
  if (fields.has("name") || fields.has("labels") || seen.marker === "none")
    await writer.describeLoadBalancer(id, { name: item.name, labels: item.labels, mark }, signal);
  if (fields.has("type")) await writer.setBalancerType(id, item.type, signal);
  const left = fields.has("networks") ? await healNetworks(ctx, id, item, before) : before;
  // Targets that need the public side can only be added once it is there, and must be gone before it goes.
  if (fields.has("public") && item.public) await writer.setBalancerPublic(id, true, signal);
  if (fields.has("services")) await healServices(ctx, id, item, before);
  if (fields.has("targets") || left !== before) await healTargets(ctx, id, item, left);
  if (fields.has("public") && !item.public) await writer.setBalancerPublic(id, false, signal);
  if (fields.has("algorithm")) await writer.setBalancerAlgorithm(id, item.algorithm, signal);
  if (fields.has("protect")) await writer.setBalancerProtection(id, item.protect, signal);
}

type Heal<Result = void> = (
  ctx: WriteContext<ComputeWriter>,
  id: string,
  item: BalancerItem,
  before: BalancerItem,
) => Promise<Result>;

/** What is reached through a network that it leaves is taken off first. Gives what is left of what was there. */
const healNetworks: Heal<BalancerItem> = async ({ writer, signal }, id, item, before) => {
  let left = before;
  for (const [name, ip] of Object.entries(before.networks)) {
    const wanted = item.networks[name];
    if (wanted === "" || wanted === ip) continue;
    for (const target of targetsOf(before).filter(({ private: via }) => via))
      await writer.removeTarget(id, target, signal);
    await writer.detachBalancer(id, name, signal);
    const open = Object.entries(before.targets).filter(([, via]) => via === "public");
    left = { ...before, targets: Object.fromEntries(open), networks: {} };
  }
  for (const [name, ip] of Object.entries(item.networks))
    if (left.networks[name] === undefined)
      await writer.attachBalancer(id, { name, ip: ip === "" ? undefined : ip }, signal);
  return left;
};

const healServices: Heal = async ({ writer, signal }, id, item, before) => {
  // A port that is no longer wanted may be in the way of one that redirects to another.
  for (const { listenPort } of servicesOf(before))
    if (item.services[listenPort] === undefined) await writer.removeService(id, listenPort, signal);
  for (const service of servicesOf(item)) {
    const there = before.services[service.listenPort];
    if (there === undefined) await writer.addService(id, service, signal);
    else if (canonical(there) !== canonical(item.services[service.listenPort]))
      await writer.updateService(id, service, signal);
  }
};

/**
 * New targets come first, so that there is somebody to answer; one that is only reached otherwise is put there anew. A host without
 * a server is told about when everything else is done.
 */
const healTargets: Heal = async ({ writer, signal }, id, item, before) => {
  const there = new Map(targetsOf(before).map((target) => [`${target.type} ${target.value}`, target]));
  let notReady: EngineError | undefined;
  for (const target of targetsOf(item)) {
    const seen = there.get(`${target.type} ${target.value}`);
    if (seen?.private === target.private) continue;
    if (seen !== undefined) await writer.removeTarget(id, seen, signal);
    try {
      await writer.addTarget(id, target, signal);
    } catch (thrown) {
      if (!(thrown instanceof EngineError) || thrown.code !== "DEPENDENCY_NOT_READY") throw thrown;
      notReady ??= thrown;
    }
  }
  for (const [name, target] of there)
    if (item.targets[name] === undefined) await writer.removeTarget(id, target, signal);
  if (notReady !== undefined) throw notReady;
};
