import { type Guard, keysOf, refuseAll, takeOut, verdict } from "../facts.ts";

/** Nothing starts if the credential could not finish it, and what failed for good is not tried again with the same inputs. */
export const allOrNothingGuard: Guard = (changes, facts) => {
  if (facts.rightsProblem !== undefined) {
    return refuseAll(
      changes,
      verdict("all-or-nothing", "refuse", facts.rightsProblem, {
        numbers: { changes: changes.length },
        keys: keysOf(changes),
      }),
    );
  }
  return takeOut(
    changes,
    (change) => facts.stoppedKeys.has(change.key),
    (taken) =>
      verdict(
        "all-or-nothing",
        "refuse",
        `the last write failed for good: not tried again before an input changes or an hour passes${said(facts.stoppedBecause)}`,
        { numbers: { items: taken.length }, keys: keysOf(taken) },
      ),
  );
};

function said(why: string | undefined): string {
  return why === undefined ? "" : `. It was ${why}`;
}
