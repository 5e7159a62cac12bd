import { counted } from "./counted.ts";
import type { Condition, SubjectStatus, Verdict } from "../ports/records.ts";
import type { CycleResult } from "./claim.ts";
import type { Inspection } from "./loop.ts";
import { sameJson } from "./hash.ts";

/** What a loop says beside its verdict. */
const REPORTED = "Report/";
const FLAP_WINDOW_MS = 60 * 60_000;
/** A verdict that flips this often within an hour is not information any more. */
const FLAP_FLIPS = 3;

export interface StatusFacts {
  readonly nowMs: number;
  readonly generation: number;
  readonly result: CycleResult;
  readonly message: string;
  readonly verdicts: readonly Verdict[];
  readonly differences: number;
  readonly owned: number;
  readonly held: number;
  /** Undefined: nothing was learned, so it is as it was. */
  readonly bad: boolean | undefined;
  readonly lookedAtMs: number | undefined;
  readonly flips: readonly number[];
  /** Undefined: nothing was found out, so what was reported stands. */
  readonly inspection?: Inspection | undefined;
  /** Undefined: nothing was worked out, so it is as it was. */
  readonly stale?: readonly { readonly key: string; readonly reason: string }[] | undefined;
  /** Undefined: nothing was worked out, so it is as it was. */
  readonly site?: string | undefined;
  readonly previous: SubjectStatus | undefined;
}

/** More than people can read; the verdict says how many there are. */
const STALE_MAX = 1_000;

const READY: Readonly<Record<CycleResult, { readonly status: Condition["status"]; readonly reason: string }>> = {
  converged: { status: "True", reason: "Converged" },
  changed: { status: "False", reason: "Changing" },
  observing: { status: "False", reason: "ObserveMode" },
  held: { status: "False", reason: "WaitingForApproval" },
  refused: { status: "False", reason: "RefusedByGuard" },
  waiting: { status: "False", reason: "Waiting" },
  paused: { status: "Unknown", reason: "Paused" },
  failed: { status: "Unknown", reason: "LookFailed" },
  stalled: { status: "False", reason: "Stalled" },
  superseded: { status: "False", reason: "InputsMoved" },
  gone: { status: "False", reason: "Gone" },
};

/** The one place where an outcome becomes conditions. `sinceMs` moves only when status or reason does. */
export function statusOf(facts: StatusFacts): SubjectStatus {
  const ready = READY[facts.result];
  // A look that did not show everything proves nothing, but for what was found to be as declared.
  const unseen = facts.lookedAtMs === undefined && facts.result !== "converged";
  const failing = unseen || facts.result === "failed" || facts.result === "paused";
  const synced = failing ? "Unknown" : facts.differences === 0 ? "True" : "False";
  const wanted: Omit<Condition, "sinceMs">[] = [
    { type: "Ready", status: ready.status, reason: ready.reason, message: facts.message },
    {
      type: "Synced",
      status: synced,
      reason: synced === "True" ? "NoDifference" : synced === "False" ? "Differs" : "NotSeen",
      message: counted(facts.differences, "difference"),
    },
  ];
  for (const said of facts.verdicts.toSorted((left, right) => STRICTNESS[right.answer] - STRICTNESS[left.answer]))
    wanted.push({ type: `Guard/${said.guard}`, status: "True", reason: ANSWERS[said.answer], message: said.reason });
  wanted.push(...reportedConditions(facts));
  const flips = recentFlips(facts.flips, facts.nowMs);
  if (flips.length >= FLAP_FLIPS) {
    wanted.push({
      type: "Flapping",
      status: "True",
      reason: "ChangesBackAndForth",
      message: `Ready was lost ${flips.length} times within an hour, last because: ${facts.message}`,
    });
  }
  const wasBadSinceMs = facts.previous?.badSinceMs;
  const site = facts.site ?? facts.previous?.site;
  const badSinceMs = facts.bad === undefined ? wasBadSinceMs : facts.bad ? (wasBadSinceMs ?? facts.nowMs) : undefined;
  return {
    observedGeneration: facts.generation,
    conditions: dated(unique(wanted), facts),
    differences: facts.differences,
    owned: facts.owned,
    badSinceMs,
    ...(site === undefined ? {} : { site }),
    convergedAtMs:
      facts.result === "converged"
        ? wasConverged(facts.previous)
          ? facts.previous?.convergedAtMs
          : facts.nowMs
        : facts.previous?.convergedAtMs,
    lookedAtMs: facts.lookedAtMs ?? facts.previous?.lookedAtMs,
    failing,
    ...reportOf(facts),
    ...staleOf(facts),
  };
}

