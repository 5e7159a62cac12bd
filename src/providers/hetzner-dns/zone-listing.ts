import { z } from "zod";
import { RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { HetznerClient } from "../hetzner-cloud/client.ts";
import { type HetznerSet, type HetznerZone, setShape, zonePath, zoneShape } from "./record-set.ts";

/** The most that the API gives in one page of record sets. */
const pageSize = 100;
const pagesAtOnce = 4;
/** How often a list that moved while it was read is walked again. */
const mostWalks = 3;

const oneZone = z.object({ zone: zoneShape });
const oneSet = z.object({ rrset: setShape });
const listShape = z.object({
  rrsets: z.array(setShape),
  meta: z.object({
    pagination: z.object({ page: z.int(), last_page: z.int().nullable(), total_entries: z.int().nullable() }),
  }),
});

/** A zone with all its record sets, as they were together at one serial. */
export interface ZoneListing {
  readonly zone: HetznerZone;
  readonly serial: number;
  readonly sets: readonly HetznerSet[];
}

/** "absent" only where the API itself says that there is no such zone. */
export async function findZone(
  client: HetznerClient,
  zone: string,
  signal: AbortSignal,
): Promise<HetznerZone | "absent"> {
  const call = { path: ["zones", zonePath(zone)], what: `the read of zone ${zone}` };
  const found = await client.find(oneZone, call, signal);
  if (found === "absent") return "absent";
  if (found.zone.mode !== "primary")
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `The zone ${zone} is a secondary at Hetzner (mode ${found.zone.mode}): its records are changed at its primary`,
    );
  return found.zone;
}

export async function findSet(
  client: HetznerClient,
  { zone, name, type }: { readonly zone: string; readonly name: string; readonly type: string },
  signal: AbortSignal,
): Promise<HetznerSet | "absent"> {
  const what = `the read of ${name} ${type} in zone ${zone}`;
  const found = await client.find(oneSet, { path: ["zones", zonePath(zone), "rrsets", name, type], what }, signal);
  return found === "absent" ? "absent" : found.rrset;
}

/** The serial that the zone has now; undefined where the zone says nothing of it. */
export async function readSerial(
  client: HetznerClient,
  zone: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const soa = await findSet(client, { zone, name: "@", type: "SOA" }, signal);
  return soa === "absent" ? undefined : serialOf(soa);
}

/**
 * Everything in the zone. Pages are read one by one, so what they show together is believed only when the serial after the last
 * page is the one that the pages themselves show: a zone that moved meanwhile, and a list that lags behind, are read again.
 */
export async function listZone(
  client: HetznerClient,
  zone: string,
  signal: AbortSignal,
): Promise<ZoneListing | "absent"> {
  let seen = "";
  for (let walk = 0; walk < mostWalks; walk++) {
    const found = await findZone(client, zone, signal);
    if (found === "absent") return "absent";
    const sets = await listSets(client, zone, signal);
    const soa = sets.find(({ name, type }) => name === "@" && type === "SOA");
    const serial = soa === undefined ? undefined : serialOf(soa);
    const now = await readSerial(client, zone, signal);
    const records = sets.reduce((sum, set) => sum + set.records.length, 0);
    const isWhole = records >= found.record_count;
    if (serial !== undefined && serial === now && isWhole) return { zone: found, serial, sets };
    seen = isWhole
      ? `the list shows serial ${serial ?? "none"}, and the zone has ${now ?? "none"}`
      : `the list has ${records} records, and the zone ${found.record_count}`;
  }
  throw unbelievable(
    `the list of record sets of zone ${zone}`,
    `${seen}: it changes too fast, or its list lags behind`,
  );
}

async function listSets(client: HetznerClient, zone: string, signal: AbortSignal): Promise<readonly HetznerSet[]> {
  const what = `the list of record sets of zone ${zone}`;
  const read = async (page: number) => {
    const query = { page: String(page), per_page: String(pageSize), sort: "id:asc" };
    const call = { path: ["zones", zonePath(zone), "rrsets"], query, what: `page ${page} of ${what}` };
    const answer = await client.get(listShape, call, signal);
    if (answer.meta.pagination.page !== page)
      throw unbelievable(what, `page ${answer.meta.pagination.page} came where page ${page} was asked for`);
    return answer;
  };
  const first = await read(1);
  const { last_page: last, total_entries: total } = first.meta.pagination;
  const sets = [...first.rrsets];
  for (let page = 2; page <= (last ?? 1); page += pagesAtOnce) {
    const pages = Array.from({ length: Math.min(pagesAtOnce, (last ?? 1) - page + 1) }, (_, index) => page + index);
    for (const answer of await Promise.all(pages.map(read))) sets.push(...answer.rrsets);
  }
  const known = new Set(sets.map(({ id }) => id));
  if (known.size < sets.length) throw unbelievable(what, "a record set came twice, so another one was left out");
  if (total !== null && total !== sets.length) throw unbelievable(what, `${sets.length} of ${total} came`);
  return sets;
}

function serialOf(soa: HetznerSet): number | undefined {
  const serial = soa.records[0]?.value.split(/\s+/)[2];
  return serial !== undefined && /^\d{1,10}$/.test(serial) ? Number(serial) : undefined;
}

/** A list that cannot be believed says nothing: neither that something is there nor that it is gone. */
function unbelievable(what: string, problem: string): RetryableError {
  return new RetryableError("PROVIDER_UNAVAILABLE", `Hetzner Cloud: ${what} cannot be used: ${problem}`, {
    ambiguous: false,
  });
}
