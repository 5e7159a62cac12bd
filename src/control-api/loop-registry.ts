import { isoTime } from "../kernel/iso-time.ts";
import type { KindRegistry } from "../kernel/kind.ts";
import type { LoopActivity } from "../ports/governance-store.ts";
import type { LoopsDocument } from "./schemas/platform.ts";
import { verdictLimitMs } from "./verdict-age.ts";

/** What deliberately has no loop: the platform's own records, which nothing outside can make differ. */
const recordsWithoutLoop: LoopsDocument["withoutLoop"] = [
  { record: "Person, Membership, Invite, Role, Token", why: "Who may do what is decided here and nowhere else." },
  { record: "Secret", why: "It is kept sealed here; what uses it is looked at by the loops that use it." },
  { record: "Policy, Pause", why: "Rules are obeyed by every cycle and every permit; there is nothing to converge." },
  { record: "Plan, HeldChange", why: "They are what loops produce. A loop over them would wait for itself." },
  { record: "Operation", why: "It runs once, step by step, and is resumed from its journal." },
  { record: "Notification", why: "It is told, tried again until it arrived or was given up, and never compared." },
  { record: "AuditEntry", why: "The log is append-only and checked by its hash chain." },
];

const minuteMs = 60_000;
const measuredMs = 10 * minuteMs;

/** The registry of loops: of every kind there is, how often it looks, what makes it look sooner, or why it never does. */
export function loopRegistry(kinds: KindRegistry, measured?: Measured): LoopsDocument {
  return {
    kinds: [...kinds.values()].map((kind) => {
      const activity = measured?.activity.find((entry) => entry.kind === kind.kind);
      const everySeconds = kind.loop?.everySeconds;
      return {
        kind: kind.kind,
        plural: kind.plural,
        permission: kind.permission,
        scopes: [...kind.scopes],
        modeRequired: kind.modeRequired,
        inputs: [...(kind.loop?.inputs ?? [])],
        ...(everySeconds === undefined
          ? {}
          : { everySeconds, verdictLimitSeconds: verdictLimitMs(everySeconds) / 1_000 }),
        ...(kind.withoutLoop === undefined ? {} : { withoutLoop: kind.withoutLoop }),
        ...(everySeconds === undefined || activity === undefined || measured === undefined
          ? {}
          : { activity: activityOf(activity, everySeconds, measured.nowMs) }),
      };
    }),
    withoutLoop: recordsWithoutLoop.map((entry) => ({ ...entry })),
  };
}

export interface Measured {
  readonly activity: readonly LoopActivity[];
  readonly nowMs: number;
}

function activityOf(activity: LoopActivity, everySeconds: number, nowMs: number) {
  const { subjects, failing, lastCycleAtMs, sweptSinceMs } = activity;
  const fromMs = Math.max(sweptSinceMs ?? 0, nowMs - everySeconds * 1_000);
  return {
    subjects,
    failing,
    ...(lastCycleAtMs === undefined
      ? {}
      : { lastCycleAt: isoTime(lastCycleAtMs), nextCycleBy: isoTime(fromMs + everySeconds * 1_000) }),
    ...realInterval(activity, everySeconds, nowMs),
  };
}

/** Over the whole minutes that were counted; before one interval has passed they say nothing. */
function realInterval(
  { subjects, idleCycles, countedSinceMs }: LoopActivity,
  everySeconds: number,
  nowMs: number,
): { readonly realIntervalSeconds?: number } {
  if (idleCycles === 0 || countedSinceMs === undefined) return {};
  const countedMs = Math.min(measuredMs, nowMs - (nowMs % minuteMs) - countedSinceMs);
  if (countedMs < Math.max(minuteMs, Math.min(measuredMs, everySeconds * 1_000))) return {};
  return { realIntervalSeconds: Math.round((subjects * countedMs) / idleCycles / 100) / 10 };
}
