import { z } from "zod";
import type { CloudAddress, CloudServer, ComputeEngine, OwnMark, PowerState } from "../../ports/compute.ts";
import { cardOf, cardShape, isPublicAddress } from "./cards.ts";
import type { IonosClient } from "./client.ts";
import { type Datacenter, type InsideFamily, insideList, type Labels, listDatacenters } from "./datacenters.ts";
import { labelsAndFirewalls, namingFirewalls, namingNoMore } from "./firewall-labels.ts";
import { idOf, isSameMark, nameAndMark, nameFor, partsOf } from "./names.ts";
import { networkId, requireLan } from "./networks.ts";
import { everyOf } from "./pages.ts";
import { change } from "./requests.ts";
import { typeNameOf } from "./types.ts";

const volumeShape = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    size: z.number(),
    type: z.string().nullish(),
    image: z.string().nullish(),
  }),
});
const serverShape = z.object({
  id: z.string(),
  metadata: z.object({ state: z.string().nullish(), createdDate: z.string().nullish() }),
  properties: z.object({
    name: z.string().nullish(),
    cores: z.int(),
    ram: z.int(),
    vmState: z.string().nullish(),
    bootVolume: z.object({ id: z.string() }).nullish(),
  }),
  entities: z.object({
    volumes: z.object({ items: z.array(volumeShape).nullish() }).nullish(),
    nics: z.object({ items: z.array(cardShape).nullish() }).nullish(),
  }),
});
export type RawServer = z.output<typeof serverShape>;

/** What a state means for who wants it on or off; the rest is on its way to one of the two. */
const powerOf: Readonly<Record<string, PowerState>> = { RUNNING: "on", SHUTOFF: "off", SHUTDOWN: "off" };
/** Deep enough for the rules on the cards of a server; a list is one deeper than what is in it. */
const serverDepth = 4;

export const servers: InsideFamily<RawServer, CloudServer> = {
  segment: "servers",
  depth: serverDepth + 1,
  pageSize: 200,
  shape: serverShape,
  labelled: true,
  around: withNetworks,
  entry: (raw, datacenter, labels) => {
    const { name, mark } = nameAndMark(raw.properties.name ?? "");
    const id = idOf(datacenter.id, raw.id);
    const cards = raw.entities.nics?.items ?? [];
    const boot = bootOf(raw);
    const disk = boot?.properties.type?.startsWith("SSD") === true ? ("SSD" as const) : ("HDD" as const);
    return {
      id,
      name,
      mark,
      ...labelsAndFirewalls(labels.get(raw.id) ?? {}),
      power: raw.metadata.state === "BUSY" ? "changing" : (powerOf[raw.properties.vmState ?? ""] ?? "changing"),
      type: typeNameOf({
        cores: raw.properties.cores,
        memoryGigabytes: raw.properties.ram / 1_024,
        diskGigabytes: boot?.properties.size ?? 0,
        disk,
      }),
      image: boot?.properties.image ?? undefined,
      location: datacenter.name,
      locationId: datacenter.id,
      networks: cards.flatMap(({ properties: { lan, ips } }) => {
        const network = datacenter.networks?.get(lan);
        const [ip = ""] = ips ?? [];
        return network === undefined || isPublicAddress(ip) ? [] : [{ network, ip }];
      }),
      volumes: volumesOf(raw)
        .filter((volume) => volume.id !== boot?.id)
        .map((volume) => idOf(datacenter.id, volume.id)),
      addresses: cards.flatMap((card) => (card.properties.ips ?? []).flatMap(publicAddress)),
      protected: false,
      cards: cards.map((card) => cardOf(id, card)),
    };
  },
};

const lanShape = z.object({ id: z.string(), metadata: z.object({ createdDate: z.string() }) });

/** A card says the number of its LAN alone, and that is given again. */
export async function withNetworks(
  client: IonosClient,
  datacenter: Datacenter,
  signal: AbortSignal,
): Promise<Datacenter> {
  const list = insideList({ segment: "lans", shape: lanShape, depth: 1, pageSize: 1_000 }, datacenter.id);
  const networks = (await everyOf(client, list, signal)).map(
    ({ id, metadata: { createdDate } }) => [Number(id), networkId(datacenter.id, { id, createdDate })] as const,
  );
  return { ...datacenter, networks: new Map(networks) };
}

function volumesOf({ entities }: RawServer) {
  return entities.volumes?.items ?? [];
}

