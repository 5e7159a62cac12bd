import { type Guard, keysOf, removes, takeOut, verdict } from "../facts.ts";

/** Partial and failed observations never lead to a delete, a replacement or to *missing*. */
export const completeReadsGuard: Guard = (changes, facts) => {
  if (facts.completeness === "complete") return { pass: changes };
  return takeOut(
    changes,
    (change) =>
      removes(change) ||
      change.missing ||
      change.action === "forget" ||
      (change.action === "create" && change.owned !== undefined),
    (taken) =>
      verdict(
        "complete-reads",
        "wait",
        `the last look was ${facts.completeness}: nothing is deleted or called missing on it`,
        {
          numbers: { changes: taken.length },
          keys: keysOf(taken),
        },
      ),
  );
};
