import { z } from "zod";
import { isoSecond } from "../../runtime/iso-second.ts";
import { labelsSchema } from "./body.ts";
import { HetznerError, invalidInput } from "./errors.ts";
import type { DnsRecord, RrSet, Zone } from "./rows.ts";

export const nameservers = ["hydrogen.ns.hetzner.com.", "oxygen.ns.hetzner.com.", "helium.ns.hetzner.de."];

const types = "A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SOA SRV SVCB TLSA TXT".split(" ");
export const typeSchema = z.string().refine((type) => types.includes(type), "is not a known type of records");
export const ttlSchema = z.int().min(60, "must be at least 60").max(2_147_483_647);
export const recordsSchema = z
  .array(z.object({ value: z.string().min(1), comment: z.string().optional() }))
  .min(1)
  .max(50, "has too many entries");
export const rrSetSchema = z.object({
  name: z.string().min(1),
  type: typeSchema,
  ttl: ttlSchema.nullish(),
  labels: labelsSchema.default({}),
  records: recordsSchema,
});

export function rrSetOf(body: z.output<typeof rrSetSchema>): RrSet {
  const { name, type, labels } = body;
  const records = body.records.map(({ value, comment }) => ({ value, comment }));
  return checkedSet({
    name: name.toLowerCase(),
    type,
    labels,
    ttl: body.ttl ?? undefined,
    isProtected: false,
    records,
  });
}

/** The set, once its values are known to be of its type, each of them once. */
export function checkedSet(set: RrSet): RrSet {
  const values = set.records.map(({ value }) => value);
  if (new Set(values).size < values.length) throw invalidInput("records", "contains a value twice");
  const isWrong = values.some((value) => {
    if (set.type === "A") return !z.ipv4().safeParse(value).success;
    if (set.type === "AAAA") return !z.ipv6().safeParse(value).success;
    return set.type === "TXT" && !/^("([^"\\]|\\.)*"\s*)+$/.test(value);
  });
  if (isWrong) throw invalidInput("records", `contains a value that is none of type ${set.type}`);
  if (set.type === "CNAME" && values.length > 1) throw invalidInput("records", "can be one only for CNAME");
  return set;
}

/** What every zone begins with. */
export function firstSets(nowMs: number): RrSet[] {
  const own = { ttl: undefined, labels: {}, isProtected: false };
  const record = (value: string): DnsRecord => ({ value, comment: undefined });
  const soa = `${nameservers[0] ?? ""} dns.hetzner.com. ${firstSerialOf(nowMs)} 86400 10800 3600000 3600`;
  return [
    { ...own, name: "@", type: "SOA", records: [record(soa)] },
    { ...own, name: "@", type: "NS", records: nameservers.map(record) },
  ];
}

/** By convention the day and two digits. */
function firstSerialOf(nowMs: number): number {
  return Number(isoSecond(nowMs).slice(0, 10).replaceAll("-", "")) * 100;
}

/** The zone after a change: what is served otherwise than before has a serial of its own. */
export function withNewSerial(before: Zone, after: Zone, nowMs: number): Zone {
  if (after.mode !== "primary" || (before.rrsets === after.rrsets && before.ttl === after.ttl)) return after;
  const last = Math.max(...[before, after].map(serialOf));
  const serial = Math.max(last + 1, firstSerialOf(nowMs));
  const rrsets = after.rrsets.map((set) =>
    set.name === "@" && set.type === "SOA"
      ? { ...set, records: set.records.map((record) => ({ ...record, value: withSerial(record.value, serial) })) }
      : set,
  );
  return { ...after, rrsets };
}

function serialOf({ rrsets }: Zone): number {
  const soa = rrsets.find(({ name, type }) => name === "@" && type === "SOA");
  return Number(soa?.records[0]?.value.split(" ")[2] ?? 0);
}

function withSerial(soa: string, serial: number): string {
  return soa.split(" ").with(2, String(serial)).join(" ");
}

/** A zone with a set more, which must fit beside the others. */
export function withSet(zone: Zone, set: RrSet): Zone {
  if (zone.rrsets.some((other) => other.name === set.name && other.type === set.type)) {
    throw new HetznerError(409, "uniqueness_error", "RRSet with the same name and type already exists", {
      fields: [{ name: "name" }, { name: "type" }],
    });
  }
  const neighbours = zone.rrsets.filter((other) => other.name === set.name);
  if (neighbours.some((other) => (other.type === "CNAME") !== (set.type === "CNAME"))) {
    throw invalidInput("type", "CNAME cannot stand beside other records of its name");
  }
  return { ...zone, rrsets: [...zone.rrsets, set] };
}

export function rrSetBody(zone: Zone, set: RrSet): unknown {
  return {
    id: `${set.name}/${set.type}`,
    name: set.name,
    type: set.type,
    ttl: set.ttl ?? null,
    labels: set.labels,
    protection: { change: set.isProtected },
    records: set.records.map(({ value, comment }) => (comment === undefined ? { value } : { value, comment })),
    zone: zone.id,
  };
}

/** The zone in BIND's format. */
export function zoneFile(zone: Zone): string {
  const lines = zone.rrsets.flatMap((set) =>
    set.records.map(({ value, comment }) => {
      const note = comment === undefined ? "" : ` ; ${comment}`;
      return `${set.name}\t${set.ttl === undefined ? "" : `${set.ttl}\t`}IN\t${set.type}\t${value}${note}`;
    }),
  );
  return [`$ORIGIN\t${zone.name}.`, `$TTL\t${zone.ttl}`, "", ...lines, ""].join("\n");
}

/** The sets of a file in BIND's format, one record a line. */
export function setsOfFile(
  zone: Pick<Zone, "name" | "ttl">,
  text: string,
): { readonly ttl: number; readonly sets: RrSet[] } {
  const sets = new Map<string, RrSet>();
  let { ttl } = zone;
  for (const line of text.split("\n")) {
    if (/^\s*(;.*)?$/.test(line)) continue;
    const [, word, value = ""] = /^\$(ORIGIN|TTL)\s+(\S+)/.exec(line) ?? [];
    if (word === "TTL") ttl = Number(value);
    else if (word === "ORIGIN") {
      if (value !== `${zone.name}.`) throw invalidInput("zonefile", "has another $ORIGIN than the zone's name");
    } else addLine(sets, line);
  }
  return { ttl, sets: [...sets.values()].map(checkedSet) };
}

function addLine(sets: Map<string, RrSet>, line: string): void {
  const pattern =
    /^(\S+)\s+(?:(\d+)\s+)?(?:IN\s+)?(?:(\d+)\s+)?([A-Z]+)\s+((?:"(?:[^"\\]|\\.)*"|[^;"])+?)\s*(?:;\s*(.*))?$/;
  const [, name = "", early, late, type = "", value = "", comment] = pattern.exec(line) ?? [];
  if (!types.includes(type)) throw invalidInput("zonefile", `has a line that is no record: ${line.slice(0, 60)}`);
  const ttl = early ?? late;
  const key = `${name.toLowerCase()}/${type}`;
  const own = { name: name.toLowerCase(), type, ttl: ttl === undefined ? undefined : Number(ttl), labels: {} };
  const set = sets.get(key) ?? { ...own, isProtected: false, records: [] };
  sets.set(key, { ...set, records: [...set.records, { value: value.trim(), comment }] });
}
