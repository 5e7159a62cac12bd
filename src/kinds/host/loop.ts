import { TerminalError } from "../../kernel/errors.ts";
import { defineLoop, type LookContext, type Seen, type Subject, type WriteContext } from "../../kernel/loop.ts";
import type {
  CloudFirewall,
  CloudNetwork,
  CloudServer,
  CloudVolume,
  ComputeReader,
  ComputeWriter,
} from "../../ports/compute.ts";
import { leastComplete, seenOf } from "../cloud/seen-marker.ts";
import {
  buildKey,
  type HostItem,
  isAnotherServer,
  type NamesAround,
  publishedAddresses,
  sameHost,
  seenBuild,
  seenServer,
  type ServerItem,
  serverKey,
  typeUnknown,
  wantedBuild,
  wantedServer,
} from "./item.ts";
import type { HostSpec } from "./schema.ts";
import { firewallsByServer, serversOf } from "./server-index.ts";

export const hostLoop = defineLoop<HostSpec, HostItem, ComputeReader, ComputeWriter>({
  kind: "Host",
  everySeconds: 300,
  // One listing serves a whole round: an account of a thousand servers has twenty pages, and an hour has 3,600 calls.
  listedWithinSeconds: 300,
  marks: true,
  listedIn: "servers",
  site: ({ spec }) => spec.location,
  desired: (_ctx, subject) => {
    const build = wantedBuild(subject.spec);
    if (build === undefined) return { known: false, reason: typeUnknown(subject) };
    return {
      known: true,
      items: [
        { key: serverKey, item: wantedServer(subject) },
        { key: buildKey, item: build },
      ],
    };
  },
  observe: async (ctx, subject) => {
    const servers = await ctx.inventory<CloudServer>("servers");
    const found = serversOf(ctx, servers.entries, subject);
    const around = found.length === 0 ? [] : await listAround(ctx, subject, found);
    const items = found.flatMap((server) => seenItems(ctx, server, namesFrom(around, server.id)));
    return { ...ctx.from(servers, items), ...leastComplete([servers, ...around]) };
  },
  read: readHost,
  same: sameHost,
  replaces: isAnotherServer,
  replacement: {
    pipeline: "host.replace",
    loses: "the server is destroyed with its disk and its addresses, and a new one is made as declared",
  },
  publishes: (seen) => publishedAddresses(seen.map(({ item }) => item)),
  create: async (_ctx, subject) => {
    throw byOperation(subject, "host.create", "makes it");
  },
  update: updateHost,
  remove: async (_ctx, subject) => {
    throw byOperation(subject, "host.delete", "removes it");
  },
});

/** Servers are made and removed by operations alone: each is an intent of its own, with its steps on record. */
function byOperation({ name }: Subject<HostSpec>, pipeline: string, does: string): TerminalError {
  return new TerminalError(
    "DEPENDENCY_NOT_READY",
    `The server of Host/${name} is not as declared, and only the operation ${pipeline} ${does}: setpoint ops start host/${name} ${pipeline}`,
  );
}

type Around = readonly Awaited<ReturnType<LookContext<ComputeReader>["inventory"]>>[];

/** Only the lists that have a word to say about these servers. */
async function listAround(
  ctx: LookContext<ComputeReader>,
  { spec }: Subject<HostSpec>,
  found: readonly CloudServer[],
): Promise<Around> {
  const networks = spec.networks.length > 0 || found.some((server) => server.networks.length > 0);
  const firewalls = spec.firewalls.length > 0 || found.some((server) => server.firewalls.length > 0);
  const volumes = spec.volumes.length > 0 || found.some((server) => server.volumes.length > 0);
  const empty = {
    completeness: "complete",
    proof: "not asked for",
    startedAtMonotonicMs: Infinity,
    entries: [],
  } as const;
  return [
    networks ? await ctx.inventory<CloudNetwork>("networks") : empty,
    firewalls ? await ctx.inventory<CloudFirewall>("firewalls") : empty,
    volumes ? await ctx.inventory<CloudVolume>("volumes") : empty,
  ];
}

