import { z } from "zod";
import { RetryableError, toEngineError } from "../../kernel/errors.ts";
import { readInventory } from "../../kernel/inventory.ts";
import type { Lister } from "../../ports/provider.ts";
import type { RestCall } from "../rest-client.ts";
import type { IonosClient } from "./client.ts";

const pagesShape = z.object({
  offset: z.int().nullish(),
  limit: z.int().nullish(),
  _links: z.object({ next: z.string().nullish() }).nullish(),
});

/** A list, however many pages it has. */
export interface Paged<Raw extends { readonly id: string }> extends Pick<RestCall, "path" | "query" | "what"> {
  readonly shape: z.ZodType<Raw>;
  readonly depth: number;
  /** How many are asked for at once; fewer may come. */
  readonly limit: number;
}

/** One page. One that is not what was asked for makes the list incomplete, never shorter. */
export async function pageOf<Raw extends { readonly id: string }>(
  client: IonosClient,
  list: Paged<Raw>,
  offset: number,
  signal: AbortSignal,
): Promise<{ readonly raws: readonly Raw[]; readonly more: boolean }> {
  const { path, limit } = list;
  const what = `${list.what} from ${offset}`;
  const query = { depth: String(list.depth), offset: String(offset), limit: String(limit), ...list.query };
  const shape = pagesShape.extend({ items: z.array(list.shape) });
  const answer = await client.get(shape, { path, query, what }, signal);
  if ((answer.offset ?? offset) !== offset || answer.items.length > limit)
    throw unbelievable(`${what} with the page from ${answer.offset ?? "nowhere"}`);
  const isLinked = (answer._links ?? undefined) !== undefined;
  if (isLinked && offset > 0 && answer.items.length === 0)
    throw unbelievable(`${what} with nothing, after it had linked to it`);
  // Where nothing is linked to, a full page may have another one behind it: what is asked once too often is empty.
  const more = isLinked ? (answer._links?.next ?? undefined) !== undefined : answer.items.length === limit;
  if (more && answer.items.length === 0) throw unbelievable(`${what} with nothing, and with more behind it`);
  return { raws: answer.items, more };
}

/** The whole list, or an error: what was not read is not absent. */
export function everyOf<Raw extends { readonly id: string }>(
  client: IonosClient,
  list: Paged<Raw>,
  signal: AbortSignal,
): Promise<readonly Raw[]> {
  const lister: Lister<Raw> = async (token, ending) => {
    const offset = Number(token ?? "0");
    const { raws, more } = await pageOf(client, list, offset, ending);
    const next = more ? String(offset + raws.length) : undefined;
    return { entries: raws, ids: raws.map(({ id }) => id), next };
  };
  return everyEntry(client, { lister, what: list.what }, signal);
}

/** All entries of a lister, or an error. */
export async function everyEntry<Entry>(
  client: IonosClient,
  { lister, what }: { readonly lister: Lister<Entry>; readonly what: string },
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const { inventory, error } = await readInventory(client.clock, lister, signal);
  if (inventory.completeness === "complete") return inventory.entries as readonly Entry[];
  if (error !== undefined) throw toEngineError(error);
  throw unbelievable(`${what} in pages that do not make a whole: ${inventory.proof}`);
}

function unbelievable(how: string): RetryableError {
  return new RetryableError("PROVIDER_UNAVAILABLE", `IONOS answered ${how}`, { ambiguous: false });
}
