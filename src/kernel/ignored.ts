import type { DeclaredResource, FieldDifference, IgnoreRule, Verdict } from "../ports/records.ts";
import { covers } from "./diff.ts";
import { verdict } from "./facts.ts";
import { epochMsOf } from "./iso-time.ts";
import type { Wanted } from "./loop.ts";
import { scopeWords } from "./scope-words.ts";

/** A rule with the scope whose policy has it. */
export interface IgnoreRuleFrom extends IgnoreRule {
  readonly from: string;
}

/** A difference that nobody acts upon, and the rule that says so. */
export interface IgnoredDifference extends FieldDifference {
  readonly key: string;
  readonly rule: IgnoreRuleFrom;
}

export interface Split {
  readonly acted: readonly FieldDifference[];
  readonly ignored: readonly IgnoredDifference[];
}

/** Which differences of an item are left alone. Only fields of what is there: making and removing are never ignored. */
export type Ignoring = (wanted: Wanted<object>, differences: readonly FieldDifference[]) => Split;

export const ignoreNothing: Ignoring = (_wanted, differences) => ({ acted: differences, ignored: [] });

type Named = Pick<DeclaredResource, "uid" | "kind" | "name">;

/**
 * A rule holds for an item of a resource that it names, and for an item that is declared by such resources alone: what
 * another one declares as well is not for the first to leave alone.
 */
export function ignoring(
  every: readonly IgnoreRuleFrom[],
  own: Named,
  inputs: readonly Named[],
  nowMs: number,
): Ignoring {
  const rules = every.length === 0 ? every : every.filter((rule) => isInForce(rule, nowMs));
  if (rules.length === 0) return ignoreNothing;
  const names = new Map([own, ...inputs].map((resource) => [resource.uid, resource]));
  return (wanted, differences) => {
    const sources = (wanted.sources ?? []).map(({ uid }) => names.get(uid));
    const holds = rules.filter(
      (rule) =>
        (rule.item === undefined || rule.item === wanted.key) &&
        (fits(rule, own) || (sources.length > 0 && sources.every((source) => fits(rule, source)))),
    );
    if (holds.length === 0) return ignoreNothing(wanted, differences);
    const acted: FieldDifference[] = [];
    const ignored: IgnoredDifference[] = [];
    for (const difference of differences) {
      const rule = holds.find(({ field }) => covers(field, difference.field));
      if (rule === undefined) acted.push(difference);
      else ignored.push({ ...difference, key: wanted.key, rule });
    }
    return { acted, ignored };
  };
}

/** A rule with an end holds until then, and stays on record after it. */
export function isInForce({ until }: IgnoreRule, nowMs: number): boolean {
  return until === undefined || nowMs < epochMsOf(until);
}

function fits(rule: IgnoreRule, resource: Named | undefined): boolean {
  if (resource?.kind !== rule.kind) return false;
  return rule.name === undefined || rule.name === resource.name;
}

const NAMED_MAX = 5;

/** Passes, and says what it passed over and why: the difference is kept in sight. */
export function ignoredVerdict(ignored: readonly IgnoredDifference[]): readonly Verdict[] {
  if (ignored.length === 0) return [];
  const named = ignored.slice(0, NAMED_MAX).map(({ key, field, wanted, seen, rule }) => {
    const values = `wanted ${shown(wanted)}, seen ${shown(seen)}`;
    const end = rule.until === undefined ? "" : ` until ${rule.until}`;
    return `${field} of ${key} (${values}) by a rule of ${scopeWords(rule.from)}${end}: ${rule.reason}`;
  });
  const more = ignored.length > NAMED_MAX ? `; and ${ignored.length - NAMED_MAX} more` : "";
  return [
    verdict("ignored", "pass", `not acted upon: ${named.join("; ")}${more}`, {
      numbers: { fields: ignored.length },
      keys: [...new Set(ignored.map(({ key }) => key))],
    }),
  ];
}

function shown(value: FieldDifference["seen"]): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
