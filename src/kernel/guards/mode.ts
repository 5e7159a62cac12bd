import type { PlannedChange } from "../plan.ts";
import { type Guard, heldItems, isGranted, keysOf, refuseAll, verdict } from "../facts.ts";
import { scopeWords } from "../scope-words.ts";

/** `observe` looks and reports, `propose` lets every change wait for a person, `enforce` acts within the other guards. */
export const modeGuard: Guard = (changes, facts) => {
  const { mode, modeFrom } = facts.policy;
  if (mode === "enforce" || changes.length === 0) return { pass: changes };
  if (mode === "observe") {
    const reason = `observe mode (set at ${scopeWords(modeFrom)}): would ${describe(changes)}`;
    return refuseAll(changes, verdict("mode", "wait", reason, { numbers: countsOf(changes), keys: keysOf(changes) }));
  }
  const waiting = changes.filter((change) => !isBookkeeping(change) && !isGranted(change, facts));
  if (waiting.length === 0) return { pass: changes };
  const said = verdict(
    "mode",
    "hold",
    `propose mode (set at ${scopeWords(modeFrom)}): waits for approval: ${describe(waiting)}`,
    {
      numbers: countsOf(waiting),
      keys: keysOf(waiting),
    },
  );
  const held = [
    { level: "subject" as const, guard: "mode" as const, verdict: said, items: heldItems(waiting, said.reason) },
  ];
  return { pass: changes.filter((change) => !waiting.includes(change)), verdicts: [said], held };
};

/** Recording what is already true outside changes nothing there. */
function isBookkeeping(change: PlannedChange): boolean {
  return change.action === "adopt" || change.action === "forget";
}

function countsOf(changes: readonly PlannedChange[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { action } of changes) counts[action] = (counts[action] ?? 0) + 1;
  return counts;
}

function describe(changes: readonly PlannedChange[]): string {
  return Object.entries(countsOf(changes))
    .map(([action, count]) => `${action} ${count}`)
    .join(", ");
}