/** Of a loop that reports: what it says now, or what it said last. Its conditions are marked by a prefix of their own. */
function reportedConditions({ inspection, previous }: StatusFacts): readonly Omit<Condition, "sinceMs">[] {
  if (inspection !== undefined)
    return inspection.conditions.map((condition) => ({ ...condition, type: `${REPORTED}${condition.type}` }));
  return previous?.conditions.filter(({ type }) => type.startsWith(REPORTED)) ?? [];
}

function reportOf({ inspection, previous }: StatusFacts): Pick<SubjectStatus, "report"> {
  const report = inspection === undefined ? previous?.report : inspection.report;
  return report === undefined || report === null ? {} : { report };
}

/** Since when each of them is stale: what was so at the last cycle is so since then. */
function staleOf({ stale, previous, nowMs }: StatusFacts): Pick<SubjectStatus, "stale"> {
  const known = stale === undefined ? previous?.stale : stale.slice(0, STALE_MAX);
  if (known === undefined || known.length === 0) return {};
  const since = new Map((previous?.stale ?? []).map(({ key, sinceMs }) => [key, sinceMs]));
  return { stale: known.map(({ key, reason }) => ({ key, reason, sinceMs: since.get(key) ?? nowMs })) };
}

const ANSWERS: Readonly<Record<Verdict["answer"], string>> = {
  pass: "Passed",
  trim: "Trimmed",
  wait: "Waits",
  hold: "Held",
  refuse: "Refused",
};

const STRICTNESS: Readonly<Record<Verdict["answer"], number>> = { pass: 0, trim: 1, wait: 2, hold: 3, refuse: 4 };

/** Equal but for the time of the look and what cycles came before: then nothing needs to be written. */
export function sameStatus(left: SubjectStatus | undefined, right: SubjectStatus): boolean {
  return left !== undefined && sameJson(left, { ...right, lookedAtMs: left.lookedAtMs, cycles: left.cycles });
}

/**
 * The times Ready was lost without anybody having asked for a change, with this one if it was lost now. Getting it back is not
 * counted, and neither is what a person or an event set in motion: editing something often is not flapping.
 */
export function withFlip(
  flips: readonly number[],
  previous: SubjectStatus | undefined,
  next: SubjectStatus,
  now: { readonly ms: number; readonly asked: boolean },
): readonly number[] {
  const lost = readyOf(previous) === "True" && readyOf(next) !== "True";
  return lost && !now.asked ? [...recentFlips(flips, now.ms), now.ms].slice(-10) : flips;
}

export function readyOf(status: SubjectStatus | undefined): Condition["status"] | undefined {
  return status?.conditions.find((condition) => condition.type === "Ready")?.status;
}

function wasConverged(status: SubjectStatus | undefined): boolean {
  return readyOf(status) === "True";
}

function recentFlips(flips: readonly number[], nowMs: number): readonly number[] {
  return flips.filter((atMs) => nowMs - atMs < FLAP_WINDOW_MS);
}

/** One condition per type: the strictest answer of a guard speaks for it. */
function unique(conditions: readonly Omit<Condition, "sinceMs">[]): readonly Omit<Condition, "sinceMs">[] {
  const byType = new Map<string, Omit<Condition, "sinceMs">>();
  for (const condition of conditions) {
    const known = byType.get(condition.type);
    byType.set(
      condition.type,
      known === undefined ? condition : { ...known, message: `${known.message}; ${condition.message}` },
    );
  }
  return [...byType.values()];
}

function dated(conditions: readonly Omit<Condition, "sinceMs">[], facts: StatusFacts): readonly Condition[] {
  return conditions.map((condition) => {
    const before = facts.previous?.conditions.find((known) => known.type === condition.type);
    const same = before !== undefined && before.status === condition.status && before.reason === condition.reason;
    return { ...condition, sinceMs: same ? before.sinceMs : facts.nowMs };
  });
}
