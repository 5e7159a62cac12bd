import { type Guard, heldItems, isGranted, keysOf, verdict } from "../facts.ts";

/**
 * Where the new thing takes minutes to make and the old one does not come back, a replacement is for a person to decide, however
 * few there are: the budgets only say how many may go.
 */
export const replacementGuard: Guard = (changes, facts) => {
  const { replacement } = facts;
  if (replacement === undefined) return { pass: changes };
  const waiting = changes.filter((change) => change.action === "replace" && !isGranted(change, facts));
  if (waiting.length === 0) return { pass: changes };
  const reason = `cannot be changed in place, and replacing it waits for approval: ${replacement.loses}`;
  const said = verdict("replacement", "hold", reason, { numbers: { items: waiting.length }, keys: keysOf(waiting) });
  const held = [
    {
      level: "subject" as const,
      guard: "replacement" as const,
      verdict: said,
      items: heldItems(waiting, said.reason),
    },
  ];
  return { pass: changes.filter((change) => !waiting.includes(change)), verdicts: [said], held };
};
