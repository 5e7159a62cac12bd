import { hash } from "node:crypto";
import type { z } from "zod";
import { TerminalError } from "../../kernel/errors.ts";
import type { DnsChange, DnsRecordSet, DnsZoneReader, DnsZoneWriter } from "../../ports/dns.ts";
import { type Asking, delegationOf } from "../zone-delegation.ts";
import { zoneFacts } from "../zone-facts.ts";
import { ZoneMemory } from "../zone-memory.ts";
import { powerDnsCapabilities } from "./capabilities.ts";
import { parseBody, type PowerDnsClient, zoneHeadSchema, zoneSchema } from "./client.ts";

type Zone = z.output<typeof zoneSchema>;

/** A secondary's records come from its primary: whatever is written here is undone by the next transfer. */
const secondaryKinds = new Set(["Slave", "Secondary", "Consumer"]);

export function zoneReader(client: PowerDnsClient, asking: Asking): DnsZoneReader {
  const memory: Memory = new ZoneMemory();
  return Object.freeze({
    capabilities: powerDnsCapabilities,
    queries: asking.queries,
    facts: async (zone: string, signal: AbortSignal) => {
      const call = { path: ["zones", zoneId(zone)], what: `the read of zone ${zone}` };
      const found = await client.find(zoneSchema, call, signal);
      if (found === undefined) return "absent";
      return zoneFacts(zone, recordSetsOf(zone, found), found.dnssec === true);
    },
    delegation: (zone: string, signal: AbortSignal) => delegationOf(asking, zone, signal),
    zone: (zone: string, signal: AbortSignal, options: { readonly fresh?: boolean } = {}) =>
      readZone(client, memory, { zone, fresh: options.fresh === true }, signal),
    recordSet: async (
      request: { readonly zone: string; readonly name: string; readonly type: string },
      signal: AbortSignal,
    ) => {
      const { zone, name, type } = request;
      const what = `the read of ${name} ${type} in zone ${zone}`;
      if (name === "" || type === "") throw new TerminalError("WILDCARD_REFUSED", `PowerDNS: ${what} names nothing`);
      const call = { path: ["zones", zoneId(zone)], query: { rrset_name: name, rrset_type: type }, what };
      const found = await client.find(zoneSchema, call, signal);
      if (found === undefined) return "no-zone";
      // A server that does not know the filter answers with the whole zone, so the match is made here once more.
      const match = recordSetsOf(zone, found).find(
        (recordSet) => recordSet.name.toLowerCase() === name && recordSet.type === type,
      );
      return match ?? "absent";
    },
  });
}

/** How the server says that it edits serials so that each change has one of its own; EPOCH gives two within a second the same. */
const tellingSerials = new Set(["DEFAULT", "INCREASE", "SOA-EDIT-INCREASE"]);

interface Image {
  readonly size: number;
  /** Of the answer it was read from: the same answer need not be read again. */
  readonly digest: string;
  readonly recordSets: readonly DnsRecordSet[];
}

type Memory = ZoneMemory<Image>;

/** An unchanged serial costs no transfer, where the serial can be relied upon. */
async function readZone(
  client: PowerDnsClient,
  memory: Memory,
  { zone, fresh }: { readonly zone: string; readonly fresh: boolean },
  signal: AbortSignal,
): Promise<readonly DnsRecordSet[] | undefined> {
  const path = ["zones", zoneId(zone)];
  const last = fresh ? undefined : memory.last(zone);
  if (last !== undefined) {
    const call = { path, query: { rrsets: "false" }, what: `the read of the serial of zone ${zone}` };
    const now = await client.find(zoneHeadSchema, call, signal);
    if (now?.serial === last.serial && tellingSerials.has(now.soa_edit_api ?? "")) return last.image.recordSets;
  }
  const what = `the read of zone ${zone}`;
  const answer = await client.findText({ path, what }, signal);
  if (answer === undefined) {
    memory.forget(zone);
    return undefined;
  }
  const digest = hash("sha256", answer.text);
  const same = memory.peek(zone);
  if (same?.image.digest === digest) {
    memory.keep(zone, same.serial, same.image);
    return same.image.recordSets;
  }
  const found = parseBody(zoneSchema, what, answer);
  const recordSets = recordSetsOf(zone, found);
  const { serial } = found;
  // Only when the records were read at the serial that came with them.
  const soa = recordSets.find(({ type }) => type === "SOA")?.values[0]?.split(" ")[2];
  if (serial !== undefined && soa === String(serial))
    memory.keep(zone, serial, { size: recordSets.length, digest, recordSets });
  else memory.forget(zone);
  return recordSets;
}

