import { type Guard, keysOf, refuseAll, verdict } from "../facts.ts";

/**
 * An account that answers as another one is refused as a whole: nothing seen through it says anything about ours.
 * After a restore the account is ours and the database is old: one approval per account reclaims it.
 */
export const accountIdentityGuard: Guard = (changes, facts) => {
  const problem = facts.accountProblem;
  if (problem === undefined) return { pass: changes };
  return refuseAll(changes, verdict("account-identity", problem.reclaim ? "hold" : "refuse", problem.reason, { numbers: problem.numbers, keys: keysOf(changes) }));
};
