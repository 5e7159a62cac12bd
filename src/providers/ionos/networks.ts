import { z } from "zod";
import { RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { CloudNetwork, ComputeWriter, OwnMark } from "../../ports/compute.ts";
import type { Lister } from "../../ports/provider.ts";
import type { IonosClient } from "./client.ts";
import { type Datacenter, type InsideFamily, insideLister, listDatacenters, requireDatacenter } from "./datacenters.ts";
import { isSameMark, markTextOf, nameAndMark, nameFor, partsOf } from "./names.ts";
import { everyEntry } from "./pages.ts";
import { awaitRequest, beginLook, change, orderedWith } from "./requests.ts";

const lanShape = z.object({
  id: z.string(),
  metadata: z.object({ createdDate: z.string() }),
  properties: z.object({ name: z.string().nullish(), public: z.boolean().nullish() }),
  entities: z.object({ nics: z.object({ items: z.array(z.object({ href: z.string() })) }) }),
});
type RawLan = z.output<typeof lanShape>;
/** Deep enough for who is in it; a list is one deeper. */
const lanDepth = 1;

/** LANs are numbered in their data center, and a number is given again: with when it was made, it is one of a kind. */
export function networkId(datacenter: string, lan: { readonly id: string; readonly createdDate: string }): string {
  return `${datacenter}:${lan.id}.${lan.createdDate.replaceAll(/\D/g, "")}`;
}

/** The data center and the number of a network. */
export function lanOf(id: string): readonly [string, string] {
  const [datacenter, own] = partsOf(id);
  return [datacenter, own.split(".")[0] ?? ""];
}

const networks: InsideFamily<RawLan, CloudNetwork> = {
  segment: "lans",
  depth: lanDepth + 1,
  pageSize: 1_000,
  shape: lanShape,
  labelled: false,
  entry: entryOf,
};

/** It has no range and no labels: addresses in it are given by the provider, and its name says whose it is. */
function entryOf({ id, metadata, properties, entities }: RawLan, datacenter: Datacenter): CloudNetwork {
  const servers = entities.nics.items.flatMap(({ href }) => /\/servers\/([^/]+)\/nics\//.exec(href)?.[1] ?? []);
  return {
    id: networkId(datacenter.id, { id, createdDate: metadata.createdDate }),
    ...nameAndMark(properties.name ?? `LAN ${id}`),
    labels: {},
    location: datacenter.name,
    locationId: datacenter.id,
    public: properties.public === true,
    range: "",
    subnets: [],
    routes: [],
    servers: [...new Set(servers)].map((server) => `${datacenter.id}:${server}`),
    protected: false,
  };
}

/** All of them: one of ours that somebody renamed and opened to the internet is still ours, by its id. */
export function networkLister(client: IonosClient): Lister<CloudNetwork> {
  return insideLister(client, networks);
}

/** By its id, which is not that of one that was made later with the same number. */
export async function findNetwork(
  client: IonosClient,
  id: string,
  signal: AbortSignal,
): Promise<CloudNetwork | "absent"> {
  const [datacenterId, lan] = lanOf(id);
  const path = ["datacenters", datacenterId, "lans", lan];
  const call = { path, query: { depth: String(lanDepth) }, what: `the read of LAN ${id}` };
  const raw = await client.find(lanShape, call, signal);
  if (raw === "absent") return "absent";
  const known = (await listDatacenters(client, signal)).find((each) => each.id === datacenterId);
  const found = entryOf(raw, known ?? { id: datacenterId, name: datacenterId, region: "" });
  return found.id === id ? found : "absent";
}

/** Names are not unique: one of Setpoint's is meant before anybody else's. */
export async function networkByName(
  client: IonosClient,
  name: string,
  signal: AbortSignal,
): Promise<CloudNetwork | "absent"> {
  const all = await everyEntry(client, { lister: networkLister(client), what: "the list of networks" }, signal);
  // A LAN that leads to the internet is nobody's private network.
  const named = all.filter((one) => one.name === name && (one.public !== true || one.mark !== "none"));
  const ours = named.find(({ mark }) => typeof mark === "object" && "installationId" in mark);
  return ours ?? named[0] ?? "absent";
}

/** The number of Setpoint's network of that name in a data center. */
export async function requireLan(
  client: IonosClient,
  name: string,
  datacenter: string,
  signal: AbortSignal,
): Promise<number> {
  const found = await networkByName(client, name, signal);
  if (found === "absent")
    throw new RetryableError("DEPENDENCY_NOT_READY", `There is no network ${name} in the contract (yet)`, {
      ambiguous: false,
      afterMs: 15_000,
    });
  if (typeof found.mark !== "object" || !("installationId" in found.mark))
    throw new TerminalError(
      "PRECONDITION_FAILED",
      `Network ${name} (${found.id}) is not Setpoint's: nothing is put into it`,
    );
  const [own, lan] = lanOf(found.id);
  if (own === datacenter) return Number(lan);
  throw new TerminalError(
    "PROVIDER_REFUSED",
    `Network ${name} is in data center ${found.location ?? own}, and IONOS cannot put a server or load balancer of another one into it`,
  );
}

const madeShape = z.object({ id: z.string(), metadata: z.object({ createdDate: z.string() }) });

/** One that was ordered a moment ago may not be listed yet, and names are not unique. */
async function ordered(client: IonosClient, mark: OwnMark, signal: AbortSignal): Promise<string | undefined> {
  for (const { targets } of await orderedWith(client, markTextOf(mark), signal))
    for (const { href } of targets) {
      const match = /\/datacenters\/([^/]+)\/lans\/([^/]+)$/.exec(href);
      if (match === null) continue;
      const path = ["datacenters", match[1] ?? "", "lans", match[2] ?? ""];
      const query = { depth: String(lanDepth) };
      const raw = await client.find(lanShape, { path, query, what: `the read of LAN ${match[2]}` }, signal);
      if (raw !== "absent" && isSameMark(nameAndMark(raw.properties.name ?? "").mark, mark))
        return networkId(match[1] ?? "", { id: raw.id, createdDate: raw.metadata.createdDate });
    }
  return undefined;
}

type NetworkWriter = Pick<ComputeWriter, "createNetwork" | "describeNetwork" | "deleteNetwork">;

export function networkWriter(client: IonosClient): NetworkWriter {
  const path = (id: string) => {
    const [datacenter, lan] = lanOf(id);
    return ["datacenters", datacenter, "lans", lan];
  };
  return {
    createNetwork: async ({ name, mark, location }, signal) => {
      if (location === undefined)
        throw new TerminalError("PROVIDER_REFUSED", `IONOS cannot make network ${name} without spec.location`);
      const requireFresh = beginLook(client, signal);
      const there = await ordered(client, mark, signal);
      if (there !== undefined) return { id: there };
      const datacenter = await requireDatacenter(client, location, signal);
      const what = `the creation of network ${name}`;
      const body = { properties: { name: nameFor(name, mark), public: false } };
      const call = { method: "POST" as const, path: ["datacenters", datacenter.id, "lans"], body, what };
      requireFresh(what);
      const answer = await client.succeed(call, signal);
      const { id, metadata } = client.parse(madeShape, what, answer);
      await awaitRequest(client, what, answer, signal);
      return { id: networkId(datacenter.id, { id, createdDate: metadata.createdDate }) };
    },
    describeNetwork: (id, { name, mark }, signal) => {
      const body = { name: nameFor(name, mark), public: false };
      return change(client, { method: "PATCH", path: path(id), body, what: `the change of network ${id}` }, signal);
    },
    deleteNetwork: async (id, signal) => {
      if ((await findNetwork(client, id, signal)) === "absent") return;
      await change(client, { method: "DELETE", path: path(id), what: `the deletion of network ${id}` }, signal, [
        "309",
      ]);
    },
  };
}
