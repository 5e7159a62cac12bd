import { TerminalError } from "../../kernel/errors.ts";
import type { DnsRecordSet, DnsZoneReader } from "../../ports/dns.ts";
import type { HetznerClient } from "../hetzner-cloud/client.ts";
import { type Asking, delegationOf } from "../zone-delegation.ts";
import { zoneFacts } from "../zone-facts.ts";
import { ZoneMemory } from "../zone-memory.ts";
import { nameInZone, recordSetOf } from "./record-set.ts";
import { findSet, findZone, listZone, readSerial } from "./zone-listing.ts";

interface Image {
  readonly size: number;
  readonly recordSets: readonly DnsRecordSet[];
}

export type HetznerZoneReader = Omit<DnsZoneReader, "capabilities">;

export function zoneReader(client: HetznerClient, asking: Asking): HetznerZoneReader {
  const memory = new ZoneMemory<Image>();
  const read = (zone: string, fresh: boolean, signal: AbortSignal) => readZone(client, memory, { zone, fresh }, signal);
  return Object.freeze({
    queries: asking.queries,
    zone: (zone: string, signal: AbortSignal, options: { readonly fresh?: boolean } = {}) =>
      read(zone, options.fresh === true, signal),
    recordSet: (
      request: { readonly zone: string; readonly name: string; readonly type: string },
      signal: AbortSignal,
    ) => readRecordSet(client, request, signal),
    facts: async (zone: string, signal: AbortSignal) => {
      const sets = await read(zone, true, signal);
      // Hetzner Cloud signs no zones.
      return sets === undefined ? "absent" : zoneFacts(zone, sets, false);
    },
    delegation: (zone: string, signal: AbortSignal) => delegationOf(asking, zone, signal),
  } satisfies HetznerZoneReader);
}

/** An unchanged serial costs one call, whatever the size of the zone. */
async function readZone(
  client: HetznerClient,
  memory: ZoneMemory<Image>,
  { zone, fresh }: { readonly zone: string; readonly fresh: boolean },
  signal: AbortSignal,
): Promise<readonly DnsRecordSet[] | undefined> {
  const last = fresh ? undefined : memory.last(zone);
  if (last !== undefined && (await readSerial(client, zone, signal)) === last.serial) return last.image.recordSets;
  const found = await listZone(client, zone, signal);
  if (found === "absent") {
    memory.forget(zone);
    return undefined;
  }
  const recordSets = found.sets.map((set) => recordSetOf(zone, found.zone.ttl, set));
  memory.keep(zone, found.serial, { size: recordSets.length, recordSets });
  return recordSets;
}

async function readRecordSet(
  client: HetznerClient,
  { zone, name, type }: { readonly zone: string; readonly name: string; readonly type: string },
  signal: AbortSignal,
): Promise<DnsRecordSet | "absent" | "no-zone"> {
  if (type === "") throw new TerminalError("WILDCARD_REFUSED", `Hetzner Cloud: a read in zone ${zone} names no type`);
  const set = await findSet(client, { zone, name: nameInZone(zone, name), type }, signal);
  if (set !== "absent" && set.ttl !== null) return recordSetOf(zone, set.ttl, set);
  // The answer is the same for a record set that is not there and for a zone that is not.
  const found = await findZone(client, zone, signal);
  if (found === "absent") return "no-zone";
  return set === "absent" ? "absent" : recordSetOf(zone, found.ttl, set);
}
