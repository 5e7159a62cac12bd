import { type Guard, heldItems, isGranted, keysOf, refuseAll, verdict } from "../facts.ts";

/**
 * An empty desired set is more often a broken source than a wish. Inferred emptiness refuses the whole plan; emptiness that
 * somebody declared (every source deleted, or a spec that says zero) waits for a person with its count.
 * A subject whose own resource is deleted is leaving, not empty.
 */
export const emptyDesiredGuard: Guard = (changes, facts) => {
  if (facts.wanted > 0 || facts.owned < 2 || facts.leaving !== undefined) return { pass: changes };
  const numbers = { owned: facts.owned, wanted: 0 };
  const deletes = changes.filter((change) => change.action === "delete");
  // What somebody deleted and what had vanished outside by then is as declared as what is still there.
  const ending = changes.filter((change) => change.origin !== undefined);
  const declared = facts.zeroDeclared || (ending.length > 0 && ending.every((change) => change.origin === "declared"));
  if (!declared) {
    const reason = `the desired set is empty while ${facts.owned} items of ours exist, and nobody declared that`;
    return refuseAll(changes, verdict("empty-desired", "refuse", reason, { numbers, keys: keysOf(changes) }));
  }
  const waiting = deletes.filter((change) => !isGranted(change, facts));
  if (waiting.length === 0) return { pass: changes };
  const said = verdict(
    "empty-desired",
    "hold",
    `the desired set is declared empty: deleting all ${facts.owned} items waits for approval`,
    {
      numbers,
      keys: keysOf(waiting),
    },
  );
  const held = [
    {
      level: "subject" as const,
      guard: "empty-desired" as const,
      verdict: said,
      items: heldItems(waiting, said.reason),
    },
  ];
  return { pass: changes.filter((change) => !waiting.includes(change)), verdicts: [said], held };
};
