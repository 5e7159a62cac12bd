import fc from "fast-check";
import type { CompareRules } from "../../src/kernel/diff.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { shuffled } from "./properties.ts";

/** Few names and few values, so that two drawn items often agree in part; some names that JavaScript treats specially. */
const names = ["a", "b", "list", "__proto__", "constructor", "x/y", "~"];
const leaf = fc.constantFrom<unknown>(null, true, 0, 1, "", "on", "ON", "off");
const name = fc.constantFrom(...names);

const nested = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

/** An item of arbitrary JSON. */
export const jsonItem = fc.dictionary(name, nested.value, { maxKeys: 4, noNullPrototype: true });

const field = fc.constantFrom("/a", "/b", "/list", "/x~1y", "/~0", "/__proto__", "/a/b", "/list/*/a", "/*/b");
const deeper = fc.oneof(field, fc.constantFrom("/*", "/a/*", "/list/*", "/list/*/list", "/*/list", "/a/*/b"));

/** Rules of every sort. What is ignored is always a named field: an element of a list has no name to be ignored by. */
export const compareRules: fc.Arbitrary<CompareRules> = fc.record({
  defaults: fc.dictionary(
    deeper,
    fc.constantFrom<string | number | boolean | readonly string[]>("on", 1, true, ["on"]),
    {
      maxKeys: 3,
      noNullPrototype: true,
    },
  ),
  unordered: fc.uniqueArray(deeper, { maxLength: 3 }),
  caseless: fc.uniqueArray(deeper, { maxLength: 3 }),
  ignored: fc.uniqueArray(
    field.map((path) => ({ field: path, rule: `rule of ${path}` })),
    {
      maxLength: 2,
      selector: (entry) => entry.field,
    },
  ),
});

/**
 * What an item means under the rules, as text, written apart from the code under test: two items are the same exactly
 * when their meanings are.
 */
export function meaningOf(item: unknown, rules: CompareRules): string {
  const defaults = Object.entries(rules.defaults ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return textOf(
    defaults.reduce((value, [path, fallback]) => filled(value, pathOf(path), fallback), item),
    [],
    rules,
  );
}

function textOf(value: unknown, at: readonly string[], rules: CompareRules): string {
  if (value === undefined || value === null) return "nothing";
  if (value instanceof Secret) return `secret ${value.hash}`;
  if (typeof value === "string") return JSON.stringify(isAt(rules.caseless, at) ? value.toLowerCase() : value);
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) {
    const texts = value.map((element, index) => textOf(element, [...at, String(index)], rules));
    return `[${(isAt(rules.unordered, at) ? texts.sort() : texts).join(" ")}]`;
  }
  const ignored = (rules.ignored ?? []).map((rule) => rule.field);
  const texts = Object.entries(value)
    .filter(([key, part]) => part !== null && part !== undefined && !isAt(ignored, [...at, key]))
    .map(([key, part]) => `${JSON.stringify(key)}: ${textOf(part, [...at, key], rules)}`);
  return `{${texts.sort().join(" ")}}`;
}

function filled(value: unknown, path: readonly string[], fallback: unknown): unknown {
  if (path.length === 0) return value ?? fallback;
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  const [head = "", ...rest] = path;
  if (Array.isArray(value))
    return value.map((part: unknown, index) =>
      head === "*" || head === String(index) ? filled(part, rest, fallback) : part,
    );
  const fields = new Map(Object.entries(value));
  for (const key of head === "*"
    ? [...fields.keys()].filter((entry) => (fields.get(entry) ?? undefined) !== undefined)
    : [head])
    fields.set(key, filled(fields.get(key), rest, fallback));
  return Object.fromEntries(fields);
}

function pathOf(pointer: string): readonly string[] {
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function isAt(patterns: readonly string[] | undefined, at: readonly string[]): boolean {
  return (patterns ?? []).some((pattern) => {
    const path = pathOf(pattern);
    return path.length === at.length && path.every((part, index) => part === "*" || part === at[index]);
  });
}

/** An item that means the same and looks as different as the rules allow: other order, other case, noise where it is ignored. */
export function disguised(value: unknown, rules: CompareRules, order: number, at: readonly string[] = []): unknown {
  if (typeof value === "string" && isAt(rules.caseless, at)) return order % 2 === 0 ? value.toUpperCase() : value;
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  if (Array.isArray(value)) {
    const parts = value.map((part, index) => disguised(part, rules, order + index, [...at, String(index)]));
    return isAt(rules.unordered, at) ? shuffled(parts, order) : parts;
  }
  const ignored = (rules.ignored ?? []).map((rule) => rule.field);
  const fields = shuffled(Object.entries(value), order).map(([key, part]): [string, unknown] =>
    isAt(ignored, [...at, key]) ? [key, `noise ${order}`] : [key, disguised(part, rules, order + 1, [...at, key])],
  );
  return Object.fromEntries(fields);
}
