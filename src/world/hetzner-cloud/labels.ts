import { refused } from "./errors.ts";
import type { Labels } from "./rows.ts";

interface Requirement {
  readonly key: string;
  readonly holds: (value: string | undefined) => boolean;
  /** The one value it asks for, where it asks for one: what an index can answer. */
  readonly equals: string | undefined;
}

export interface Selector {
  matches(labels: Labels): boolean;
  /** An index entry that every match has. */
  readonly indexed: string | undefined;
}

const keyPattern = /^([a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?\/)?[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/;
const valuePattern = /^([a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?)?$/;

export function isLabelKey(key: string): boolean {
  return keyPattern.test(key);
}

export function isLabelValue(value: string): boolean {
  return valuePattern.test(value);
}

/** `a=b`, `a==b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, joined by commas: all must hold. */
export function parseSelector(text: string): Selector {
  const requirements = splitOutsideParentheses(text).map((part) => parseRequirement(part.trim()));
  const equal = requirements.find(({ equals }) => equals !== undefined);
  return {
    matches: (labels) => requirements.every(({ key, holds }) => holds(labels[key])),
    indexed: equal === undefined ? undefined : `${equal.key}=${equal.equals}`,
  };
}

function parseRequirement(part: string): Requirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part);
  if (set !== null) {
    const [, key = "", word, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    const inside = (value: string | undefined) => value !== undefined && values.includes(value);
    return checked(key, values, word === "in" ? inside : (value) => !inside(value), undefined);
  }
  const comparison = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/.exec(part);
  if (comparison !== null) {
    const [, key = "", sign, wanted = ""] = comparison;
    if (sign === "!=") return checked(key, [wanted], (value) => value !== wanted, undefined);
    return checked(key, [wanted], (value) => value === wanted, wanted);
  }
  if (part.startsWith("!")) return checked(part.slice(1).trim(), [], (value) => value === undefined, undefined);
  return checked(part, [], (value) => value !== undefined, undefined);
}

function checked(
  key: string,
  values: readonly string[],
  holds: Requirement["holds"],
  equals: string | undefined,
): Requirement {
  if (isLabelKey(key) && values.every(isLabelValue)) return { key, holds, equals };
  throw refused("invalid_input", "invalid label selector");
}

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const letter of text) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (letter === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else part += letter;
  }
  return [...parts, part];
}
