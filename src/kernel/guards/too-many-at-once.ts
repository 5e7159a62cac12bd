import type { Health } from "../../ports/engine-store.ts";
import { type Facts, type Guard, heldItems, keysOf, removes, verdict } from "../facts.ts";
import type { PlannedChange } from "../plan.ts";

/**
 * When a large share of the subjects of an account, or of one site of it, goes bad together, the observer is the suspect: remediation
 * waits, at the account, until they are seen well again or a person has looked and says that it is true.
 */
export const tooManyAtOnceGuard: Guard = (changes, facts) => {
  const suspect = suspectOf(facts);
  if (suspect === undefined) return { pass: changes };
  // Only a grant passes: who confirmed a number of deletes was not asked whether to believe what is seen.
  const waiting = changes.filter((change) => isRemediation(change) && !facts.grants.has(change.digest));
  if (waiting.length === 0) return { pass: changes };
  const { suspectPercent, suspectAtLeast } = facts.policy.limits;
  const said = verdict(
    "too-many-at-once",
    "hold",
    `${suspect.bad} of ${suspect.subjects} subjects ${suspect.where} went bad together: the observer is suspect, remediation waits`,
    {
      numbers: { bad: suspect.bad, subjects: suspect.subjects, percent: suspectPercent, atLeast: suspectAtLeast },
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

/** The account as a whole comes first: what is true of it is true of its sites. */
function suspectOf({ health, policy }: Facts): (Health & { readonly where: string }) | undefined {
  if (health === undefined) return undefined;
  const { suspectPercent, suspectAtLeast } = policy.limits;
  const { atSite } = health;
  const places = [
    { ...health, where: "of this account" },
    ...(atSite === undefined ? [] : [{ ...atSite, where: `of this account in ${atSite.site}` }]),
  ];
  return places.find(({ bad, subjects }) => bad >= suspectAtLeast && bad * 100 >= suspectPercent * subjects);
}
