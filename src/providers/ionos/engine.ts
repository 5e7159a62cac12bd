import { z } from "zod";
import { afterEffect, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { ComputeEngine, EnsuredServer, OwnMark, ServerIntent } from "../../ports/compute.ts";
import type { IonosClient } from "./client.ts";
import { requireDatacenter } from "./datacenters.ts";
import { labelsAndFirewalls, namingFirewalls } from "./firewall-labels.ts";
import { idOf, isSameMark, markTextOf, nameFor, partsOf } from "./names.ts";
import { requireLan } from "./networks.ts";
import { publicLan } from "./public-lan.ts";
import { beginLook, orderedWith, requestIdOf } from "./requests.ts";
import { detachVolume, findServer, isMarkedBy, serversNamed, setLabels } from "./servers.ts";
import { type ServerShape, shapeOf, typeNames } from "./types.ts";

/** Every server with this mark: those that are listed, and those that were ordered and are not listed yet. Oldest first. */
export async function markedIds(client: IonosClient, mark: OwnMark, signal: AbortSignal): Promise<readonly string[]> {
  const listed = await serversNamed(client, isMarkedBy(mark), signal);
  if (listed.length > 0) return listed;
  const ordered = await orderedWith(client, markTextOf(mark), signal);
  return ordered.flatMap(({ targets }) =>
    targets.flatMap(({ href }) => {
      const match = /\/datacenters\/([^/]+)\/servers\/([^/]+)$/.exec(href);
      return match === null ? [] : [idOf(match[1] ?? "", match[2] ?? "")];
    }),
  );
}

async function firstMarked(client: IonosClient, mark: OwnMark, signal: AbortSignal) {
  for (const id of await markedIds(client, mark, signal)) {
    const found = await findServer(client, id, signal);
    if (found !== "absent" && isSameMark(found.entry.mark, mark)) return found.entry;
  }
  return undefined;
}

/** Making and removing servers, by name and order: a call whose answer was lost is repeated without making a second one. */
export function serverEngine(client: IonosClient): Pick<ComputeEngine, "ensureServer" | "ensureServerGone"> {
  return {
    ensureServer: async (intent, signal): Promise<EnsuredServer> => {
      const shape = shapeOf(intent.type);
      if (shape === undefined)
        throw new TerminalError("PROVIDER_REFUSED", `"${intent.type}" is no type at IONOS: ${typeNames.words}`);
      const requireFresh = beginLook(client, signal);
      const there = await firstMarked(client, intent.mark, signal);
      if (there !== undefined) return { server: there, work: undefined, found: true };
      return await createServer(client, intent, { shape, requireFresh }, signal);
    },
    ensureServerGone: async ({ id, mark }, signal) => {
      const found = await findServer(client, id, signal);
      if (found === "absent") return;
      const { name } = found.entry;
      if (!isSameMark(found.entry.mark, mark))
        throw new TerminalError(
          "PRECONDITION_FAILED",
          `Server ${name} (id ${id}) does not carry this resource's mark in its name (any more): nothing is removed that is not surely ours`,
        );
      // With a server go all disks that are attached to it then: somebody's own must not be among them.
      for (const volume of found.attached) await detachVolume(client, id, volume, signal);
      const [datacenter, own] = partsOf(id);
      const path = ["datacenters", datacenter, "servers", own];
      const what = `the deletion of server ${name} (${id})`;
      const query = { deleteVolumes: "true" };
      await client.change({ method: "DELETE", path, query, what }, signal, ["309"]);
    },
  };
}

const madeShape = z.object({ id: z.string() });

async function createServer(
  client: IonosClient,
  intent: ServerIntent,
  { shape, requireFresh }: { readonly shape: ServerShape; readonly requireFresh: (what: string) => void },
  signal: AbortSignal,
): Promise<EnsuredServer> {
  const datacenter = await requireDatacenter(client, intent.location, signal);
  const lan = intent.publicAddresses.ipv4 ? await publicLan(client, datacenter, signal) : undefined;
  const name = nameFor(intent.name, intent.mark);
  const isId = /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(intent.image);
  const volume = {
    name,
    size: shape.diskGigabytes,
    type: shape.disk,
    ...(isId ? { image: intent.image } : { imageAlias: intent.image }),
    ...(intent.sshKeys.length === 0 ? {} : { sshKeys: intent.sshKeys }),
    ...(intent.userData === undefined ? {} : { userData: Buffer.from(intent.userData).toString("base64") }),
  };
  // Until the rules of its firewalls are on it, a card that is to have any lets nothing in.
  const firewallActive = intent.closed === true || intent.firewalls.length > 0;
  const cards: object[] = lan === undefined ? [] : [{ name, lan, dhcp: true, firewallActive }];
  for (const network of intent.networks)
    cards.push({ name: network, lan: await requireLan(client, network, datacenter.id, signal), dhcp: true });
  const body = {
    properties: { name, cores: shape.cores, ram: shape.memoryGigabytes * 1_024 },
    entities: {
      volumes: { items: [{ properties: volume }] },
      ...(cards.length === 0 ? {} : { nics: { items: cards.map((properties) => ({ properties })) } }),
    },
  };
  const path = ["datacenters", datacenter.id, "servers"];
  const what = `the creation of server ${intent.name}`;
  requireFresh(what);
  const answer = await client.succeed({ method: "POST", path, body, what }, signal);
  return await afterEffect(async () => {
    const { id } = client.parse(madeShape, what, answer);
    const found = await findServer(client, idOf(datacenter.id, id), signal);
    if (found === "absent") throw notShown(`server ${intent.name} (${id})`);
    const labels = namingFirewalls(intent.labels, intent.firewalls);
    await setLabels(client, [...path, id], { before: {}, labels }, signal);
    return { server: { ...found.entry, ...labelsAndFirewalls(labels) }, work: requestIdOf(answer), found: false };
  });
}

function notShown(what: string): RetryableError {
  return new RetryableError("PROVIDER_UNAVAILABLE", `IONOS took the order of ${what} and does not show it yet`, {
    afterMs: 5_000,
    ambiguous: true,
  });
}
