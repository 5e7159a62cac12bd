import { counted } from "../counted.ts";
import type { DeleteReservationAnswer } from "../../ports/engine-store.ts";
import type { BudgetLevel, HeldGroup, Verdict } from "../../ports/records.ts";
import { allowedDeletes } from "../delete-budget.ts";
import { type Guard, heldItems, isGranted, keysOf, removes, verdict } from "../facts.ts";
import type { PlannedChange } from "../plan.ts";

/**
 * Above the subject's budget all ungranted deletes of the plan are held and none is trimmed: half of a mass delete is no
 * safer. What another guard keeps waiting counts too, or a stricter guard there would let more through here.
 */
export const deleteBudgetGuard: Guard = (changes, facts) => {
  const isUngranted = (change: PlannedChange) => removes(change) && !isGranted(change, facts);
  // What the declaration gives up within its own bounds has its budget there.
  const isOver = (change: PlannedChange) => isUngranted(change) && !facts.covered.has(change.key);
  const ungranted = changes.filter(isOver);
  const asked = weightOf(facts.plan.changes.filter(isOver));
  const limit = facts.policy.limits.deletesPerCycle;
  const allowed = allowedDeletes(limit, facts.owned);
  if (asked <= allowed || ungranted.length === 0) return { pass: changes };
  const said = verdict(
    "delete-budget",
    "hold",
    `${counted(asked, "delete")}, this subject's budget is ${allowed} per cycle`,
    {
      numbers: {
        asked,
        allowed,
        owned: facts.owned,
        count: limit.count,
        percent: limit.percent,
        atLeast: limit.atLeast,
      },
      keys: keysOf(ungranted),
    },
  );
  const held = [
    {
      level: "subject" as const,
      guard: "delete-budget" as const,
      verdict: said,
      items: heldItems(ungranted, said.reason),
    },
  ];
  return { pass: changes.filter((change) => !ungranted.includes(change)), verdicts: [said], held };
};

/**
 * What the shared budgets of account, organization and platform said. The first level that refuses lists what waits under
 * it, with what the change cap left for later: else what was refused would have every turn and the rest would never be
 * asked for. What the same plan may delete by approval is charged before the rest, so it counts as used.
 */
export function reservationVerdict(
  ungranted: readonly PlannedChange[],
  answer: DeleteReservationAnswer,
  grantedWeight = 0,
  later: readonly PlannedChange[] = [],
): { readonly verdict: Verdict; readonly held: HeldGroup } | undefined {
  const reserved = grantedWeight + weightOf(ungranted);
  const refusing = answer.levels.find((level) => level.used + reserved > level.allowed) ?? answer.levels[0];
  if (answer.ungrantedPass || refusing === undefined) return undefined;
  const level: BudgetLevel = refusing.level;
  const used = refusing.used + grantedWeight;
  const waiting = [...ungranted, ...later];
  const asked = weightOf(waiting);
  const said = verdict(
    "delete-budget",
    "hold",
    `${counted(asked, "delete")}, and ${used} of ${refusing.allowed} per hour are used at the ${level}`,
    {
      numbers: { asked, used, allowed: refusing.allowed, owned: refusing.owned },
      keys: keysOf(waiting),
    },
  );
  return {
    verdict: said,
    held: { level, guard: "delete-budget", verdict: said, items: heldItems(waiting, said.reason) },
  };
}

export function weightOf(changes: readonly PlannedChange[]): number {
  return changes.reduce((sum, change) => sum + change.weight, 0);
}
