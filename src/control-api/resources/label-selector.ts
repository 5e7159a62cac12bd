import type { LabelRequirement } from "../../ports/read-store.ts";

const key = "[a-z0-9](?:[a-z0-9./-]{0,61}[a-z0-9])?";
const equals = new RegExp(`^(${key})\\s*(=|==|!=)\\s*([^=,()!\\s]{1,128})$`);
const among = new RegExp(`^(${key})\\s+(in|notin)\\s+\\(([^()]*)\\)$`);
const presence = new RegExp(`^(!?)\\s*(${key})$`);

export type ParsedSelector =
  | { readonly ok: true; readonly requirements: readonly LabelRequirement[] }
  | { readonly ok: false; readonly message: string };

/**
 * `team=web,tier in (front,back),!legacy`: all of them must hold. What is empty is refused, wherever it is: an empty selector
 * never means "all", and neither does an empty list of values.
 */
export function parseSelector(text: string): ParsedSelector {
  const requirements: LabelRequirement[] = [];
  for (const part of splitOutside(text)) {
    const requirement = requirementOf(part.trim());
    if (requirement === undefined) return { ok: false, message: explain(part.trim()) };
    requirements.push(requirement);
  }
  return { ok: true, requirements };
}

function requirementOf(part: string): LabelRequirement | undefined {
  const plain = equals.exec(part);
  if (plain !== null) {
    const [, name = "", sign, value = ""] = plain;
    return { key: name, op: sign === "!=" ? "not-in" : "in", values: [value] };
  }
  const list = among.exec(part);
  if (list !== null) {
    const [, name = "", word, inside = ""] = list;
    const values = inside.split(",").map((value) => value.trim());
    if (values.some((value) => value === "" || value.length > 128)) return undefined;
    return { key: name, op: word === "in" ? "in" : "not-in", values };
  }
  const [, not, name] = presence.exec(part) ?? [];
  return name === undefined ? undefined : { key: name, op: not === "!" ? "absent" : "exists", values: [] };
}

/** Commas inside parentheses separate values, the others requirements. */
function splitOutside(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/);
}

function explain(part: string): string {
  const what = part === "" ? "an empty requirement never means all" : `"${part.slice(0, 100)}" is not understood`;
  return `${what}: write key=value, key!=value, key in (a,b), key notin (a,b), key or !key, separated by commas`;
}
