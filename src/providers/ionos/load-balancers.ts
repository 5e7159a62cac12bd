import { z } from "zod";
import { EngineError, RetryableError } from "../../kernel/errors.ts";
import type { OwnMark } from "../../ports/compute.ts";
import type {
  CloudForwarder,
  ForwarderReader,
  ForwarderWriter,
  ForwardingRule,
  NewForwarder,
} from "../../ports/load-balancer.ts";
import { isSameRule, rawRule, ruleOf, ruleShape } from "./balancer-rules.ts";
import type { IonosClient } from "./client.ts";
import { type Datacenter, type InsideFamily, insideLister, listDatacenters, requireDatacenter } from "./datacenters.ts";
import { markedBlock } from "./ip-blocks.ts";
import { idOf, isSameMark, markTextOf, nameAndMark, nameFor, partsOf } from "./names.ts";
import { requireLan } from "./networks.ts";
import { everyEntry } from "./pages.ts";
import { publicLan } from "./public-lan.ts";
import { awaitRequest, beginLook, change, orderedWith } from "./requests.ts";
import { withNetworks } from "./servers.ts";

/** Rules that are not shown are not rules that are not there. */
const balancerShape = z.object({
  id: z.string(),
  metadata: z.object({ state: z.string().nullish() }),
  properties: z.object({
    name: z.string(),
    listenerLan: z.int(),
    targetLan: z.int(),
    ips: z.array(z.string()).nullish(),
  }),
  entities: z.object({ forwardingrules: z.object({ items: z.array(ruleShape) }) }),
});
type RawBalancer = z.output<typeof balancerShape>;
/** Deep enough for its rules; a list is one deeper. */
const balancerDepth = 2;
const busyForMs = 15_000;

export const balancers: InsideFamily<RawBalancer, CloudForwarder> = {
  segment: "networkloadbalancers",
  depth: balancerDepth + 1,
  pageSize: 200,
  shape: balancerShape,
  labelled: false,
  around: withNetworks,
  entry: (raw, datacenter) => {
    const { name, ips, listenerLan, targetLan } = raw.properties;
    const networkOf = (lan: number) => datacenter.networks?.get(lan) ?? `${datacenter.id}:${lan}`;
    return {
      id: idOf(datacenter.id, raw.id),
      ...nameAndMark(name),
      labels: {},
      ...(raw.metadata.state === "BUSY" ? { lockedBy: "IONOS is working on it" } : {}),
      location: datacenter.name,
      locationId: datacenter.id,
      listensIn: networkOf(listenerLan),
      forwardsIn: networkOf(targetLan),
      addresses: ips ?? [],
      rules: raw.entities.forwardingrules.items.map((rule) => ruleOf(rule, ips ?? [])),
    };
  },
};

function pathOf(id: string): readonly string[] {
  const [datacenter, own] = partsOf(id);
  return ["datacenters", datacenter, "networkloadbalancers", own];
}

function findRaw(client: IonosClient, id: string, signal: AbortSignal): Promise<RawBalancer | "absent"> {
  const query = { depth: String(balancerDepth) };
  return client.find(balancerShape, { path: pathOf(id), query, what: `the read of load balancer ${id}` }, signal);
}

async function findBalancer(client: IonosClient, id: string, signal: AbortSignal): Promise<CloudForwarder | "absent"> {
  const raw = await findRaw(client, id, signal);
  if (raw === "absent") return "absent";
  const [datacenterId] = partsOf(id);
  const known = (await listDatacenters(client, signal)).find((each) => each.id === datacenterId);
  const bare: Datacenter = known ?? { id: datacenterId, name: datacenterId, region: "" };
  return balancers.entry(raw, await withNetworks(client, bare, signal), new Map());
}

/** Names are not unique: one of Setpoint's is meant before anybody else's. */
async function balancerByName(
  client: IonosClient,
  name: string,
  signal: AbortSignal,
): Promise<CloudForwarder | "absent"> {
  const list = { lister: insideLister(client, balancers), what: "the list of load balancers" };
  const named = (await everyEntry(client, list, signal)).filter((balancer) => balancer.name === name);
  return named.find(({ mark }) => mark !== "none") ?? named[0] ?? "absent";
}

