import { type Guard, keysOf, removes, takeOut, verdict } from "../facts.ts";

/** After a start, a takeover or a restore nothing is deleted, replaced or called missing on a look that began before it. */
export const quietStartGuard: Guard = (changes, facts) => {
  const since = facts.quietSinceMs;
  if (since === undefined || facts.observedFromMs >= since) return { pass: changes };
  return takeOut(
    changes,
    (change) => removes(change) || change.missing,
    (taken) =>
      verdict(
        "quiet-start",
        "wait",
        "the look began before this process took the lease: a new complete look comes first",
        {
          numbers: { observedFromMs: facts.observedFromMs, leaseFromMs: since },
          keys: keysOf(taken),
        },
      ),
  );
};