function bootOf(raw: RawServer) {
  const volumes = volumesOf(raw);
  return volumes.find(({ id }) => id === raw.properties.bootVolume?.id) ?? volumes[0];
}

function publicAddress(ip: string): readonly CloudAddress[] {
  if (!isPublicAddress(ip)) return [];
  return [{ family: ip.includes(":") ? "ipv6" : "ipv4", ip, name: undefined }];
}

export interface FoundServer {
  readonly raw: RawServer;
  readonly entry: CloudServer;
  /** Disks that came with the server, and those that somebody attached. */
  readonly own: readonly string[];
  readonly attached: readonly string[];
}

async function labelsOf(
  client: IonosClient,
  path: readonly string[],
  id: string,
  signal: AbortSignal,
): Promise<Labels> {
  const shape = z.object({
    items: z.array(z.object({ properties: z.object({ key: z.string(), value: z.string() }) })),
  });
  const call = { path: [...path, "labels"], query: { depth: "1" }, what: `the labels of server ${id}` };
  const { items } = await client.get(shape, call, signal);
  return new Map([[id, Object.fromEntries(items.map(({ properties }) => [properties.key, properties.value]))]]);
}

async function serverLabels(client: IonosClient, id: string, signal: AbortSignal) {
  const [datacenter, own] = partsOf(id);
  return (await labelsOf(client, ["datacenters", datacenter, "servers", own], own, signal)).get(own) ?? {};
}

/** One server with what is on it; "absent" only where the provider says so. */
export async function findServer(
  client: IonosClient,
  id: string,
  signal: AbortSignal,
): Promise<FoundServer | "absent"> {
  const [datacenterId, own] = partsOf(id);
  const path = ["datacenters", datacenterId, "servers", own];
  const query = { depth: String(serverDepth) };
  const raw = await client.find(serverShape, { path, query, what: `the read of server ${id}` }, signal);
  if (raw === "absent") return "absent";
  const known = (await listDatacenters(client, signal)).find((each) => each.id === datacenterId);
  const bare: Datacenter = known ?? { id: datacenterId, name: datacenterId, region: "" };
  const datacenter = await withNetworks(client, bare, signal);
  const entry = servers.entry(raw, datacenter, await labelsOf(client, path, own, signal));
  const { mark } = entry;
  const isOurs = (name: string | null | undefined) =>
    typeof mark === "object" && "installationId" in mark && isSameMark(nameAndMark(name ?? "").mark, mark);
  const volumes = volumesOf(raw);
  return {
    raw,
    entry,
    own: volumes.filter(({ properties }) => isOurs(properties.name)).map((volume) => volume.id),
    attached: volumes.filter(({ properties }) => !isOurs(properties.name)).map((volume) => volume.id),
  };
}

const briefShape = z.object({
  id: z.string(),
  metadata: z.object({ createdDate: z.string().nullish() }),
  properties: z.object({ name: z.string().nullish() }),
});

/** Ids of the servers whose full name fits, in all data centers, oldest first. */
export async function serversNamed(
  client: IonosClient,
  fits: (full: string) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: { readonly id: string; readonly created: string }[] = [];
  for (const { id: datacenter } of await listDatacenters(client, signal)) {
    const list = insideList({ segment: "servers", shape: briefShape, depth: 1, pageSize: 1_000 }, datacenter);
    for (const { id, metadata, properties } of await everyOf(client, list, signal))
      if (fits(properties.name ?? "")) found.push({ id: idOf(datacenter, id), created: metadata.createdDate ?? "" });
  }
  const order = (left: (typeof found)[number], right: (typeof found)[number]) =>
    left.created === right.created ? (left.id < right.id ? -1 : 1) : left.created < right.created ? -1 : 1;
  return found.toSorted(order).map(({ id }) => id);
}

function cardsIn({ raw }: FoundServer, lan: number): readonly string[] {
  return (raw.entities.nics?.items ?? []).filter(({ properties }) => properties.lan === lan).map(({ id }) => id);
}

type ServerWriter = Pick<
  ComputeEngine,
  | "describeServer"
  | "setPower"
  | "resetServer"
  | "attachVolume"
  | "detachVolume"
  | "attachFirewall"
  | "detachFirewall"
  | "attachNetwork"
  | "detachNetwork"
>;

