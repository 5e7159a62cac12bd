import { z } from "zod";
import { parseAbsoluteName } from "../dns-record/domain-name.ts";
import { isRecordType, parseDeclaredValue, valuesProblem } from "../dns-record/record-value.ts";
import { recordNameIn } from "../dns-record/record-name.ts";
import { presentationToText } from "../dns-record/text-value.ts";
import type { JsonObject } from "../../ports/json.ts";
import { declarationOfRecordSet } from "./declaration-of.ts";
import { foldSeen, recordSetKey } from "./record-set.ts";
import { parseZoneFile, type ZoneFileEntry, type ZoneFileProblem } from "./zone-file.ts";

/** RFC 2308 4: a file without any TTL is not a zone; an hour is what most servers then assume. */
const assumedTtlSeconds = 3_600;

export interface ReadZoneFile {
  readonly records: readonly { readonly name: string; readonly spec: JsonObject }[];
  /** What a DnsRecord cannot say, or is the server's own. */
  readonly left: readonly ZoneFileProblem[];
  /** What breaks a rule. */
  readonly problems: readonly ZoneFileProblem[];
}

/** A zone file as the DnsRecords that declare what is in it. */
export const zoneFileSchema = z
  .object({ text: z.string(), zone: z.string(), zoneResource: z.string() })
  .transform(({ text, zone, zoneResource }): ReadZoneFile => {
    const apex = parseAbsoluteName(zone);
    if (!apex.ok) return { records: [], left: [], problems: [{ line: 0, message: apex.message }] };
    const file = parseZoneFile(text, apex.value);
    const left: ZoneFileProblem[] = [];
    const problems = [...file.problems];
    const wanted = file.entries.filter((entry) => isOurs(apex.value, entry, left, problems));
    const records = recordsOf({ name: zoneResource, zone: apex.value }, wanted, { left, problems });
    problems.push(...aliasProblems(wanted));
    return { records, left, problems: problems.sort((one, other) => one.line - other.line) };
  });

function isOurs(zone: string, entry: ZoneFileEntry, left: ZoneFileProblem[], problems: ZoneFileProblem[]): boolean {
  const { line, type } = entry;
  const name = parseAbsoluteName(entry.name, { wildcard: true });
  if (type === "SOA" || (type === "NS" && name.ok && name.value === zone)) return false;
  if (!isRecordType(type)) {
    left.push({ line, message: `${entry.name} ${type}: a DnsRecord cannot be of the type ${type}` });
    return false;
  }
  const place = recordNameIn(zone, entry.name, type);
  if (!place.ok) problems.push({ line, message: place.message });
  const value = parseDeclaredValue(type, declaredText(type, entry.words));
  if (!value.ok) problems.push({ line, message: value.message });
  return place.ok && value.ok;
}

function recordsOf(
  zone: { readonly name: string; readonly zone: string },
  entries: readonly ZoneFileEntry[],
  { left, problems }: { readonly left: ZoneFileProblem[]; readonly problems: ZoneFileProblem[] },
): ReadZoneFile["records"] {
  const records: { readonly name: string; readonly spec: JsonObject }[] = [];
  for (const group of Map.groupBy(entries, keyOf).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const ttls = group.map(({ ttlSeconds }) => ttlSeconds ?? assumedTtlSeconds);
    const { name, type, line } = first;
    const values = group.map(({ words }) => words.join(" "));
    const recordSet = foldSeen({ name, type, ttlSeconds: Math.min(...ttls), values, disabledValues: [] });
    const together = isRecordType(type) ? valuesProblem(type, recordSet.values) : undefined;
    const made = declarationOfRecordSet(zone, recordSet);
    if (together !== undefined) problems.push({ line, message: `${name} ${type}: ${together}` });
    else if (made.ok) records.push({ name: made.name, spec: made.spec });
    else left.push({ line, message: `${name} ${type}: ${made.message}` });
  }
  return records;
}

function aliasProblems(entries: readonly ZoneFileEntry[]): readonly ZoneFileProblem[] {
  const byName = Map.groupBy(entries, ({ name }) => name.toLowerCase());
  return [...byName.values()].flatMap((group) => {
    const alias = group.find(({ type }) => type === "CNAME");
    const other = group.find(({ type }) => type !== "CNAME");
    if (alias === undefined || other === undefined) return [];
    const message = `a CNAME must stand alone, and line ${other.line} has ${other.type} for ${alias.name} too (RFC 1034 3.6.2)`;
    return [{ line: alias.line, message }];
  });
}

function keyOf({ name, type }: ZoneFileEntry): string {
  const parsed = parseAbsoluteName(name, { wildcard: true });
  return recordSetKey({ name: parsed.ok ? parsed.value : name, type });
}

function declaredText(type: string, words: readonly string[]): string {
  const value = words.join(" ");
  return type === "TXT" ? (presentationToText(value) ?? value) : value;
}
