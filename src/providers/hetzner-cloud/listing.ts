import { z } from "zod";
import { RetryableError } from "../../kernel/errors.ts";
import type { CloudThing } from "../../ports/compute.ts";
import type { Lister, Page } from "../../ports/provider.ts";
import type { HetznerCall, HetznerClient } from "./client.ts";

/** The most that the API gives in one page. */
const pageSize = 50;

const meta = z.object({
  pagination: z.object({
    page: z.int(),
    next_page: z.int().nullable(),
    total_entries: z.int().nullable(),
  }),
});

/** One family of things: where it is listed, and how one of them is read. */
export interface Family<Raw extends { readonly id: number }, Entry> {
  /** The path and the name of the list in the answer. */
  readonly collection: string;
  /** What one is called in messages. */
  readonly one: string;
  /** The name of a single one in an answer. */
  readonly key: string;
  readonly shape: z.ZodType<Raw>;
  /** Lists in the order of ids, so that what is made meanwhile comes last. Not every list can. */
  readonly sorted: boolean;
  /** Which of the list are meant, where it holds others too. */
  readonly only?: Readonly<Record<string, string>>;
  entry(raw: Raw): Entry;
}

/** Pages of a family. A page that is not the one asked for makes the list incomplete, never shorter. */
export function listerOf<Raw extends { readonly id: number }, Entry>(
  client: HetznerClient,
  family: Family<Raw, Entry>,
  filter: Readonly<Record<string, string>> = {},
): Lister<Entry> {
  const shape = listShape(family);
  return async (token, signal): Promise<Page<Entry>> => {
    const page = token ?? "1";
    const query = {
      ...family.only,
      ...filter,
      page,
      per_page: String(pageSize),
      ...(family.sorted ? { sort: "id:asc" } : {}),
    };
    const what = `page ${page} of the list of ${family.collection}`;
    const answer = await client.get(shape, { path: [family.collection], query, what }, signal);
    const { pagination } = answer.meta;
    if (
      String(pagination.page) !== page ||
      (pagination.next_page !== null && pagination.next_page !== Number(page) + 1)
    )
      throw new RetryableError(
        "PROVIDER_UNAVAILABLE",
        `Hetzner Cloud answered ${what} with page ${pagination.page}, followed by ${pagination.next_page ?? "none"}`,
        { ambiguous: false },
      );
    const raws = answer.entries;
    return {
      entries: raws.map((raw) => family.entry(raw)),
      ids: raws.map(({ id }) => String(id)),
      next: pagination.next_page === null ? undefined : String(pagination.next_page),
      total: pagination.total_entries ?? undefined,
    };
  };
}

/** Those that match a filter, which must fit into one page: it is for names and marks, of which there is one or none. */
export async function matching<Raw extends { readonly id: number }, Entry>(
  client: HetznerClient,
  family: Family<Raw, Entry>,
  filter: Pick<HetznerCall, "what" | "as"> & { readonly query: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const { query, what } = filter;
  const asked = { ...filter, path: [family.collection], query: { ...query, per_page: String(pageSize) } };
  const answer = await client.get(listShape(family), asked, signal);
  if (answer.meta.pagination.next_page !== null)
    throw new RetryableError("PROVIDER_UNAVAILABLE", `Hetzner Cloud answered ${what} with more than one page`, {
      ambiguous: false,
    });
  return answer.entries.map((raw) => family.entry(raw));
}

/** One by its id; "absent" only where the provider says so. */
export async function findById<Raw extends { readonly id: number }, Entry>(
  client: HetznerClient,
  family: Family<Raw, Entry>,
  id: string,
  signal: AbortSignal,
): Promise<Entry | "absent"> {
  const shape = z.object({ [family.key]: family.shape });
  const call = { path: [family.collection, id], what: `the read of ${family.one} ${id}` };
  const answer = await client.find(shape, call, signal);
  return answer === "absent" ? "absent" : family.entry(answer[family.key] as Raw);
}

/** The one of this name, where names are unique. A server that ignores the filter is not believed. */
export async function findByName<Raw extends { readonly id: number }, Entry extends { readonly name: string }>(
  client: HetznerClient,
  family: Family<Raw, Entry>,
  name: string,
  signal: AbortSignal,
): Promise<Entry | "absent"> {
  const filter = { query: { name }, what: `the read of ${family.one} ${name}` };
  const found = await matching(client, family, filter, signal);
  return found.find((entry) => entry.name === name) ?? "absent";
}

/** The one of this name that Setpoint made: what somebody else called so is not meant. */
export async function requireOurs<Raw extends { readonly id: number }, Entry extends CloudThing>(
  client: HetznerClient,
  family: Family<Raw, Entry>,
  name: string,
  signal: AbortSignal,
): Promise<Entry> {
  const found = await findByName(client, family, name, signal);
  if (found !== "absent" && typeof found.mark === "object" && "installationId" in found.mark) return found;
  const why = found === "absent" ? "is not in the project (yet)" : "is in the project, but Setpoint did not make it";
  throw notReady(`The ${family.one} ${name} ${why}`);
}

/** What is needed is made by somebody, which takes a while: asking again at once would only be calls. */
export function notReady(message: string): RetryableError {
  return new RetryableError("DEPENDENCY_NOT_READY", message, { ambiguous: false, afterMs: 30_000 });
}

function listShape<Raw extends { readonly id: number }, Entry>(family: Family<Raw, Entry>) {
  return z
    .object({ meta, [family.collection]: z.array(family.shape) })
    .transform((answer) => ({ meta: answer.meta, entries: answer[family.collection] as readonly Raw[] })) as z.ZodType<{
    readonly meta: z.output<typeof meta>;
    readonly entries: readonly Raw[];
  }>;
}
