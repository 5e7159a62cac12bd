import { z } from "zod";
import { RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { Lister, Page } from "../../ports/provider.ts";
import type { IonosClient } from "./client.ts";
import { everyOf, type Paged, pageOf } from "./pages.ts";

export interface Datacenter {
  readonly id: string;
  readonly name: string;
  /** The provider's own name of the place, such as de/fra. */
  readonly region: string;
  /** Ids of its networks by the number of their LAN, where somebody asked for them. */
  readonly networks?: ReadonlyMap<number, string> | undefined;
}

const datacenterShape = z.object({
  id: z.string(),
  properties: z.object({ name: z.string().nullish(), location: z.string() }),
});

export async function listDatacenters(client: IonosClient, signal: AbortSignal): Promise<readonly Datacenter[]> {
  const list = {
    path: ["datacenters"],
    shape: datacenterShape,
    depth: 1,
    limit: 1_000,
    what: "the list of data centers",
  };
  const found = await everyOf(client, list, signal);
  return found.map(({ id, properties }) => ({ id, name: properties.name ?? id, region: properties.location }));
}

/** Where something is made: the data center of that name, or with that id where a name is there twice. */
export async function requireDatacenter(client: IonosClient, name: string, signal: AbortSignal): Promise<Datacenter> {
  const all = await listDatacenters(client, signal);
  const found = all.filter((datacenter) => datacenter.name === name || datacenter.id === name);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const there = all.map((datacenter) => datacenter.name).join(", ") || "none";
  throw new TerminalError(
    "PROVIDER_REFUSED",
    found.length === 0
      ? `The contract has no data center ${name}. It has: ${there}. Make it there, or correct spec.location`
      : `The contract has ${found.length} data centers named ${name}: use the id of one in spec.location`,
  );
}

export interface InsideFamily<Raw extends { readonly id: string }, Entry> {
  /** What the list is called in paths, such as servers. */
  readonly segment: string;
  readonly depth: number;
  readonly pageSize: number;
  readonly shape: z.ZodType<Raw>;
  /** Whether its things have labels that count: those of the whole contract are a call of their own. */
  readonly labelled: boolean;
  /** What else has to be known of a data center to read what is in it. */
  around?(client: IonosClient, datacenter: Datacenter, signal: AbortSignal): Promise<Datacenter>;
  entry(raw: Raw, datacenter: Datacenter, labels: Labels): Entry;
}

/** Labels of things by the thing's id. */
export type Labels = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** The list of one family in one data center. */
export function insideList<Raw extends { readonly id: string }>(
  family: Pick<InsideFamily<Raw, unknown>, "segment" | "shape" | "depth" | "pageSize">,
  datacenter: string,
): Paged<Raw> {
  const { segment, shape, depth, pageSize: limit } = family;
  const what = `the list of ${segment} of data center ${datacenter}`;
  return { path: ["datacenters", datacenter, segment], shape, depth, limit, what };
}

interface Walk {
  readonly datacenters: readonly Datacenter[];
  readonly labels: Labels;
  /** What was read around the data centers that the walk has come to. */
  readonly known: Map<string, Datacenter>;
}

/**
 * Pages over all data centers, one after the other. Where the walk stands is in its token; which data centers and labels there are
 * was read when it began, and what is around a data center when it came there.
 */
export function insideLister<Raw extends { readonly id: string }, Entry extends { readonly id: string }>(
  client: IonosClient,
  family: InsideFamily<Raw, Entry>,
): Lister<Entry> {
  let begun: Walk | undefined;
  return async (token, signal): Promise<Page<Entry>> => {
    if (token === undefined || begun === undefined)
      begun = {
        datacenters: await listDatacenters(client, signal),
        labels: family.labelled ? await listLabels(client, signal) : new Map(),
        known: new Map(),
      };
    const { datacenters, labels, known } = begun;
    const [id, offset = "0"] = token === undefined ? [datacenters[0]?.id] : token.split(" ");
    const index = datacenters.findIndex((datacenter) => datacenter.id === id);
    const datacenter = datacenters[index];
    if (datacenter === undefined && token === undefined) return { entries: [], ids: [] };
    if (datacenter === undefined)
      throw new RetryableError("PROVIDER_UNAVAILABLE", `Data center ${id ?? ""} went while it was listed`, {
        ambiguous: false,
      });
    const { raws, more } = await pageOf(client, insideList(family, datacenter.id), Number(offset), signal);
    if (family.around !== undefined && !known.has(datacenter.id))
      known.set(datacenter.id, await family.around(client, datacenter, signal));
    const where = known.get(datacenter.id) ?? datacenter;
    const following = datacenters[index + 1];
    const next = more ? `${datacenter.id} ${Number(offset) + raws.length}` : following && `${following.id} 0`;
    return {
      entries: raws.map((raw) => family.entry(raw, where, labels)),
      ids: raws.map((raw) => raw.id),
      next,
    };
  };
}

const labelsShape = z.object({
  items: z.array(
    z.object({ properties: z.object({ key: z.string(), value: z.string(), resourceId: z.string().nullish() }) }),
  ),
});

/** All labels of the contract at once: one by one they would be a call for each server. */
export async function listLabels(client: IonosClient, signal: AbortSignal): Promise<Labels> {
  const call = { path: ["labels"], query: { depth: "1" }, what: "the list of labels" };
  const { items } = await client.get(labelsShape, call, signal);
  const labels = new Map<string, Record<string, string>>();
  for (const { properties } of items) {
    const id = properties.resourceId ?? "";
    labels.set(id, { ...labels.get(id), [properties.key]: properties.value });
  }
  return labels;
}
