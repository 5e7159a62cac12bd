import type { Json } from "../ports/json.ts";
import type { FieldDifference } from "../ports/records.ts";
import { canonical, digestOf, redacted, sameJson } from "./hash.ts";
import { Secret } from "./secret.ts";

/** Differences are stored with every write and every held change: a longer value is cut there. */
const SHOWN_LENGTH_MAX = 1_000;

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

const SAME: Comparison = Object.freeze({ differences: [], ignored: [] });

/** A `same` for a loop, made of rules instead of code. */
export function sameBy<Item extends object>(
  rules: CompareRules = {},
): (wanted: Item, seen: Item) => readonly FieldDifference[] {
  return (wanted, seen) => compare(wanted, seen, rules).differences;
}

export function compare(wanted: unknown, seen: unknown, rules: CompareRules = {}): Comparison {
  // Most looks find what was wanted, and what is the same needs no rule to be found so.
  if (sameJson(wanted, seen)) return SAME;
  const differences: FieldDifference[] = [];
  walk("", normalised(wanted, rules), normalised(seen, rules), { rules, differences });
  const ignored: (FieldDifference & { rule: string })[] = [];
  const kept = differences.filter((difference) => {
    const match = rules.ignored?.find((rule) => covers(rule.field, difference.field));
    if (match !== undefined) ignored.push({ ...difference, rule: match.rule });
    return match === undefined;
  });
  return { differences: kept, ignored };
}

/** The item in the form in which two equal things are equal: defaults filled in, order and case folded where they mean nothing. */
function normalised(item: unknown, rules: CompareRules = {}): unknown {
  // Sorted, so that a default comes before the defaults inside it, whatever order the rules were written in.
  const filled = Object.entries(rules.defaults ?? {})
    .sort(byText)
    .reduce((value, [field, fallback]) => withDefault(value, segments(field), fallback), item);
  return fold("", filled, rules);
}

function fold(field: string, value: unknown, rules: CompareRules): unknown {
  if (typeof value === "string") return matches(rules.caseless, field) ? value.toLowerCase() : value;
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  if (Array.isArray(value)) {
    const folded = value.map((element, index) => fold(`${field}/${index}`, element, rules));
    return matches(rules.unordered, field)
      ? folded
          .map((element, index) => [sortText(`${field}/${index}`, element, rules), element] as const)
          .sort(byText)
          .map(([, element]) => element)
      : folded;
  }
  // A field that is absent equals one that is null: providers do not agree on how to say "nothing here".
  const entries = Object.entries(value).filter(([, part]) => part !== undefined && part !== null);
  return Object.fromEntries(entries.map(([key, part]) => [key, fold(`${field}/${escapeSegment(key)}`, part, rules)]));
}

/** What an element of an unordered list is sorted by: what is ignored must not decide which elements are compared. */
function sortText(field: string, element: unknown, rules: CompareRules): string {
  const text = canonical(element);
  return rules.ignored === undefined ? text : `${canonical(withoutIgnored(field, element, rules))} ${text}`;
}

function withoutIgnored(field: string, value: unknown, rules: CompareRules): unknown {
  if (Array.isArray(value)) return value.map((element, index) => withoutIgnored(`${field}/${index}`, element, rules));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).flatMap(([key, part]): readonly [string, unknown][] => {
    const inside = `${field}/${escapeSegment(key)}`;
    const ignored = rules.ignored?.some((rule) => covers(rule.field, inside)) === true;
    return ignored ? [] : [[key, withoutIgnored(inside, part, rules)]];
  });
  return Object.fromEntries(entries);
}

interface Walk {
  readonly rules: CompareRules;
  readonly differences: FieldDifference[];
}

function walk(field: string, wanted: unknown, seen: unknown, into: Walk): void {
  if (isPlain(wanted) && isPlain(seen)) {
    const keys = [...new Set([...Object.keys(wanted), ...Object.keys(seen)])].sort();
    for (const key of keys) walk(`${field}/${escapeSegment(key)}`, ownField(wanted, key), ownField(seen, key), into);
    return;
  }
  if (Array.isArray(wanted) && Array.isArray(seen) && isComparedByIndex(field, wanted, seen, into.rules)) {
    for (let index = 0; index < wanted.length; index++) walk(`${field}/${index}`, wanted[index], seen[index], into);
    return;
  }
  if (sameValue(wanted, seen)) return;
  into.differences.push({ field, wanted: shown(wanted), seen: shown(seen) });
}

/** A position in an unordered list names nothing: such a list differs as a whole, or only in what is ignored inside it. */
function isComparedByIndex(
  field: string,
  wanted: readonly unknown[],
  seen: readonly unknown[],
  rules: CompareRules,
): boolean {
  if (wanted.length !== seen.length || !matches(rules.unordered, field)) return wanted.length === seen.length;
  return canonical(withoutIgnored(field, wanted, rules)) === canonical(withoutIgnored(field, seen, rules));
}

function sameValue(wanted: unknown, seen: unknown): boolean {
  return (wanted ?? null) === (seen ?? null) || canonical(wanted) === canonical(seen);
}

/** Redacted, and cut where it is too long to be read; its digest still tells one long value from another. */
function shown(value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  const json = redacted(value);
  const text = JSON.stringify(json);
  if (text.length <= SHOWN_LENGTH_MAX) return json;
  return `${text.slice(0, SHOWN_LENGTH_MAX / 4)}… (${text.length} characters, ${digestOf(value)})`;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}

/** A field of the item itself: an item may well have a field named like something every object inherits. */
function ownField(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function withDefault(value: unknown, path: readonly string[], fallback: Json): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value ?? fallback;
  if (Array.isArray(value))
    return value.map((part: unknown, index) =>
      head === "*" || head === String(index) ? withDefault(part, rest, fallback) : part,
    );
  if (!isPlain(value)) return value;
  const keys = head === "*" ? Object.keys(value).filter((key) => (value[key] ?? undefined) !== undefined) : [head];
  return keys.reduce<Readonly<Record<string, unknown>>>(
    (filled, key) => ({ ...filled, [key]: withDefault(ownField(filled, key), rest, fallback) }),
    value,
  );
}

function matches(patterns: readonly string[] | undefined, field: string): boolean {
  return patterns?.some((pattern) => sameField(pattern, field)) ?? false;
}

/** A rule for a field covers everything inside it. */
export function covers(pattern: string, field: string): boolean {
  const actual = segments(field);
  return segments(pattern).every((part, index) => index < actual.length && (part === "*" || part === actual[index]));
}

function sameField(pattern: string, field: string): boolean {
  return segments(pattern).length === segments(field).length && covers(pattern, field);
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
  return fields.reduce((item, field) => leftAsSeen(item, seen, segments(field)) as Item, wanted);
}

function leftAsSeen(wanted: unknown, seen: unknown, path: readonly string[]): unknown {
  const [head, ...rest] = path;
  // Where one side has nothing to look into, a default stands there: all of it is left as it was seen.
  if (head === undefined || typeof seen !== "object" || seen === null) return seen;
  if (Array.isArray(wanted))
    return wanted.map((part: unknown, index) =>
      String(index) === head ? leftAsSeen(part, ownField(seen, head), rest) : part,
    );
  if (!isPlain(wanted)) return seen;
  return { ...wanted, [head]: leftAsSeen(ownField(wanted, head), ownField(seen, head), rest) };
}