function namesFrom([networks, firewalls, volumes]: Around, server: string): NamesAround {
  const ours = ((networks?.entries ?? []) as readonly CloudNetwork[]).filter(
    ({ mark }) => typeof mark === "object" && "installationId" in mark,
  );
  const attached = ((volumes?.entries ?? []) as readonly CloudVolume[]).filter((volume) => volume.server === server);
  return {
    networks: new Map(ours.map(({ id, name }) => [id, name])),
    volumes: new Map(attached.map(({ id, name }) => [id, name])),
    firewalls: firewallsByServer((firewalls?.entries ?? []) as readonly CloudFirewall[]).get(server) ?? [],
  };
}

function seenItems(
  ctx: Pick<LookContext<unknown>, "noted">,
  server: CloudServer,
  names: NamesAround,
): readonly Seen<HostItem>[] {
  const build = seenOf<HostItem>(buildKey, server, seenBuild(server, ctx.noted(server.id)));
  return [
    seenOf<HostItem>(serverKey, server, seenServer(server, names)),
    { ...build, externalId: `${server.id}/build` },
  ];
}

/** Before a delete or before something is called missing: the server itself, and what it shows of its surroundings. */
async function readHost(
  ctx: LookContext<ComputeReader>,
  subject: Subject<HostSpec>,
  { key, externalId }: { readonly key: string; readonly externalId: string | undefined },
): Promise<Seen<HostItem> | "absent"> {
  const server =
    externalId === undefined
      ? ((await ctx.reader.markedServers(ctx.marker, ctx.signal))[0] ?? "absent")
      : await ctx.reader.server(externalId.split("/")[0] ?? "", ctx.signal);
  if (server === "absent") return "absent";
  const names = namesFrom(await listAround(ctx, subject, [server]), server.id);
  return seenItems(ctx, server, names).find((item) => item.key === key) ?? "absent";
}

async function updateHost(
  ctx: WriteContext<ComputeWriter>,
  _subject: Subject<HostSpec>,
  { item }: { readonly item: HostItem },
  seen: Seen<HostItem>,
): Promise<void> {
  // Of how it is built only the mark can be missing, and that is put back with the server's own item.
  if (!("power" in item) || !("power" in seen.item)) return;
  await heal(ctx, item, { ...seen, item: seen.item });
}

/** Who it is comes first: what is ours must be seen to be ours whatever fails after it. */
async function heal(ctx: WriteContext<ComputeWriter>, item: ServerItem, seen: Seen<ServerItem>): Promise<void> {
  const { writer, marker: mark, signal } = ctx;
  const { externalId: id, item: before } = seen;
  const fields = new Set(sameHost(item, before).map(({ field }) => field.split("/")[1]));
  if (fields.has("name") || fields.has("labels") || seen.marker === "none")
    await writer.describeServer(id, { name: item.name, labels: item.labels, mark }, signal);
  if (fields.has("firewalls")) {
    for (const name of missing(item.firewalls, before.firewalls)) await writer.attachFirewall(id, name, signal);
    for (const name of missing(before.firewalls, item.firewalls)) await writer.detachFirewall(id, name, signal);
  }
  if (fields.has("networks")) await healNetworks(ctx, id, item.networks, before.networks);
  if (fields.has("volumes")) {
    for (const name of missing(before.volumes, item.volumes)) await writer.detachVolume(id, name, signal);
    for (const name of missing(item.volumes, before.volumes)) await writer.attachVolume(id, name, signal);
  }
  if (fields.has("protect")) await writer.setServerProtection(id, item.protect, signal);
  if (fields.has("power") && item.power !== "changing") await writer.setPower(id, item.power, signal);
  if (fields.has("reverseDns") && item.reverseDns !== undefined)
    await writer.setReverseDns(id, item.reverseDns, signal);
}

async function healNetworks(
  { writer, signal }: WriteContext<ComputeWriter>,
  id: string,
  wanted: ServerItem["networks"],
  seen: ServerItem["networks"],
): Promise<void> {
  for (const [name, ip] of Object.entries(seen))
    if (wanted[name] === undefined || (wanted[name] !== "" && wanted[name] !== ip))
      await writer.detachNetwork(id, name, signal);
  for (const [name, ip] of Object.entries(wanted))
    if (seen[name] === undefined || (ip !== "" && seen[name] !== ip))
      await writer.attachNetwork(id, { name, ip: ip === "" ? undefined : ip }, signal);
}

function missing(all: readonly string[], from: readonly string[]): readonly string[] {
  return all.filter((name) => !from.includes(name));
}
