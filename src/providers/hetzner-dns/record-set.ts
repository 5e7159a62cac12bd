import { z } from "zod";
import { TerminalError } from "../../kernel/errors.ts";
import type { DnsRecordSet } from "../../ports/dns.ts";

/** The shapes we rely on; fields we do not use may come and go. */
export const zoneShape = z.object({
  id: z.int(),
  name: z.string(),
  mode: z.string(),
  ttl: z.int(),
  record_count: z.int(),
});
export type HetznerZone = z.output<typeof zoneShape>;

export const setShape = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  ttl: z.int().nullable(),
  protection: z.object({ change: z.boolean() }),
  records: z.array(z.object({ value: z.string() })),
});
export type HetznerSet = z.output<typeof setShape>;

/** A record set as everybody else writes it: names absolute, and the zone's TTL where it has none of its own. */
export function recordSetOf(zone: string, zoneTtlSeconds: number, set: HetznerSet): DnsRecordSet {
  return {
    name: absoluteName(zone, set.name),
    type: set.type,
    ttlSeconds: set.ttl ?? zoneTtlSeconds,
    values: set.records.map(({ value }) => absoluteValue(zone, set.type, value)),
    disabledValues: [],
    ...(set.protection.change ? { lockedBy: "change protection of the record set" } : {}),
  };
}

/** Where in a value of this type the name of a host stands. */
const placeOfName: Readonly<Record<string, number>> = { CNAME: 0, HTTPS: 1, MX: 1, NS: 0, PTR: 0, SRV: 3, SVCB: 1 };

/** A name in a value that does not end with a dot lies in the zone. */
export function absoluteValue(zone: string, type: string, value: string): string {
  const place = placeOfName[type];
  if (place === undefined) return value;
  const words = value.trim().split(/\s+/);
  const name = words[place];
  if (name === undefined || name.endsWith(".")) return value;
  return words.with(place, absoluteName(zone, name)).join(" ");
}

function absoluteName(zone: string, name: string): string {
  return name === "@" ? zone : `${name}.${zone}`;
}

/** How the API calls a name of the zone. */
export function nameInZone(zone: string, name: string): string {
  if (name === zone) return "@";
  if (name !== "" && name.endsWith(`.${zone}`)) return name.slice(0, -zone.length - 1);
  throw new TerminalError("WILDCARD_REFUSED", `Hetzner Cloud: "${name}" is no name in the zone ${zone}`);
}

/** How the API calls a zone: without the dot at its end. */
export function zonePath(zone: string): string {
  if (zone !== "" && zone !== "." && zone.endsWith(".")) return zone.slice(0, -1);
  throw new TerminalError(
    "WILDCARD_REFUSED",
    "Hetzner Cloud: a zone must be named; the root and an empty name are refused",
  );
}
