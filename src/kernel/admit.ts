import type { Finding, HeldGroup, Verdict } from "../ports/records.ts";
import type { Facts, Guard } from "./facts.ts";
import { accountIdentityGuard } from "./guards/account-identity.ts";
import { allOrNothingGuard } from "./guards/all-or-nothing.ts";
import { changeCapGuard } from "./guards/change-cap.ts";
import { completeReadsGuard } from "./guards/complete-reads.ts";
import { deleteBudgetGuard } from "./guards/delete-budget.ts";
import { emptyDesiredGuard } from "./guards/empty-desired.ts";
import { evidenceGuard } from "./guards/evidence.ts";
import { fightsGuard } from "./guards/fights.ts";
import { holdGuard } from "./guards/hold.ts";
import { modeGuard } from "./guards/mode.ts";
import { ownershipGuard } from "./guards/ownership.ts";
import { pauseGuard } from "./guards/pause.ts";
import { protectionGuard } from "./guards/protection.ts";
import { quietStartGuard } from "./guards/quiet-start.ts";
import { replacementGuard } from "./guards/replacement.ts";
import { tooManyAtOnceGuard } from "./guards/too-many-at-once.ts";
import type { Plan, PlannedChange } from "./plan.ts";

/**
 * In the order a person would ask. Every guard passes a subset on, so a stricter limit can never let more through.
 * What refuses comes before what asks a person, so that nobody is asked for what would not be done; while only looking,
 * nothing is held.
 */
export const GUARDS: readonly Guard[] = [
  accountIdentityGuard,
  holdGuard,
  completeReadsGuard,
  emptyDesiredGuard,
  allOrNothingGuard,
  quietStartGuard,
  ownershipGuard,
  protectionGuard,
  evidenceGuard,
  fightsGuard,
  tooManyAtOnceGuard,
  replacementGuard,
  deleteBudgetGuard,
  modeGuard,
  pauseGuard,
  changeCapGuard,
];

export interface Admission {
  readonly admitted: readonly PlannedChange[];
  readonly verdicts: readonly Verdict[];
  readonly held: readonly HeldGroup[];
  readonly findings: readonly Finding[];
  /** Admitted too, and cut off by the change cap. */
  readonly later: readonly PlannedChange[];
  readonly waitMs: number | undefined;
}

/** The answer to a plan that asks for nothing. */
export const nothingAsked: Admission = Object.freeze({
  admitted: [],
  verdicts: [],
  held: [],
  findings: [],
  later: [],
  waitMs: undefined,
});

/** Whether no guard can have anything to say: nothing would be done, and nothing that was seen is another's or there twice. */
export function asksNothing({ changes, foreign, duplicates }: Plan): boolean {
  return changes.length + foreign.length + duplicates.length === 0;
}

/** The whole plan is checked before its first write. */
export function admit(facts: Facts, guards: readonly Guard[] = GUARDS): Admission {
  let admitted: readonly PlannedChange[] = facts.plan.changes;
  const verdicts: Verdict[] = [];
  const held: HeldGroup[] = [];
  const findings: Finding[] = [];
  const later: PlannedChange[] = [];
  const waits: number[] = [];
  for (const guard of guards) {
    const answer = guard(admitted, facts);
    admitted = answer.pass;
    verdicts.push(...(answer.verdicts ?? []));
    held.push(...(answer.held ?? []));
    findings.push(...(answer.findings ?? []));
    later.push(...(answer.later ?? []));
    if (answer.waitMs !== undefined) waits.push(answer.waitMs);
  }
  // In observe mode nothing is asked of anybody: what would be held is already in the verdict of the mode.
  const asks = facts.policy.mode === "observe" ? [] : held;
  return {
    admitted,
    verdicts,
    held: asks,
    findings,
    later,
    waitMs: waits.length === 0 ? undefined : Math.min(...waits),
  };
}
