import type { HeldGroup } from "../../ports/records.ts";
import { type Guard, keysOf, verdict } from "../facts.ts";
import { reclaimDigest } from "../held-change.ts";

/**
 * An account that answers as another one is refused as a whole: nothing seen through it says anything about ours.
 * After a restore the account is ours and the database is old, and a sentinel that somebody deleted is left anew: one approval per
 * account reclaims it.
 */
export const accountIdentityGuard: Guard = (changes, facts) => {
  const problem = facts.accountProblem;
  if (problem === undefined || changes.length === 0) return { pass: changes };
  const { reclaim } = problem;
  const said = verdict("account-identity", reclaim === undefined ? "refuse" : "hold", problem.reason, {
    numbers: { changes: changes.length, ...problem.numbers },
    keys: keysOf(changes),
  });
  if (reclaim === undefined) return { pass: [], verdicts: [said] };
  const item = {
    key: "account",
    action: "adopt" as const,
    externalId: reclaim.accountId,
    digest: reclaimDigest(reclaim.accountId, reclaim.incarnation),
    differences: [],
    reason: problem.reason,
  };
  const held: HeldGroup = { level: "account", guard: "account-identity", verdict: said, items: [item] };
  return { pass: [], verdicts: [said], held: [held] };
};
