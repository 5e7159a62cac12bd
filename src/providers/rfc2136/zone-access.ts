import { TerminalError } from "../../kernel/errors.ts";
import type { DnsQueries } from "../../ports/dns-queries.ts";
import type { DnsReader, DnsRecordSet, DnsWriter } from "../../ports/dns.ts";
import { ZoneMemory } from "../zone-memory.ts";
import { untrusted } from "./answer-error.ts";
import { rfc2136Capabilities } from "./capabilities.ts";
import type { Rfc2136Client } from "./client.ts";
import { transferChanges, transferZone } from "./transfer.ts";
import { updateZone } from "./update.ts";
import type { WireMessage, WireRecord } from "./wire/message.ts";
import { answerCodes, operations } from "./wire/numbers.ts";
import { serialOf, type ZoneImage } from "./zone-image.ts";

export function zoneReader(client: Rfc2136Client, queries: DnsQueries | undefined): DnsReader {
  const memory = new ZoneMemory<ZoneImage>();
  return Object.freeze({
    capabilities: rfc2136Capabilities,
    queries,
    zone: async (zone: string, signal: AbortSignal, options: { readonly fresh?: boolean } = {}) => {
      requireName(zone);
      const image = await readZone(client, memory, { zone, fresh: options.fresh === true }, signal);
      if (image === undefined) memory.forget(zone);
      else memory.keep(zone, image.serial, image);
      return image?.recordSets();
    },
    recordSet: async (
      request: { readonly zone: string; readonly name: string; readonly type: string },
      signal: AbortSignal,
    ) => {
      requireName(request.zone);
      requireName(request.name);
      return await readRecordSet(client, request, signal);
    },
  });
}

export function zoneWriter(client: Rfc2136Client): DnsWriter {
  return Object.freeze({
    change: async (zone, changes, signal) => {
      requireName(zone);
      if (changes.length > 0) await updateZone(client, zone, changes, signal);
    },
  } satisfies DnsWriter);
}

/** An unchanged serial costs no transfer; a changed one costs what changed, where the server can say that. */
async function readZone(
  client: Rfc2136Client,
  memory: ZoneMemory<ZoneImage>,
  { zone, fresh }: { readonly zone: string; readonly fresh: boolean },
  signal: AbortSignal,
): Promise<ZoneImage | undefined> {
  const last = fresh ? undefined : memory.last(zone);
  if (last === undefined) {
    const known = memory.peek(zone)?.image;
    const image = await transferZone(client, zone, signal, known);
    if (image === undefined || known?.sameAs(image) !== true) return image;
    // The same zone is handed out as the same list, so that nobody has to work it out again.
    known.digest = image.digest;
    return known;
  }
  const serial = await readSerial(client, zone, signal);
  if (serial === last.serial) return last.image;
  return await transferChanges(client, zone, last.image, signal);
}

/** Undefined when the server does not say; the transfer then tells why. */
async function readSerial(client: Rfc2136Client, zone: string, signal: AbortSignal): Promise<number | undefined> {
  const question = { name: zone, type: "SOA" };
  const accept = [answerCodes.refused, answerCodes.notAuthoritative];
  const what = `the question for the serial of zone ${zone}`;
  const answer = await client.ask({ operation: operations.query, question, part: "read", what, accept }, signal);
  const soa = answer.answers.find(({ name, type }) => name === zone && type === "SOA");
  return soa === undefined || !answer.authoritative ? undefined : serialOf(soa);
}

async function readRecordSet(
  client: Rfc2136Client,
  { zone, name, type }: { readonly zone: string; readonly name: string; readonly type: string },
  signal: AbortSignal,
): Promise<DnsRecordSet | "absent" | "no-zone"> {
  const what = `the question for ${name} ${type} in zone ${zone}`;
  const accept = [answerCodes.noSuchName, answerCodes.refused, answerCodes.notAuthoritative];
  const question = { name, type };
  const answer = await client.ask({ operation: operations.query, question, part: "read", what, accept }, signal);
  if (answer.truncated) throw untrusted(what, "it was cut short");
  // What lies at or below a delegation is not the server's to answer for, although it is in the zone: the zone tells.
  if (!answer.authoritative) return await pickFromZone(client, { zone, name, type }, signal);
  return setOf(answer, name, type) ?? "absent";
}

async function pickFromZone(
  client: Rfc2136Client,
  { zone, name, type }: { readonly zone: string; readonly name: string; readonly type: string },
  signal: AbortSignal,
): Promise<DnsRecordSet | "absent" | "no-zone"> {
  const image = await transferZone(client, zone, signal);
  if (image === undefined) return "no-zone";
  return image.recordSets().find((set) => set.name === name && set.type === type) ?? "absent";
}

function setOf(answer: WireMessage, name: string, type: string): DnsRecordSet | undefined {
  const records = answer.answers.filter((record) => record.name === name && record.type === type);
  return records.length === 0 ? undefined : joined(records);
}

function joined(records: readonly WireRecord[]): DnsRecordSet {
  const [{ name, type } = { name: "", type: "" }] = records;
  const ttlSeconds = Math.min(...records.map((record) => record.ttlSeconds));
  return { name, type, ttlSeconds, values: records.map(({ value }) => value), disabledValues: [] };
}

function requireName(name: string): void {
  if (name === "" || name === ".")
    throw new TerminalError(
      "WILDCARD_REFUSED",
      "A name server was to be asked for nothing, or for the root: both mean everything",
    );
}
