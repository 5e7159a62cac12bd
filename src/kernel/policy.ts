import type { IgnoreRuleFrom } from "./ignored.ts";
import type { DeleteLimit, FieldDifference, Limits, Mode, PartialLimits, ScopePolicy } from "../ports/records.ts";

/** What holds for one subject after the scopes above it have spoken. */
export interface Policy {
  readonly mode: Mode;
  readonly modeFrom: string;
  readonly limits: Limits;
  readonly protectedBy: string | undefined;
  readonly fourEyes: boolean;
  /** Of every scope on the path: none can take back what another one ignores. */
  readonly ignore: readonly IgnoreRuleFrom[];
}

export const defaultLimits: Limits = Object.freeze({
  deletesPerCycle: { count: 5, percent: 20, atLeast: 1 },
  deletesPerHour: {
    account: { count: 20, percent: 20, atLeast: 3 },
    organization: { count: 50, percent: 20, atLeast: 5 },
    platform: { count: 200, percent: 5, atLeast: 10 },
  },
  changesPerCycle: 50,
  confirmAfterMs: 60_000,
  suspectPercent: 40,
  suspectAtLeast: 3,
});

const STRICTNESS: Readonly<Record<Mode, number>> = { observe: 0, propose: 1, enforce: 2 };

/**
 * Modes are inherited and a lower scope can only be stricter. Limits: each scope's default overrides the one above it,
 * then every ceiling on the path applies and the strictest wins. Protection and four eyes hold if any scope asks for them.
 */
export function effectivePolicy(policies: readonly ScopePolicy[], kindLimits: PartialLimits | undefined): Policy {
  let mode: Mode = "enforce";
  let modeFrom = "default";
  let limits = overridden(defaultLimits, kindLimits);
  for (const policy of policies) {
    if (policy.mode !== undefined && STRICTNESS[policy.mode] < STRICTNESS[mode]) {
      mode = policy.mode;
      modeFrom = policy.scope;
    }
    limits = overridden(limits, policy.limits);
  }
  for (const policy of policies) limits = capped(limits, policy.ceiling);
  return {
    mode,
    modeFrom,
    limits,
    protectedBy: policies.find((policy) => policy.protect === true)?.scope,
    fourEyes: policies.some((policy) => policy.fourEyes === true),
    ignore: policies.flatMap(({ scope, ignore = [] }) => ignore.map((rule) => ({ ...rule, from: scope }))),
  };
}

/** What a resource says of itself about how far its loop may go. Saying nothing leaves it to the scopes above. */
export interface OwnRules {
  readonly mode?: Mode | undefined;
  readonly protect?: boolean | undefined;
}

/** Those of its own rules that a resource would loosen, by where its manifest says them. */
export function loosenedBy(before: OwnRules, after: OwnRules): readonly FieldDifference[] {
  const laxer = STRICTNESS[after.mode ?? "enforce"] > STRICTNESS[before.mode ?? "enforce"];
  const unprotected = before.protect === true && after.protect !== true;
  return [
    ...(laxer ? [{ field: "/metadata/mode", wanted: after.mode, seen: before.mode }] : []),
    ...(unprotected ? [{ field: "/metadata/protect", wanted: after.protect, seen: before.protect }] : []),
  ];
}

function overridden(limits: Limits, change: PartialLimits | undefined): Limits {
  if (change === undefined) return limits;
  return {
    ...limits,
    ...defined(change),
    deletesPerHour: { ...limits.deletesPerHour, ...defined(change.deletesPerHour ?? {}) },
  };
}

function capped(limits: Limits, ceiling: PartialLimits | undefined): Limits {
  if (ceiling === undefined) return limits;
  const hour = ceiling.deletesPerHour ?? {};
  return {
    deletesPerCycle: stricter(limits.deletesPerCycle, ceiling.deletesPerCycle),
    deletesPerHour: {
      account: stricter(limits.deletesPerHour.account, hour.account),
      organization: stricter(limits.deletesPerHour.organization, hour.organization),
      platform: stricter(limits.deletesPerHour.platform, hour.platform),
    },
    changesPerCycle: Math.min(limits.changesPerCycle, ceiling.changesPerCycle ?? limits.changesPerCycle),
    confirmAfterMs: Math.max(limits.confirmAfterMs, ceiling.confirmAfterMs ?? limits.confirmAfterMs),
    suspectPercent: Math.min(limits.suspectPercent, ceiling.suspectPercent ?? limits.suspectPercent),
    suspectAtLeast: Math.min(limits.suspectAtLeast, ceiling.suspectAtLeast ?? limits.suspectAtLeast),
  };
}

function stricter(limit: DeleteLimit, ceiling: DeleteLimit | undefined): DeleteLimit {
  if (ceiling === undefined) return limit;
  return {
    count: Math.min(limit.count, ceiling.count),
    percent: Math.min(limit.percent, ceiling.percent),
    atLeast: Math.min(limit.atLeast, ceiling.atLeast),
  };
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
