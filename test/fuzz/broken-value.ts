import type { SeededRandom } from "../sim/random.ts";
import { anyValue } from "./valid-value.ts";

/** Text that has broken servers and databases before. */
export const hostileTexts: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\ufeffbom",
  "\u202eright",
  "e\u0301",
  "__proto__",
  "constructor",
  "toString",
  "..",
  "../../etc/passwd",
  "%00",
  "%2e%2e%2f",
  "'; drop table setpoint.resource; --",
  "$1",
  "${7*7}",
  "{{7*7}}",
  "\\u0000",
  "a".repeat(64),
  "a".repeat(5_000),
  "🙂".repeat(300),
  "-1",
  "9007199254740993",
  "1e400",
  "NaN",
  "null",
  "*",
  "a:b",
  "a:reconcile",
  "organization/x",
  "line\nbreak",
  "\r\nSet-Cookie: a=b",
];

const hostileNumbers: readonly number[] = [
  -1,
  0,
  0.1,
  1e21,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  Number.MIN_VALUE,
  4_294_967_296,
];

const unknownKeys: readonly string[] = [
  "constructor",
  "prototype",
  "hasOwnProperty",
  "toJSON",
  "then",
  "unexpected",
  "",
];

/** The same value with one thing wrong in it, at a place that is drawn. */
export function brokenValue(value: unknown, random: SeededRandom): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const at = random.int(0, value.length - 1);
    return value.map((part: unknown, index) => (index === at ? brokenValue(part, random) : part));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return brokenObject(value, random);
  if (Array.isArray(value))
    return random.choose<() => unknown>(
      () => [...(value as unknown[]), anyValue(random)],
      () => Array.from({ length: 2_000 }, () => (value as unknown[])[0] ?? "x"),
      () => anyValue(random),
    )();
  return random.choose<() => unknown>(
    () => random.pick(hostileTexts),
    () => random.pick(hostileNumbers),
    () => anyValue(random),
    () => (typeof value === "string" ? value.toUpperCase() : String(value)),
    () => (typeof value === "string" ? `${value}\u0000` : [value]),
    () => null,
  )();
}

function brokenObject(value: object, random: SeededRandom): unknown {
  const names = Object.keys(value);
  const name = random.pick(names);
  if (name === undefined || random.chance(0.15))
    return { ...value, [random.pick(unknownKeys) ?? ""]: anyValue(random) };
  if (random.chance(0.15)) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  if (random.chance(0.08)) return anyValue(random);
  const part = (value as Record<string, unknown>)[name];
  return { ...value, [name]: brokenValue(part, random) };
}
