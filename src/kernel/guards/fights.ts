import type { Fight, FieldDifference, Verdict } from "../../ports/records.ts";
import { withSeenFields } from "../diff.ts";
import { type Facts, type Guard, verdict } from "../facts.ts";
import { digestOf } from "../hash.ts";
import type { PlannedChange } from "../plan.ts";

/** A write that succeeded and was undone this often in a row is a fight. */
export const FIGHT_ROUNDS = 3;
const TRIAL_AFTER_MS = 24 * 60 * 60_000;

/** Stops writing the field that somebody else keeps changing back, names both values, and keeps the rest converging. */
export const fightsGuard: Guard = (changes, facts) => {
  const verdicts: Verdict[] = [];
  const pass = changes.flatMap((change) => {
    // Making again what vanished is a write too: an outside that swallows what it is given gets no endless stream of it.
    const fought =
      change.action === "update" || change.missing
        ? change.differences.filter((difference) => isFought(change.key, difference, facts))
        : [];
    if (fought.length === 0) return [change];
    verdicts.push(describe(change, fought));
    return withoutFields(change, fought);
  });
  return { pass, verdicts };
};

function isFought(key: string, difference: FieldDifference, facts: Facts): boolean {
  const fight = facts.fights.find((entry) => entry.key === key && entry.field === difference.field);
  if (fight === undefined || !isSameDifference(fight, difference) || fight.count < FIGHT_ROUNDS) return false;
  return fight.stoppedAtMs === undefined || facts.nowMs - fight.stoppedAtMs < TRIAL_AFTER_MS;
}

export function isSameDifference(fight: Fight, difference: FieldDifference): boolean {
  return fight.wantedHash === digestOf(difference.wanted) && fight.seenHash === digestOf(difference.seen);
}

function withoutFields(change: PlannedChange, fought: readonly FieldDifference[]): readonly PlannedChange[] {
  const differences = change.differences.filter((difference) => !fought.includes(difference));
  if (differences.length === 0 || change.wanted === undefined || change.seen === undefined) return [];
  const item = withSeenFields(
    change.wanted.item,
    change.seen.item,
    fought.map((difference) => difference.field),
  );
  return [{ ...change, differences, wanted: { ...change.wanted, item } }];
}

function describe(change: PlannedChange, fought: readonly FieldDifference[]): Verdict {
  const values = fought
    .map(
      (difference) =>
        `${difference.field}: we write ${shown(difference.wanted)}, somebody writes ${shown(difference.seen)}`,
    )
    .join("; ");
  return verdict("fights", "trim", `changed back after ${FIGHT_ROUNDS} writes, no longer written: ${values}`, {
    numbers: { rounds: FIGHT_ROUNDS, fields: fought.length },
    keys: [change.key],
  });
}

function shown(value: FieldDifference["seen"]): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
