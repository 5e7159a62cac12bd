import type { Inventory, MeasureContext, Subject } from "../../kernel/loop.ts";
import type { CloudNetwork, CloudServer, CloudThing, ComputeReader } from "../../ports/compute.ts";
import type { Json } from "../../ports/json.ts";
import type { CloudForwarder } from "../../ports/load-balancer.ts";
import { drainedLabel, isInScope } from "../cloud/layers.ts";
import { isMarkedFor } from "../cloud/seen-marker.ts";
import { forwarderKey, isForwarder } from "./forwarder.ts";
import type { LoadBalancerSpec } from "./schema.ts";

type Target = LoadBalancerSpec["targets"][number];

/**
 * Rules forward to addresses, and no provider follows labels there: which hosts are meant, and where they are in the network, is
 * measured from our own servers. Nothing where load balancers are of another sort.
 */
export async function measureTargets(
  ctx: MeasureContext<ComputeReader>,
  subject: Subject<LoadBalancerSpec>,
): Promise<Json> {
  if (!ctx.reader.capabilities.balancerRules) return {};
  const locations = await ctx.inventory<CloudThing & { readonly region: string }>("locations");
  const networks = await ctx.inventory<CloudNetwork>("networks");
  const servers = await ctx.inventory<CloudServer>("servers");
  const lists = { locations, networks, servers };
  for (const [name, { completeness, proof }] of Object.entries(lists))
    if (completeness !== "complete") return { unknown: `the list of ${name} is ${completeness}: ${proof}` };
  const { spec } = subject;
  const place = locations.entries.find(({ id, name }) => name === spec.location || id === spec.location);
  if (place === undefined) {
    const there = locations.entries.map(({ name }) => name).join(", ") || "none";
    return { unknown: `there is no location ${spec.location}. There is: ${there}. Correct spec.location` };
  }
  const isOurs = ({ mark }: CloudThing) =>
    typeof mark === "object" && "installationId" in mark && mark.installationId === ctx.marker.installationId;
  const network = networks.entries.find((one) => isOurs(one) && one.name === spec.network?.name);
  if (network === undefined) return { unknown: `there is no network ${spec.network?.name ?? ""} of Setpoint's (yet)` };
  const hidden = hiddenIn(network, servers);
  if (hidden !== undefined) return notShown(hidden, network);
  const chosen = await chosenAmong(ctx, subject, { network, servers: servers.entries.filter(isOurs) });
  const addresses = spec.targets.flatMap((target) => ("ip" in target ? [[target.ip, target.ip] as const] : []));
  const at = chosen.flatMap((server) => entriesOf(server, network));
  const hosts = Object.fromEntries([...addresses, ...at]);
  const leaving = wantedLast(ctx).filter((ip) => hosts[ip] === undefined);
  return (leaving.length > 0 ? await oldList(ctx, network, servers) : undefined) ?? { region: place.region, hosts };
}

/** The addresses that were forwarded to last. */
function wantedLast(ctx: MeasureContext<ComputeReader>): readonly string[] {
  const last = ctx.lastGood(forwarderKey);
  return isForwarder(last) ? Object.keys(last.hosts ?? {}) : [];
}

/**
 * Lists that are old agree with each other: nobody loses its visitors before the network itself, read by its id, has it no more
 * or the list of servers shows it there.
 */
async function oldList(
  ctx: MeasureContext<ComputeReader>,
  { id, name }: CloudNetwork,
  servers: Inventory<CloudServer>,
): Promise<Json | undefined> {
  const now = await ctx.read(`network ${name}`, (signal) => ctx.reader.network(id, signal));
  if (now === "absent") return { unknown: `network ${name} is listed, and not there when it is read by its id` };
  const hidden = hiddenIn(now, servers);
  return hidden === undefined ? undefined : notShown(hidden, now);
}

function notShown(id: string, { name }: CloudNetwork): Json {
  return { unknown: `the list of servers does not show ${id}, which is in network ${name}` };
}

/**
 * Labels that are missing let nobody go: somebody took them away, or the list of them ended early. Whoever is a target and does
 * not seem to be meant any more is read by its id, and stays while it says nothing of where it was declared.
 */
async function chosenAmong(
  ctx: MeasureContext<ComputeReader>,
  subject: Subject<LoadBalancerSpec>,
  { network, servers }: { readonly network: CloudNetwork; readonly servers: readonly CloudServer[] },
): Promise<readonly CloudServer[]> {
  const forwarders = await ctx.inventory<CloudForwarder>("load-balancers");
  const own = forwarders.entries.filter((forwarder) => isMarkedFor(forwarder, subject));
  const served = new Set([
    ...own.flatMap(({ rules }) => rules.flatMap(({ targets }) => Object.keys(targets))),
    ...wantedLast(ctx),
  ]);
  const isMeantBySome = (server: CloudServer) =>
    subject.spec.targets.some((target) => isMeant(server, target, subject));
  const chosen: CloudServer[] = [];
  for (const server of servers) {
    if (isMeantBySome(server)) chosen.push(server);
    else if (entriesOf(server, network).some(([ip]) => served.has(ip))) {
      const now = await ctx.read(`server ${server.name}`, (signal) => ctx.reader.server(server.id, signal));
      if (now !== "absent" && (isMeantBySome(now) || isSilent(now, subject))) chosen.push(now);
    }
  }
  return chosen;
}

/** Every host says which organization it was declared in, unless its labels were taken away. */
function isSilent({ labels }: CloudServer, { organizationId }: Subject<unknown>): boolean {
  return !isInScope(labels, `organization/${organizationId}`);
}

/** Who is in the network says so itself: a list that leaves one of them out, or shows it elsewhere, is not whole. */
function hiddenIn(network: CloudNetwork, { entries }: Inventory<CloudServer>): string | undefined {
  const isInside = ({ networks }: CloudServer) => networks.some((card) => card.network === network.id);
  const listed = new Set(entries.filter(isInside).map(({ id }) => id));
  return network.servers.find((id) => !listed.has(id));
}

function entriesOf({ name, networks }: CloudServer, { id }: CloudNetwork): readonly (readonly [string, string])[] {
  return networks.filter(({ network, ip }) => network === id && ip !== "").map(({ ip }) => [ip, name] as const);
}

function isMeant(server: CloudServer, target: Target, { scope, organizationId }: Subject<unknown>): boolean {
  if ("ip" in target) return false;
  if ("host" in target) {
    const around = target.scope === "organization" ? `organization/${organizationId}` : scope;
    return server.name === target.host && isInScope(server.labels, around);
  }
  // Whoever is being taken away is out of it first, whatever else it is labelled with.
  if (server.labels[drainedLabel] !== undefined || !isInScope(server.labels, scope)) return false;
  return Object.entries(target.labels).every(([label, value]) => server.labels[label] === value);
}
