import type { CycleInput, FieldDifference, OwnedItem, StoredObservation, StoredWanted } from "../ports/records.ts";
import type { Json } from "../ports/json.ts";
import { parsedSubject } from "./parsed-subject.ts";
import { desiredSet } from "./desired-set.ts";
import { covers } from "./diff.ts";
import { digestOf, redacted } from "./hash.ts";
import { type IgnoreRuleFrom, ignoring, type Split } from "./ignored.ts";
import type { Kind, KindRegistry } from "./kind.ts";
import type { Loop, Wanted } from "./loop.ts";
import { effectivePolicy } from "./policy.ts";

/** One field that is not the same on every side. */
export interface ComparedField extends FieldDifference {
  /** What was last wanted; undefined where the item was not. */
  readonly last: Json | undefined;
  /** The rule by which it is left as it is. */
  readonly rule: IgnoreRuleFrom | undefined;
}

/** One outside thing: as it is declared now, as a cycle last wanted it, and as it was last seen. */
export interface ComparedItem {
  readonly key: string;
  readonly externalId: string | undefined;
  readonly owned: OwnedItem | undefined;
  readonly declared: Json | undefined;
  readonly last: Json | undefined;
  /** That what was last wanted is what was last written, and not only meant to be. */
  readonly written: boolean;
  readonly seen: Json | undefined;
  readonly fields: readonly ComparedField[];
  /** Uids of the resources that declare it. */
  readonly sources: readonly string[];
}

/**
 * The three sides of everything a subject is about, by the very code of its cycle. Secrets are shown as their digests. It throws
 * where a cycle would stop before it knows what is wanted.
 */
export async function compared(
  kinds: KindRegistry,
  kind: Kind & { readonly loop: Loop<unknown, object> },
  input: CycleInput,
  observation: StoredObservation,
): Promise<readonly ComparedItem[]> {
  const { loop } = kind;
  const { memory, resource } = input;
  const desired = await desiredSet(loop, parsedSubject(kind, input), input, kinds);
  const wanted = new Map(desired.items.map((item) => [item.key, item]));
  const last = new Map((memory.lastDesired ?? []).map((item) => [item.key, item]));
  const owned = new Map(memory.owned.map((item) => [item.key, item]));
  // What is on record keeps the key it was recorded under, whatever it is called outside by now.
  const recorded = new Map(memory.owned.map((item) => [item.externalId, item.key]));
  const seen = new Map<string, StoredObservation["items"][number]>();
  for (const one of observation.items) {
    const key = recorded.get(one.externalId) ?? one.key;
    if (!seen.has(key) || recorded.has(one.externalId)) seen.set(key, one);
  }
  const { ignore } = effectivePolicy(input.policies, loop.limits);
  const split = ignoring(ignore, resource, input.inputs, input.storeNowMs);
  const keys = [...new Set([...wanted.keys(), ...owned.keys(), ...seen.keys()])].sort();
  return keys.map((key) =>
    comparedItem(loop, split, {
      key,
      wanted: wanted.get(key),
      last: last.get(key),
      owned: owned.get(key),
      seen: seen.get(key),
    }),
  );
}

interface Sides {
  readonly key: string;
  readonly wanted: Wanted<object> | undefined;
  readonly last: StoredWanted | undefined;
  readonly owned: OwnedItem | undefined;
  readonly seen: StoredObservation["items"][number] | undefined;
}

function comparedItem(
  loop: Loop<unknown, object>,
  split: (wanted: Wanted<object>, differences: readonly FieldDifference[]) => Split,
  { key, wanted, last, owned, seen }: Sides,
): ComparedItem {
  const lastItem = last?.item as object | undefined;
  return {
    key,
    externalId: seen?.externalId ?? owned?.externalId,
    owned,
    declared: wanted === undefined ? undefined : redacted(wanted.item),
    last: last?.item,
    written: lastItem !== undefined && owned?.wantedHash === digestOf(loop.stable?.(lastItem) ?? lastItem),
    seen: seen?.item,
    fields: fieldsOf(loop, split, { wanted, lastItem, seenItem: seen?.item as object | undefined }),
    sources: (wanted?.sources ?? []).map(({ uid }) => uid),
  };
}

function fieldsOf(
  loop: Loop<unknown, object>,
  split: (wanted: Wanted<object>, differences: readonly FieldDifference[]) => Split,
  sides: {
    readonly wanted: Wanted<object> | undefined;
    readonly lastItem: object | undefined;
    readonly seenItem: object | undefined;
  },
): readonly ComparedField[] {
  const { wanted, lastItem, seenItem } = sides;
  if (wanted === undefined || seenItem === undefined) return [];
  const { acted, ignored } = split(wanted, loop.same(wanted.item, seenItem));
  const lastDiffers = lastItem === undefined ? [] : loop.same(lastItem, seenItem);
  const withLast = (difference: FieldDifference, rule: IgnoreRuleFrom | undefined): ComparedField => ({
    field: difference.field,
    wanted: difference.wanted,
    seen: difference.seen,
    last: lastItem === undefined ? undefined : lastValue(difference, lastDiffers, lastItem),
    rule,
  });
  return [
    ...acted.map((difference) => withLast(difference, undefined)),
    ...ignored.map((difference) => withLast(difference, difference.rule)),
  ].sort((left, right) => (left.field < right.field ? -1 : left.field > right.field ? 1 : 0));
}

/** In the words of the kind's own comparison; where what was last wanted is what was seen, the seen value is it. */
function lastValue(
  { field, seen }: FieldDifference,
  differences: readonly FieldDifference[],
  lastItem: object,
): Json | undefined {
  const same = differences.find((difference) => difference.field === field);
  if (same !== undefined) return same.wanted;
  const near = differences.some((difference) => covers(field, difference.field) || covers(difference.field, field));
  return near ? valueAt(lastItem, field) : seen;
}

function valueAt(item: unknown, pointer: string): Json | undefined {
  let value: unknown = item;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return redacted(value);
}
