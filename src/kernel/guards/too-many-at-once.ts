import { type Facts, type Guard, heldItems, keysOf, removes, verdict } from "../facts.ts";
import type { PlannedChange } from "../plan.ts";

/**
 * When a large share of an account's subjects goes bad together, the observer is the suspect: remediation waits, at the account,
 * until they are seen well again or a person has looked and says that it is true.
 */
export const tooManyAtOnceGuard: Guard = (changes, facts) => {
  const { health } = facts;
  if (health === undefined || !isSuspect(health, facts)) return { pass: changes };
  // Only a grant passes: who confirmed a number of deletes was not asked whether to believe what is seen.
  const waiting = changes.filter((change) => isRemediation(change) && !facts.grants.has(change.digest));
  if (waiting.length === 0) return { pass: changes };
  const { suspectPercent, suspectAtLeast } = facts.policy.limits;
  const said = verdict(
    "too-many-at-once",
    "hold",
    `${health.bad} of ${health.subjects} subjects of this account went bad together: the observer is suspect, remediation waits`,
    {
      numbers: { bad: health.bad, subjects: health.subjects, percent: suspectPercent, atLeast: suspectAtLeast },
      keys: keysOf(waiting),
    },
  );
  const held = [
    {
      level: "account" as const,
      guard: "too-many-at-once" as const,
      verdict: said,
      items: heldItems(waiting, said.reason),
    },
  ];
  return { pass: changes.filter((change) => !waiting.includes(change)), verdicts: [said], held };
};

/** Making again what vanished, and removing or replacing what is there. First creates and plain updates are not remediation. */
export function isRemediation(change: PlannedChange): boolean {
  return change.missing || removes(change) || change.action === "forget";
}

function isSuspect(health: { readonly subjects: number; readonly bad: number }, facts: Facts): boolean {
  const { suspectPercent, suspectAtLeast } = facts.policy.limits;
  return health.bad >= suspectAtLeast && health.bad * 100 >= suspectPercent * health.subjects;
}
