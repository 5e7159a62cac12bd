import { z } from "zod";
import { EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { OwnMark } from "../../ports/compute.ts";
import type { CloudReservedAddress, ForwarderReader, ForwarderWriter } from "../../ports/load-balancer.ts";
import type { Lister } from "../../ports/provider.ts";
import type { IonosClient } from "./client.ts";
import { insideList, type Labels, listLabels } from "./datacenters.ts";
import { isSameMark, markTextOf, nameAndMark, nameFor } from "./names.ts";
import { everyEntry, everyOf, pageOf } from "./pages.ts";
import { awaitRequest, beginLook, change, orderedWith } from "./requests.ts";

const pageSize = 1_000;
const blockShape = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    location: z.string(),
    ips: z.array(z.string()).nullish(),
    ipConsumers: z
      .array(
        z.object({
          ip: z.string().nullish(),
          serverName: z.string().nullish(),
          datacenterName: z.string().nullish(),
          datacenterId: z.string().nullish(),
        }),
      )
      .nullish(),
  }),
});
type RawBlock = z.output<typeof blockShape>;

function entryOf({ id, properties }: RawBlock, labels: Labels): CloudReservedAddress {
  const users = (properties.ipConsumers ?? []).map(
    ({ ip, serverName, datacenterName, datacenterId }) =>
      `${ip ?? "an address"} in data center ${datacenterName ?? datacenterId ?? "?"}${serverName ? `, ${serverName}` : ""}`,
  );
  return {
    id,
    ...nameAndMark(properties.name ?? id),
    labels: labels.get(id) ?? {},
    region: properties.location,
    addresses: properties.ips ?? [],
    usedBy: users,
  };
}

/** Reserved addresses of the contract. They are in no data center and cost money, so they are in the inventory. */
export function ipBlockLister(client: IonosClient): Lister<CloudReservedAddress> {
  return async (token, signal) => {
    const offset = Number(token ?? "0");
    const list = { path: ["ipblocks"], shape: blockShape, depth: 1, limit: pageSize, what: "the list of IP blocks" };
    const { raws, more } = await pageOf(client, list, offset, signal);
    const labels = raws.length === 0 ? new Map<string, never>() : await listLabels(client, signal);
    return {
      entries: raws.map((raw) => entryOf(raw, labels)),
      ids: raws.map(({ id }) => id),
      next: more ? String(offset + raws.length) : undefined,
    };
  };
}

async function findBlock(
  client: IonosClient,
  id: string,
  signal: AbortSignal,
): Promise<CloudReservedAddress | "absent"> {
  const raw = await client.find(blockShape, { path: ["ipblocks", id], what: `the read of IP block ${id}` }, signal);
  return raw === "absent" ? "absent" : entryOf(raw, new Map());
}

/** The block with this mark in a region: one that is listed, or was ordered and is not listed yet. Names are not unique. */
export async function markedBlock(
  client: IonosClient,
  mark: OwnMark,
  region: string,
  signal: AbortSignal,
): Promise<CloudReservedAddress | "absent"> {
  const isIt = (block: CloudReservedAddress) => isSameMark(block.mark, mark) && block.region === region;
  const list = { lister: ipBlockLister(client), what: "the list of IP blocks" };
  const listed = (await everyEntry(client, list, signal)).find(isIt);
  if (listed !== undefined) return listed;
  for (const { targets } of await orderedWith(client, markTextOf(mark), signal))
    for (const { href } of targets) {
      const [, id] = /\/ipblocks\/([^/]+)$/.exec(href) ?? [];
      const block = id === undefined ? "absent" : await findBlock(client, id, signal);
      if (block !== "absent" && isIt(block)) return block;
    }
  return "absent";
}

const balancerShape = z.object({
  id: z.string(),
  properties: z.object({ ips: z.array(z.string()).nullish() }),
});

/** The list of those who use it may be of cards alone, so load balancers are asked as well. */
async function usersOf(
  client: IonosClient,
  { addresses, usedBy }: CloudReservedAddress,
  datacenters: readonly { readonly id: string; readonly name: string }[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const users = [...usedBy];
  for (const { id, name } of datacenters) {
    const family = { segment: "networkloadbalancers", shape: balancerShape, depth: 1, pageSize };
    const balancers = await everyOf(client, insideList(family, id), signal);
    if (balancers.some(({ properties }) => properties.ips?.some((ip) => addresses.includes(ip)) === true))
      users.push(`a load balancer in data center ${name}`);
  }
  return users;
}

const madeShape = z.object({ id: z.string() });
const busyForMs = 30_000;

type Datacenters = (
  signal: AbortSignal,
) => Promise<readonly { readonly id: string; readonly name: string; readonly region: string }[]>;

async function release(
  client: IonosClient,
  { id, mark }: { readonly id: string; readonly mark: OwnMark },
  datacenters: Datacenters,
  signal: AbortSignal,
): Promise<void> {
  const block = await findBlock(client, id, signal);
  if (block === "absent") return;
  if (!isSameMark(block.mark, mark))
    throw new TerminalError(
      "PRECONDITION_FAILED",
      `IP block ${block.name} (${id}) does not carry this resource's mark in its name (any more): no address is given back that is not surely ours`,
    );
  const inRegion = (await datacenters(signal)).filter(({ region }) => region === block.region);
  const users = await usersOf(client, block, inRegion, signal);
  if (users.length > 0) throw inUse(`IP block ${block.name} (${id}) is still used: ${users.join("; ")}`);
  const what = `the release of IP block ${block.name} (${id})`;
  await change(client, { method: "DELETE", path: ["ipblocks", id], what }, signal, ["309"]).catch((thrown: unknown) => {
    // Whoever uses it, and is not shown, goes some time.
    if (thrown instanceof EngineError && thrown.code === "PROVIDER_REFUSED") throw inUse(thrown.message);
    throw thrown;
  });
}

function inUse(message: string): RetryableError {
  return new RetryableError("DEPENDENCY_NOT_READY", message, { afterMs: busyForMs, ambiguous: false });
}

export function ipBlockReader(client: IonosClient): Pick<ForwarderReader, "reservedAddress" | "markedAddress"> {
  return {
    reservedAddress: (id, signal) => findBlock(client, id, signal),
    markedAddress: (mark, region, signal) => markedBlock(client, mark, region, signal),
  };
}

export function ipBlockWriter(
  client: IonosClient,
  datacenters: Datacenters,
): Pick<ForwarderWriter, "reserveAddress" | "describeAddress" | "releaseAddress"> {
  return {
    reserveAddress: async ({ name, mark, region }, signal) => {
      const requireFresh = beginLook(client, signal);
      const there = await markedBlock(client, mark, region, signal);
      if (there !== "absent") return { id: there.id };
      const what = `the reservation of an address for ${name}`;
      const body = { properties: { name: nameFor(name, mark), location: region, size: 1 } };
      requireFresh(what);
      const answer = await client.succeed({ method: "POST", path: ["ipblocks"], body, what }, signal);
      const { id } = client.parse(madeShape, what, answer);
      await awaitRequest(client, what, answer, signal);
      return { id };
    },
    describeAddress: (id, { name, mark }, signal) => {
      const what = `the change of name of IP block ${id}`;
      return change(
        client,
        { method: "PATCH", path: ["ipblocks", id], body: { name: nameFor(name, mark) }, what },
        signal,
      );
    },
    releaseAddress: (address, signal) => release(client, address, datacenters, signal),
  };
}