export function serverWriter(
  client: IonosClient,
  volumeOf: (name: string, signal: AbortSignal) => Promise<string>,
): ServerWriter {
  const path = (id: string) => {
    const [datacenter, own] = partsOf(id);
    return ["datacenters", datacenter, "servers", own];
  };
  const verb = (id: string, name: string, signal: AbortSignal) =>
    change(client, { method: "POST", path: [...path(id), name], what: `the ${name} of server ${id}` }, signal);
  return {
    describeServer: async (id, { name, labels, mark }, signal) => {
      const what = `the change of name and labels of server ${id}`;
      const full = nameFor(name, mark);
      const found = await findServer(client, id, signal);
      if (found !== "absent" && found.raw.properties.name !== full)
        await change(client, { method: "PATCH", path: path(id), body: { name: full }, what }, signal);
      const before = found === "absent" ? {} : found.entry.labels;
      await setLabels(client, path(id), { before, labels }, signal);
    },
    attachNetwork: async (id, { name, ip }, signal) => {
      const lan = await requireLan(client, name, partsOf(id)[0], signal);
      const found = await findServer(client, id, signal);
      if (found !== "absent" && cardsIn(found, lan).length > 0) return;
      const body = { properties: { name, lan, dhcp: true, ...(ip === undefined ? {} : { ips: [ip] }) } };
      const what = `the attachment of network ${name} to server ${id}`;
      await change(client, { method: "POST", path: [...path(id), "nics"], body, what }, signal);
    },
    detachNetwork: async (id, name, signal) => {
      const lan = await requireLan(client, name, partsOf(id)[0], signal);
      const found = await findServer(client, id, signal);
      const what = `the detachment of network ${name} from server ${id}`;
      for (const card of found === "absent" ? [] : cardsIn(found, lan))
        await change(client, { method: "DELETE", path: [...path(id), "nics", card], what }, signal, ["309"]);
    },
    // The rules themselves are put on its cards by the loop of the firewall, which finds the server by this.
    attachFirewall: async (id, name, signal) => {
      const all = await serverLabels(client, id, signal);
      await setLabels(client, path(id), { before: all, labels: namingFirewalls(all, [name]) }, signal);
    },
    detachFirewall: async (id, name, signal) => {
      const all = await serverLabels(client, id, signal);
      await setLabels(client, path(id), { before: all, labels: namingNoMore(all, name) }, signal);
    },
    setPower: (id, power, signal) => verb(id, power === "on" ? "start" : "stop", signal),
    resetServer: (id, signal) => verb(id, "reboot", signal),
    attachVolume: async (id, name, signal) => {
      const [, volume] = partsOf(await volumeOf(name, signal));
      const found = await findServer(client, id, signal);
      if (found !== "absent" && [...found.attached, ...found.own].includes(volume)) return;
      const what = `the attachment of volume ${name} to server ${id}`;
      // The file wants properties even where an existing volume is only named.
      const body = { id: volume };
      await change(client, { method: "POST", path: [...path(id), "volumes"], body, what }, signal);
    },
    detachVolume: async (id, name, signal) => {
      const [, volume] = partsOf(await volumeOf(name, signal));
      await detachVolume(client, id, volume, signal);
    },
  };
}

export async function detachVolume(
  client: IonosClient,
  id: string,
  volume: string,
  signal: AbortSignal,
): Promise<void> {
  const [datacenter, own] = partsOf(id);
  const path = ["datacenters", datacenter, "servers", own, "volumes", volume];
  const what = `the detachment of volume ${volume} from server ${id}`;
  await change(client, { method: "DELETE", path, what }, signal, ["309"]);
}

/** Labels are set one by one, and at once. */
export async function setLabels(
  client: IonosClient,
  path: readonly string[],
  {
    before,
    labels,
  }: { readonly before: Readonly<Record<string, string>>; readonly labels: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<void> {
  const at = [...path, "labels"];
  for (const [key, value] of Object.entries(labels)) {
    if (before[key] === value) continue;
    const body = { properties: { key, value } };
    const what = `the label ${key}`;
    if (before[key] === undefined) await client.change({ method: "POST", path: at, body, what }, signal);
    else await client.change({ method: "PUT", path: [...at, key], body, what }, signal);
  }
  for (const key of Object.keys(before))
    if (labels[key] === undefined)
      await client.change({ method: "DELETE", path: [...at, key], what: `the removal of label ${key}` }, signal, [
        "309",
      ]);
}

export function isMarkedBy(mark: OwnMark): (full: string) => boolean {
  return (full) => isSameMark(nameAndMark(full).mark, mark);
}
