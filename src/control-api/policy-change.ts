import { effectivePolicy } from "../kernel/policy.ts";
import type { Json } from "../ports/json.ts";
import type { DeleteLimit, FieldDifference, Limits, Mode, PartialLimits, ScopePolicy } from "../ports/records.ts";

const strictness: Readonly<Record<Mode, number>> = { observe: 0, propose: 1, enforce: 2 };

/** The limits as single numbers. A higher one lets more through, but for those where waiting longer is stricter. */
const numbers: readonly {
  readonly name: string;
  readonly stricterIsHigher: boolean;
  readonly of: (limits: PartialLimits) => number | undefined;
}[] = [
  ...deleteNumbers("deletesPerCycle", (limits) => limits.deletesPerCycle),
  ...(["account", "organization", "platform"] as const).flatMap((level) =>
    deleteNumbers(`deletesPerHour/${level}`, (limits) => limits.deletesPerHour?.[level]),
  ),
  { name: "changesPerCycle", stricterIsHigher: false, of: (limits) => limits.changesPerCycle },
  { name: "confirmAfterMs", stricterIsHigher: true, of: (limits) => limits.confirmAfterMs },
  { name: "suspectPercent", stricterIsHigher: false, of: (limits) => limits.suspectPercent },
  { name: "suspectAtLeast", stricterIsHigher: false, of: (limits) => limits.suspectAtLeast },
];

function deleteNumbers(name: string, of: (limits: PartialLimits) => DeleteLimit | undefined) {
  return (["count", "percent", "atLeast"] as const).map((field) => ({
    name: `${name}/${field}`,
    stricterIsHigher: false,
    of: (limits: PartialLimits) => of(limits)?.[field],
  }));
}

export interface PolicyChange {
  readonly differences: readonly FieldDifference[];
  /** Those of them that let more through than before. */
  readonly loosened: readonly FieldDifference[];
}

/**
 * What a new policy of a scope changes, and what of it loosens a rule. `above` is what the scopes above it say. A lower
 * scope only ever narrows what holds here, so that nothing below is loosened by what does not loosen it here.
 */
export function policyChange(above: readonly ScopePolicy[], before: ScopePolicy, after: ScopePolicy): PolicyChange {
  const [was, is] = [effectivePolicy([...above, before], undefined), effectivePolicy([...above, after], undefined)];
  const differences: FieldDifference[] = [];
  const loosened: FieldDifference[] = [];
  const note = (field: string, seen: Json | undefined, wanted: Json | undefined, looser: boolean) => {
    if (seen === wanted) return;
    differences.push({ field, wanted, seen });
    if (looser) loosened.push({ field, wanted, seen });
  };
  note("/mode", was.mode, is.mode, strictness[is.mode] > strictness[was.mode]);
  note("/protect", was.protectedBy !== undefined, is.protectedBy !== undefined, was.protectedBy !== undefined);
  note("/fourEyes", was.fourEyes, is.fourEyes, was.fourEyes);
  for (const { name, stricterIsHigher, of } of numbers) {
    const [old, now] = [of(was.limits), of(is.limits)];
    note(`/limits/${name}`, old, now, isLooser(old, now, stricterIsHigher));
    const [oldCeiling, ceiling] = [of(before.ceiling ?? {}), of(after.ceiling ?? {})];
    note(`/ceiling/${name}`, oldCeiling, ceiling, isLooser(oldCeiling, ceiling, stricterIsHigher));
  }
  return { differences, loosened };
}

/** A ceiling that is taken away is looser; one that is put up is not. */
function isLooser(old: number | undefined, now: number | undefined, stricterIsHigher: boolean): boolean {
  if (old === undefined) return false;
  if (now === undefined) return true;
  return stricterIsHigher ? now < old : now > old;
}

export interface AboveCeiling {
  readonly limit: string;
  readonly asked: number;
  readonly ceiling: number;
  readonly from: string;
}

/** Limits of a new policy that go beyond a ceiling of its own or of a scope above: they would say what does not hold. */
export function aboveCeilings(above: readonly ScopePolicy[], after: ScopePolicy): readonly AboveCeiling[] {
  return numbers.flatMap(({ name, stricterIsHigher, of }) => {
    const asked = of(after.limits ?? {});
    if (asked === undefined) return [];
    return [...above, after].flatMap(({ scope, ceiling: limits }) => {
      const ceiling = of(limits ?? {});
      if (ceiling === undefined || !isLooser(ceiling, asked, stricterIsHigher)) return [];
      return [{ limit: name, asked, ceiling, from: scope }];
    });
  });
}

export interface LimitSource {
  readonly name: string;
  readonly value: number | DeleteLimit;
  readonly default: { readonly value: number | DeleteLimit; readonly from: string };
  readonly ceiling: { readonly value: number | DeleteLimit; readonly from: string } | undefined;
}

const wholes: readonly {
  readonly name: string;
  readonly of: (limits: PartialLimits) => number | DeleteLimit | undefined;
}[] = [
  { name: "deletesPerCycle", of: (limits) => limits.deletesPerCycle },
  { name: "deletesPerHour.account", of: (limits) => limits.deletesPerHour?.account },
  { name: "deletesPerHour.organization", of: (limits) => limits.deletesPerHour?.organization },
  { name: "deletesPerHour.platform", of: (limits) => limits.deletesPerHour?.platform },
  { name: "changesPerCycle", of: (limits) => limits.changesPerCycle },
  { name: "confirmAfterMs", of: (limits) => limits.confirmAfterMs },
  { name: "suspectPercent", of: (limits) => limits.suspectPercent },
  { name: "suspectAtLeast", of: (limits) => limits.suspectAtLeast },
];

/** Each limit with the scope whose default it is and the scope whose ceiling is the lowest. */
export function limitSources(
  policies: readonly ScopePolicy[],
  kindLimits: PartialLimits | undefined,
  defaults: Limits,
): readonly LimitSource[] {
  const effective = effectivePolicy(policies, kindLimits);
  const saying = [
    { scope: "built in", limits: defaults as PartialLimits },
    ...(kindLimits === undefined ? [] : [{ scope: "the kind", limits: kindLimits }]),
    ...policies.map(({ scope, limits }) => ({ scope, limits: limits ?? {} })),
  ];
  return wholes.map(({ name, of }) => {
    const said = saying.flatMap(({ scope, limits }) => {
      const value = of(limits);
      return value === undefined ? [] : [{ value, from: scope }];
    });
    const ceilings = policies.flatMap(({ scope, ceiling }) => {
      const value = of(ceiling ?? {});
      return value === undefined ? [] : [{ value, from: scope }];
    });
    const value = of(effective.limits) ?? 0;
    const ceiling = ceilings.toSorted((left, right) => weight(left.value) - weight(right.value))[0];
    return { name, value, default: said.at(-1) ?? { value, from: "built in" }, ceiling };
  });
}

function weight(value: number | DeleteLimit): number {
  return typeof value === "number" ? value : value.count;
}
