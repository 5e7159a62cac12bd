import type { Json } from "../ports/json.ts";
import type { FieldDifference } from "../ports/records.ts";
import { canonical, redacted } from "./hash.ts";
import { Secret } from "./secret.ts";

/**
 * How a provider's view of a thing is made comparable with ours. Fields are JSON pointers inside the item;
 * `*` stands for every element of a list or every key of an object.
 */
export interface CompareRules {
  /** What the provider fills in when we leave a field out. */
  readonly defaults?: Readonly<Record<string, Json>>;
  /** Lists whose order means nothing. */
  readonly unordered?: readonly string[];
  /** Text whose case means nothing. */
  readonly caseless?: readonly string[];
  /** Fields left out of the comparison, each with the rule that says why. */
  readonly ignored?: readonly { readonly field: string; readonly rule: string }[];
}

export interface Comparison {
  readonly differences: readonly FieldDifference[];
  /** What differed but was left out, and by which rule. */
  readonly ignored: readonly (FieldDifference & { readonly rule: string })[];
}

/** A `same` for a loop, made of rules instead of code. */
export function sameBy<Item extends object>(
  rules: CompareRules = {},
): (wanted: Item, seen: Item) => readonly FieldDifference[] {
  return (wanted, seen) => compare(wanted, seen, rules).differences;
}

export function compare(wanted: unknown, seen: unknown, rules: CompareRules = {}): Comparison {
  const differences: FieldDifference[] = [];
  walk("", normalised(wanted, rules), normalised(seen, rules), differences);
  const ignored: (FieldDifference & { rule: string })[] = [];
  const kept = differences.filter((difference) => {
    const match = rules.ignored?.find((rule) => covers(rule.field, difference.field));
    if (match !== undefined) ignored.push({ ...difference, rule: match.rule });
    return match === undefined;
  });
  return { differences: kept, ignored };
}

/** The item in the form in which two equal things are equal: defaults filled in, order and case folded where they mean nothing. */
export function normalised(item: unknown, rules: CompareRules = {}): unknown {
  const filled = Object.entries(rules.defaults ?? {}).reduce(
    (value, [field, fallback]) => withDefault(value, segments(field), fallback),
    item,
  );
  return fold("", filled, rules);
}

function fold(field: string, value: unknown, rules: CompareRules): unknown {
  if (typeof value === "string") return matches(rules.caseless, field) ? value.toLowerCase() : value;
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  if (Array.isArray(value)) {
    const folded = value.map((element, index) => fold(`${field}/${index}`, element, rules));
    return matches(rules.unordered, field)
      ? folded
          .map((element) => [canonical(element), element] as const)
          .sort(byText)
          .map(([, element]) => element)
      : folded;
  }
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, fold(`${field}/${escapeSegment(key)}`, part, rules)]));
}

function walk(field: string, wanted: unknown, seen: unknown, differences: FieldDifference[]): void {
  if (isPlain(wanted) && isPlain(seen)) {
    const keys = [...new Set([...Object.keys(wanted), ...Object.keys(seen)])].sort();
    for (const key of keys) walk(`${field}/${escapeSegment(key)}`, wanted[key], seen[key], differences);
    return;
  }
  if (Array.isArray(wanted) && Array.isArray(seen) && wanted.length === seen.length) {
    for (let index = 0; index < wanted.length; index++)
      walk(`${field}/${index}`, wanted[index], seen[index], differences);
    return;
  }
  if (sameValue(wanted, seen)) return;
  differences.push({ field, wanted: shown(wanted), seen: shown(seen) });
}

function sameValue(wanted: unknown, seen: unknown): boolean {
  // A field that is absent equals one that is null: providers do not agree on how to say "nothing here".
  return (wanted ?? null) === (seen ?? null) || canonical(wanted) === canonical(seen);
}

function shown(value: unknown): Json | undefined {
  return value === undefined ? undefined : redacted(value);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}

function withDefault(value: unknown, path: readonly string[], fallback: Json): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value ?? fallback;
  if (Array.isArray(value))
    return value.map((part, index) =>
      head === "*" || head === String(index) ? withDefault(part, rest, fallback) : part,
    );
  if (!isPlain(value)) return value;
  const keys = head === "*" ? Object.keys(value) : [head];
  return keys.reduce<Readonly<Record<string, unknown>>>(
    (filled, key) => ({ ...filled, [key]: withDefault(filled[key], rest, fallback) }),
    value,
  );
}

function matches(patterns: readonly string[] | undefined, field: string): boolean {
  return patterns?.some((pattern) => sameField(pattern, field)) ?? false;
}

/** A rule for a field covers everything inside it. */
function covers(pattern: string, field: string): boolean {
  const parts = segments(pattern);
  return sameField(pattern, `/${segments(field).slice(0, parts.length).map(escapeSegment).join("/")}`);
}

function sameField(pattern: string, field: string): boolean {
  const expected = segments(pattern);
  const actual = segments(field);
  return expected.length === actual.length && expected.every((part, index) => part === "*" || part === actual[index]);
}

function segments(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function escapeSegment(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function byText(left: readonly [string, unknown], right: readonly [string, unknown]): number {
  return left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0;
}

/** The wanted item with some fields left as they were seen: what is written while those fields are being fought over. */
export function withSeenFields<Item extends object>(wanted: Item, seen: Item, fields: readonly string[]): Item {
  return fields.reduce(
    (item, field) => setField(item, segments(field), getField(seen, segments(field))) as Item,
    wanted,
  );
}

function getField(value: unknown, path: readonly string[]): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  return typeof value === "object" && value !== null
    ? getField((value as Readonly<Record<string, unknown>>)[head], rest)
    : undefined;
}

function setField(value: unknown, path: readonly string[], part: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return part;
  if (Array.isArray(value))
    return value.map((element, index) => (String(index) === head ? setField(element, rest, part) : element));
  const fields = isPlain(value) ? value : {};
  return { ...fields, [head]: setField(fields[head], rest, part) };
}