export function zoneWriter(client: PowerDnsClient): DnsZoneWriter {
  return Object.freeze({
    createZone: async (zone: string, nameservers: readonly string[], signal: AbortSignal) => {
      zoneId(zone);
      const body = { name: zone, kind: "Native", nameservers };
      await client.write({ method: "POST", path: ["zones"], body, what: `the making of zone ${zone}` }, signal);
    },
    deleteZone: (zone: string, signal: AbortSignal) => {
      const call = { method: "DELETE" as const, path: ["zones", zoneId(zone)], what: `the deletion of zone ${zone}` };
      return client.write(call, signal, [404]);
    },
    signZone: (zone: string, signal: AbortSignal) => {
      const call = { method: "PUT" as const, path: ["zones", zoneId(zone)], body: { dnssec: true } };
      return client.write({ ...call, what: `the signing of zone ${zone}` }, signal);
    },
    change: async (zone: string, changes: readonly DnsChange[], signal: AbortSignal) => {
      if (changes.length === 0) return;
      // In this order: a CNAME is refused beside what the same call removes after it.
      const ordered = changes.toSorted(
        (left, right) => Number(right.action === "delete") - Number(left.action === "delete"),
      );
      const rrsets = ordered.map((change) =>
        change.action === "delete"
          ? { name: change.name, type: change.type, changetype: "DELETE" }
          : {
              name: change.recordSet.name,
              type: change.recordSet.type,
              ttl: change.recordSet.ttlSeconds,
              changetype: "REPLACE",
              records: change.recordSet.values.map((content) => ({ content, disabled: false })),
            },
      );
      if (rrsets.some((set) => set.name === "" || set.type === "" || set.records?.length === 0)) {
        throw new TerminalError(
          "WILDCARD_REFUSED",
          `PowerDNS: a change in zone ${zone} names nothing, or would write an empty record set`,
        );
      }
      const what = `the change of ${changes.length} record set${changes.length === 1 ? "" : "s"} in zone ${zone}`;
      // One PATCH is one transaction at the server: it checks every record set before it writes the first.
      await client.write({ method: "PATCH", path: ["zones", zoneId(zone)], body: { rrsets }, what }, signal);
    },
  });
}

function recordSetsOf(zone: string, found: Zone): readonly DnsRecordSet[] {
  if (secondaryKinds.has(found.kind)) {
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `The zone ${zone} is a secondary on this server (kind ${found.kind}): its records are changed at its primary`,
    );
  }
  return found.rrsets.map((set) => ({
    name: set.name,
    type: set.type,
    ttlSeconds: set.ttl,
    values: set.records.filter((record) => !record.disabled).map((record) => record.content),
    disabledValues: set.records.filter((record) => record.disabled).map((record) => record.content),
  }));
}

/** PowerDNS's own encoding of a zone name into its id: what is not a letter, digit, dot or hyphen becomes `=XX`. */
export function zoneId(zone: string): string {
  if (zone === "" || zone === ".") {
    throw new TerminalError(
      "WILDCARD_REFUSED",
      "PowerDNS: a zone must be named; the root and an empty name are refused",
    );
  }
  return zone.replace(
    /[^A-Za-z0-9.-]/g,
    (character) => `=${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