export function balancerReader(client: IonosClient): Pick<ForwarderReader, "forwarder" | "forwarderByName"> {
  return {
    forwarder: (id, signal) => findBalancer(client, id, signal),
    forwarderByName: (name, signal) => balancerByName(client, name, signal),
  };
}

/** One that was ordered a moment ago may not be listed yet. */
async function ordered(client: IonosClient, mark: OwnMark, signal: AbortSignal): Promise<string | undefined> {
  for (const { targets } of await orderedWith(client, markTextOf(mark), signal))
    for (const { href } of targets) {
      const match = /\/datacenters\/([^/]+)\/networkloadbalancers\/([^/]+)$/.exec(href);
      if (match === null) continue;
      const id = idOf(match[1] ?? "", match[2] ?? "");
      const raw = await findRaw(client, id, signal);
      if (raw !== "absent" && isSameMark(nameAndMark(raw.properties.name).mark, mark)) return id;
    }
  return undefined;
}

/** What it stands on: where visitors come in, where its targets are, and the address that was reserved for it. */
async function groundOf(client: IonosClient, wanted: NewForwarder, datacenter: Datacenter, signal: AbortSignal) {
  const targetLan = await requireLan(client, wanted.network, datacenter.id, signal);
  const block = await markedBlock(client, wanted.mark, datacenter.region, signal);
  const ip = block === "absent" ? undefined : block.addresses[0];
  if (ip === undefined)
    throw new RetryableError("DEPENDENCY_NOT_READY", `No address is reserved for ${wanted.name} (yet)`, {
      afterMs: busyForMs,
      ambiguous: false,
    });
  const listenerLan = await publicLan(client, datacenter, signal);
  return { ip, properties: { name: nameFor(wanted.name, wanted.mark), listenerLan, targetLan } };
}

const madeShape = z.object({ id: z.string() });

async function create(
  client: IonosClient,
  wanted: NewForwarder,
  signal: AbortSignal,
): Promise<{ readonly id: string }> {
  const datacenter = await requireDatacenter(client, wanted.location, signal);
  const { ip, properties } = await groundOf(client, wanted, datacenter, signal);
  const requireFresh = beginLook(client, signal);
  const there = await ordered(client, wanted.mark, signal);
  if (there !== undefined) return { id: there };
  const items = wanted.rules.map((rule) => ({ properties: rawRule(rule, ip) }));
  const body = {
    properties: { ...properties, ips: [ip] },
    ...(items.length === 0 ? {} : { entities: { forwardingrules: { items } } }),
  };
  const what = `the creation of load balancer ${wanted.name}`;
  const path = ["datacenters", datacenter.id, "networkloadbalancers"];
  requireFresh(what);
  try {
    const answer = await client.succeed({ method: "POST", path, body, what }, signal);
    const { id } = client.parse(madeShape, what, answer);
    // It may take minutes: who comes back meanwhile finds it by its mark. One that did not come to be is an error, and no fight.
    await awaitRequest(client, what, answer, signal);
    return { id: idOf(datacenter.id, id) };
  } catch (thrown) {
    // An order that was delivered twice is refused the second time, because the address is in use: by ours.
    const ours = isRefusal(thrown) ? await ordered(client, wanted.mark, signal) : undefined;
    if (ours !== undefined) return { id: ours };
    throw thrown;
  }
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof EngineError && thrown.code === "PROVIDER_REFUSED";
}

/**
 * New rules come before others go. Each change is waited for, because what is being worked on is locked: what does not fit into one
 * call is for the next one.
 */
