import { z } from "zod";
import type { IonosClient } from "./client.ts";
import { type Datacenter, insideList } from "./datacenters.ts";
import { everyOf } from "./pages.ts";
import { awaitRequest, beginLook, orderedWith } from "./requests.ts";

const lanShape = z.object({ id: z.string(), properties: z.object({ public: z.boolean().nullish() }) });

const madeShape = z.object({ id: z.string() });

const publicName = "setpoint-public";

/** Any LAN of the data center that leads to the internet; one is made where there is none. */
export async function publicLan(client: IonosClient, datacenter: Datacenter, signal: AbortSignal): Promise<number> {
  const requireFresh = beginLook(client, signal);
  const path = ["datacenters", datacenter.id, "lans"];
  const list = insideList({ segment: "lans", shape: lanShape, depth: 1, pageSize: 1_000 }, datacenter.id);
  const there = (await everyOf(client, list, signal)).find(({ properties }) => properties.public === true)?.id;
  if (there !== undefined) return Number(there);
  // One that was ordered a moment ago may not be listed yet.
  const orders = await orderedWith(client, publicName, signal);
  const prefix = `/datacenters/${datacenter.id}/lans/`;
  const ordered = orders.flatMap(({ targets }) => targets).find(({ href }) => href.includes(prefix))?.id;
  if (ordered !== undefined) return Number(ordered);
  const body = { properties: { name: publicName, public: true } };
  const call = { method: "POST" as const, path, body, what: "the creation of a public LAN" };
  requireFresh(call.what);
  const answer = await client.succeed(call, signal);
  await awaitRequest(client, call.what, answer, signal);
  return Number(client.parse(madeShape, call.what, answer).id);
}
