import type { Desired, InputResource, Wanted } from "../../kernel/loop.ts";
import { absoluteIn } from "../dns-record/domain-name.ts";
import { parseDeclaredValue } from "../dns-record/record-value.ts";
import type { DnsRecordSpec } from "../dns-record/schema.ts";
import { type RecordSet, recordSetKey } from "./record-set.ts";

type Record = InputResource<DnsRecordSpec>;

/**
 * Groups the declared records into record sets. A record that cannot be in the zone makes the whole set unknown, which
 * keeps the last good one: leaving just that record out would read as its deletion.
 */
export function desiredRecordSets(zone: string, records: readonly Record[]): Desired<RecordSet> {
  const groups = new Map<string, { readonly name: string; readonly records: Record[] }>();
  for (const record of [...records].sort(byUid)) {
    const name = absoluteIn(zone, record.spec.name);
    if (!name.ok) return unknown(`DnsRecord/${record.name}: ${name.message}`);
    if (name.value === zone && (record.spec.type === "NS" || record.spec.type === "CNAME")) {
      return unknown(`DnsRecord/${record.name}: a ${record.spec.type} record cannot be declared at the zone itself`);
    }
    const key = recordSetKey({ name: name.value, type: record.spec.type });
    const group = groups.get(key) ?? { name: name.value, records: [] };
    group.records.push(record);
    groups.set(key, group);
  }
  const conflict = aliasConflict([...groups.values()]);
  if (conflict !== undefined) return unknown(conflict);
  const items: Wanted<RecordSet>[] = [];
  for (const [key, group] of groups) {
    const item = recordSetOf(group);
    if ("problem" in item) return unknown(item.problem);
    items.push({ key, item, sources: group.records.map(({ uid, generation }) => ({ uid, generation })) });
  }
  return { known: true, items: items.sort((left, right) => (left.key < right.key ? -1 : 1)) };
}

/** Several records of one name and type are one record set: their values together, with the shortest of their TTLs. */
function recordSetOf(group: {
  readonly name: string;
  readonly records: readonly Record[];
}): RecordSet | { readonly problem: string } {
  const values = new Set<string>();
  for (const record of group.records) {
    for (const text of record.spec.values) {
      const value = parseDeclaredValue(record.spec.type, text);
      if (!value.ok) return { problem: `DnsRecord/${record.name}: ${value.message}` };
      values.add(value.value);
    }
  }
  const [first] = group.records;
  return {
    name: group.name,
    type: first?.spec.type ?? "",
    ttlSeconds: Math.min(...group.records.map((record) => record.spec.ttlSeconds)),
    values: [...values].sort(),
  };
}

/** A CNAME stands alone at its name and has one value; a server refuses anything else, and with it the whole batch. */
function aliasConflict(
  groups: readonly { readonly name: string; readonly records: readonly Record[] }[],
): string | undefined {
  for (const alias of groups) {
    const [first, second] = alias.records;
    if (first?.spec.type !== "CNAME") continue;
    if (second !== undefined)
      return `DnsRecord/${first.name} and DnsRecord/${second.name} both declare a CNAME for ${alias.name}: delete one of them`;
    const other = groups.find((group) => group !== alias && group.name === alias.name)?.records[0];
    if (other !== undefined) {
      return `DnsRecord/${first.name} declares a CNAME for ${alias.name}, where DnsRecord/${other.name} declares ${other.spec.type}: a CNAME must stand alone`;
    }
  }
  return undefined;
}

function unknown(reason: string): Desired<RecordSet> {
  return { known: false, reason };
}

function byUid(left: Record, right: Record): number {
  return left.uid < right.uid ? -1 : 1;
}