async function set(client: IonosClient, id: string, wanted: NewForwarder, signal: AbortSignal): Promise<void> {
  const raw = await findRaw(client, id, signal);
  if (raw === "absent") throw notReady(`Load balancer ${id} is not there (any more)`);
  requireIdle(raw, id);
  const [datacenterId] = partsOf(id);
  const datacenter = await requireDatacenter(client, datacenterId, signal);
  const { ip, properties } = await groundOf(client, wanted, datacenter, signal);
  const before = { ...raw.properties, ips: raw.properties.ips ?? [] };
  // It may stay in the public LAN that it is in; addresses that its rules still listen on go after those.
  const listenerLan = (await isPublic(client, datacenterId, before.listenerLan, signal))
    ? before.listenerLan
    : properties.listenerLan;
  const listened = raw.entities.forwardingrules.items.map((rule) => rule.properties.listenerIp);
  const others = before.ips.filter((each) => each !== ip && listened.includes(each));
  const describe = async (ips: readonly string[]) => {
    const body = { ...properties, listenerLan, ips };
    const what = `the change of load balancer ${id}`;
    await change(client, { method: "PATCH", path: pathOf(id), body, what }, signal);
  };
  const first = [ip, ...others];
  const differs =
    before.name !== properties.name ||
    before.listenerLan !== listenerLan ||
    before.targetLan !== properties.targetLan ||
    [...before.ips].sort().join() !== [...first].sort().join();
  if (differs) await describe(first);
  await setRules(client, { id, raw, ip }, wanted.rules, signal);
  if (others.length > 0) await describe([ip]);
}

async function setRules(
  client: IonosClient,
  { id, raw, ip }: { readonly id: string; readonly raw: RawBalancer; readonly ip: string },
  wanted: readonly ForwardingRule[],
  signal: AbortSignal,
): Promise<void> {
  const path = [...pathOf(id), "forwardingrules"];
  const left = [...raw.entities.forwardingrules.items];
  const changed: { readonly rule: ForwardingRule; readonly own: string }[] = [];
  for (const rule of wanted) {
    const at = left.findIndex(({ properties }) => properties.listenerPort === rule.listenPort);
    const [there] = at < 0 ? [] : left.splice(at, 1);
    const what = `the rule for port ${rule.listenPort} of load balancer ${id}`;
    const body = { properties: rawRule(rule, ip) };
    if (there === undefined) await change(client, { method: "POST", path, body, what }, signal);
    else if (!isSameRule(there, rule, ip)) changed.push({ rule, own: there.id });
  }
  for (const { rule, own } of changed) {
    const what = `the change of the rule for port ${rule.listenPort} of load balancer ${id}`;
    const body = { properties: rawRule(rule, ip) };
    await change(client, { method: "PUT", path: [...path, own], body, what }, signal);
  }
  for (const { id: own, properties } of left) {
    const what = `the removal of the rule for port ${properties.listenerPort} of load balancer ${id}`;
    await change(client, { method: "DELETE", path: [...path, own], what }, signal, ["309"]);
  }
}

const lanShape = z.object({ properties: z.object({ public: z.boolean().nullish() }) });

async function isPublic(client: IonosClient, datacenter: string, lan: number, signal: AbortSignal): Promise<boolean> {
  const path = ["datacenters", datacenter, "lans", String(lan)];
  const found = await client.find(lanShape, { path, what: `the read of LAN ${lan}` }, signal);
  return found !== "absent" && found.properties.public === true;
}

function requireIdle({ metadata }: RawBalancer, id: string): void {
  if (metadata.state === "BUSY") throw notReady(`IONOS still works on load balancer ${id}`);
}

function notReady(message: string): RetryableError {
  return new RetryableError("DEPENDENCY_NOT_READY", message, { afterMs: busyForMs, ambiguous: false });
}

export function balancerWriter(
  client: IonosClient,
): Pick<ForwarderWriter, "createForwarder" | "setForwarder" | "deleteForwarder"> {
  return {
    createForwarder: (wanted, signal) => create(client, wanted, signal),
    setForwarder: (id, wanted, signal) => set(client, id, wanted, signal),
    deleteForwarder: async (id, signal) => {
      const raw = await findRaw(client, id, signal);
      if (raw === "absent") return;
      requireIdle(raw, id);
      const what = `the deletion of load balancer ${id}`;
      await change(client, { method: "DELETE", path: pathOf(id), what }, signal, ["309"]);
    },
  };
}
