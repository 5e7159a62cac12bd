import type { Desired, InputResource, Wanted } from "../../kernel/loop.ts";
import type { PublishedSource } from "../../ports/records.ts";
import { absoluteIn } from "../dns-record/domain-name.ts";
import { nameProblem } from "../dns-record/record-name.ts";
import { parseDeclaredValue, valuesProblem } from "../dns-record/record-value.ts";
import type { DnsRecordSpec } from "../dns-record/schema.ts";
import { type Delegation, delegationProblem } from "./delegation.ts";
import { type RecordSet, recordSetKey } from "./record-set.ts";

type Record = InputResource<DnsRecordSpec>;
type Sources = ReadonlyMap<string, readonly PublishedSource[]>;
type Stale = { readonly key: string; readonly reason: string };

interface Group {
  readonly key: string;
  readonly name: string;
  readonly records: Record[];
}

/**
 * Groups the declared records into record sets. Records that contradict a rule or one another leave the record sets they
 * speak of as they were last wanted: leaving them out would read as a deletion, and the rest of the zone goes on. A record
 * that lies in no place of the zone makes all of it unknown, because nobody can say which record set it was.
 */
export function desiredRecordSets(
  { zone, ...place }: { readonly zone: string; readonly scope: string; readonly delegations: readonly Delegation[] },
  records: readonly Record[],
  published: readonly PublishedSource[] = [],
): Desired<RecordSet> {
  const sources = Map.groupBy(published, ({ inputUid }) => inputUid);
  const groups = new Map<string, Group>();
  const stale: Stale[] = [];
  const outside: Stale[] = [];
  for (const record of [...records].sort(byUid)) {
    const { type } = record.spec;
    const name = absoluteIn(zone, record.spec.name);
    if (!name.ok) return { known: false, reason: `DnsRecord/${record.name}: ${name.message}` };
    const key = recordSetKey({ name: name.value, type });
    const foreign = delegationProblem({ zone, ...place }, name.value, record.scope);
    // It has no say in a record set of somebody else, and must not keep that one's owner from changing it.
    if (foreign !== undefined) {
      outside.push({ key, reason: `DnsRecord/${record.name}: ${foreign}` });
      continue;
    }
    const problem = nameProblem(zone, name.value, type);
    if (problem !== undefined) stale.push({ key, reason: `DnsRecord/${record.name}: ${problem}` });
    const group = groups.get(key) ?? { key, name: name.value, records: [] };
    group.records.push(record);
    groups.set(key, group);
  }
  stale.push(...aliasConflicts(groups));
  const items: Wanted<RecordSet>[] = [];
  const left = new Set(stale.map(({ key }) => key));
  for (const group of groups.values()) {
    if (left.has(group.key)) continue;
    const item = recordSetOf(group, sources);
    if ("problem" in item) stale.push({ key: group.key, reason: item.problem });
    else
      items.push({
        key: group.key,
        item,
        sources: group.records.map(({ uid, generation }) => ({ uid, generation })),
      });
  }
  stale.push(...outside);
  items.sort((left, right) => (left.key < right.key ? -1 : 1));
  return stale.length === 0 ? { known: true, items } : { known: true, items, stale };
}

/** Several records of one name and type are one record set: their values together, with the shortest of their TTLs. */
function recordSetOf(group: Group, sources: Sources): RecordSet | { readonly problem: string } {
  const values = new Set<string>();
  for (const record of group.records) {
    const taken = takenValues(record, sources.get(record.uid) ?? []);
    if ("problem" in taken) return taken;
    for (const text of [...record.spec.values, ...taken.values]) {
      const value = parseDeclaredValue(record.spec.type, text);
      if (!value.ok) return { problem: `DnsRecord/${record.name}: ${value.message}` };
      values.add(value.value);
    }
  }
  const [first] = group.records;
  if (first === undefined) return { problem: `${group.key} has no records` };
  const { type } = first.spec;
  const sorted = [...values].sort();
  const together = valuesProblem(type, sorted);
  if (together !== undefined) {
    const names = group.records.map(({ name }) => `DnsRecord/${name}`).join(" and ");
    return { problem: `${names} together declare ${group.key}: ${together}` };
  }
  const ttlSeconds = Math.min(...group.records.map((record) => record.spec.ttlSeconds));
  return { name: group.name, type, ttlSeconds, values: sorted };
}

/** What other resources show for this record. One that shows nothing leaves the whole record set as it was last wanted. */
function takenValues(
  { name, scope, spec }: Record,
  published: readonly PublishedSource[],
): { readonly values: readonly string[] } | { readonly problem: string } {
  const values: string[] = [];
  for (const from of spec.valuesFrom ?? []) {
    const isThere = (source: PublishedSource) =>
      from.scope === undefined ? source.scope === scope : source.scope.startsWith(`${from.scope}/`);
    const source = published.find((one) => one.kind === from.kind && one.name === from.name && isThere(one));
    const shown = source?.values[from.field] ?? [];
    if (shown.length === 0) return { problem: `DnsRecord/${name}: ${from.kind}/${from.name} shows no ${from.field}` };
    values.push(...shown);
  }
  return { values };
}

/** A CNAME stands alone at its name; a server refuses anything else, and with it the whole batch. */
function aliasConflicts(groups: ReadonlyMap<string, Group>): readonly Stale[] {
  const found: Stale[] = [];
  const aliases = [...groups.values()].filter(({ records }) => records[0]?.spec.type === "CNAME");
  if (aliases.length === 0) return [];
  const byName = Map.groupBy(groups.values(), ({ name }) => name);
  for (const alias of aliases) {
    const others = (byName.get(alias.name) ?? []).filter((group) => group !== alias);
    const [other] = others;
    const [first, second] = alias.records;
    if (second !== undefined) {
      const reason = `DnsRecord/${first?.name} and DnsRecord/${second.name} both declare a CNAME for ${alias.name}: delete one of them`;
      found.push({ key: alias.key, reason });
    }
    if (other === undefined) continue;
    const reason = `DnsRecord/${first?.name} declares a CNAME for ${alias.name}, where DnsRecord/${other.records[0]?.name} declares ${other.records[0]?.spec.type}: a CNAME must stand alone (RFC 1034 3.6.2)`;
    found.push(...[alias, ...others].map(({ key }) => ({ key, reason })));
  }
  return found;
}

function byUid(left: Record, right: Record): number {
  return left.uid < right.uid ? -1 : 1;
}
