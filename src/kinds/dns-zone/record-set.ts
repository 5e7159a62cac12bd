import type { DnsRecordSet } from "../../ports/dns.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { parseAbsoluteName } from "../dns-record/domain-name.ts";
import { foldSeenValue } from "../dns-record/record-value.ts";

/** All records of one name and type, in the one form in which equal things are equal: folded values, sorted. */
export interface RecordSet extends Omit<DnsRecordSet, "disabledValues" | "lockedBy"> {
  /** Only where there are any: values the server keeps and does not serve. */
  readonly disabledValues?: readonly string[];
  /** Only where the provider keeps it from being changed. */
  readonly lockedBy?: string | undefined;
  /** Only where they are written otherwise on the server, as a text that is cut elsewhere: its own words, for conditions. */
  readonly serverValues?: readonly string[];
  /** Only where the provider has one: smaller TTLs are stored as this one. */
  readonly leastTtlSeconds?: number;
}

export function recordSetKey(recordSet: { readonly name: string; readonly type: string }): string {
  return `${recordSet.name} ${recordSet.type}`;
}

/** A record set as a provider shows it, made comparable. */
export function foldSeen(seen: DnsRecordSet, leastTtlSeconds = 0): RecordSet {
  const fold = (values: readonly string[]) =>
    values.length === 1
      ? [foldSeenValue(seen.type, values[0] ?? "")]
      : [...new Set(values.map((value) => foldSeenValue(seen.type, value)))].sort();
  const values = fold(seen.values);
  const asServed = seen.values.every((value) => values.includes(value));
  const name = parseAbsoluteName(seen.name, { wildcard: true, root: true });
  return {
    name: name.ok ? name.value : seen.name.toLowerCase(),
    type: seen.type.toUpperCase(),
    ttlSeconds: seen.ttlSeconds,
    values,
    ...(asServed ? {} : { serverValues: [...seen.values].sort() }),
    ...(leastTtlSeconds === 0 ? {} : { leastTtlSeconds }),
    ...(seen.lockedBy === undefined ? {} : { lockedBy: seen.lockedBy }),
    ...(seen.disabledValues.length === 0 ? {} : { disabledValues: fold(seen.disabledValues) }),
  };
}

/** What it is, without how the server happens to write it. */
export function stableRecordSet({ name, type, ttlSeconds, values, disabledValues }: RecordSet): object {
  return { name, type, ttlSeconds, values, ...(disabledValues === undefined ? {} : { disabledValues }) };
}

/** Field by field, with the whole list of values as one field: their order means nothing, so positions would mislead. */
export function sameRecordSet(wanted: RecordSet, seen: RecordSet): readonly FieldDifference[] {
  if (isPlainlySame(wanted, seen)) return nothing;
  const differences: FieldDifference[] = [];
  const ttlSeconds = Math.max(wanted.ttlSeconds, seen.leastTtlSeconds ?? 0);
  if (ttlSeconds !== seen.ttlSeconds) {
    differences.push({ field: "/ttlSeconds", wanted: ttlSeconds, seen: seen.ttlSeconds });
  }
  for (const field of ["values", "disabledValues"] as const) {
    const [want, have] = [wanted[field] ?? [], seen[field] ?? []];
    if (!sameList(want, have)) differences.push({ field: `/${field}`, wanted: [...want], seen: [...have] });
  }
  return differences;
}

const nothing: readonly FieldDifference[] = Object.freeze([]);

/** Nearly all of them, at each look: no lists are made for it. */
function isPlainlySame(wanted: RecordSet, seen: RecordSet): boolean {
  return (
    wanted.ttlSeconds === seen.ttlSeconds &&
    wanted.disabledValues === undefined &&
    seen.disabledValues === undefined &&
    wanted.ttlSeconds >= (seen.leastTtlSeconds ?? 0) &&
    sameList(wanted.values, seen.values)
  );
}

function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}
