import { type Facts, type Guard, keysOf, removes, takeOut, verdict } from "../facts.ts";
import type { PlannedChange } from "../plan.ts";

/** When a large share of an account's subjects goes bad together, the observer is the suspect: remediation waits. */
export const tooManyAtOnceGuard: Guard = (changes, facts) => {
  const { health } = facts;
  if (health === undefined || !isSuspect(health, facts)) return { pass: changes };
  const { suspectPercent, suspectAtLeast } = facts.policy.limits;
  return takeOut(changes, isRemediation, (taken) =>
    verdict(
      "too-many-at-once",
      "wait",
      `${health.bad} of ${health.subjects} subjects of this account went bad together: the observer is suspect, remediation waits`,
      {
        numbers: { bad: health.bad, subjects: health.subjects, percent: suspectPercent, atLeast: suspectAtLeast },
        keys: keysOf(taken),
      },
    ),
  );
};

/** Making again what vanished, and removing or replacing what is there. First creates and plain updates are not remediation. */
export function isRemediation(change: PlannedChange): boolean {
  return change.missing || removes(change) || change.action === "forget";
}

function isSuspect(health: { readonly subjects: number; readonly bad: number }, facts: Facts): boolean {
  const { suspectPercent, suspectAtLeast } = facts.policy.limits;
  return health.bad >= suspectAtLeast && health.bad * 100 >= suspectPercent * health.subjects;
}
