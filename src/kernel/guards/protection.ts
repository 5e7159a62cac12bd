import type { PlannedChange } from "../plan.ts";
import { type Facts, type Guard, keysOf, removes, takeOut, verdict } from "../facts.ts";

/** The strictest of spec, stored record, policy and provider-side lock; read once more right before the call. */
export const protectionGuard: Guard = (changes, facts) =>
  takeOut(
    changes,
    (change) => removes(change) && protectionOf(change, facts) !== undefined,
    (taken) => {
      const reasons = [...new Set(taken.map((change) => protectionOf(change, facts)))].join("; ");
      return verdict("protection", "refuse", `protected against deletion: ${reasons}`, {
        numbers: { items: taken.length },
        keys: keysOf(taken),
      });
    },
  );

function protectionOf(change: PlannedChange, facts: Pick<Facts, "policy">): string | undefined {
  if (facts.policy.protectedBy !== undefined) return `policy of ${facts.policy.protectedBy}`;
  if (change.owned?.protect === true) return "the record of its last look";
  if (change.seen?.lockedBy !== undefined) return `provider lock (${change.seen.lockedBy})`;
  return undefined;
}
