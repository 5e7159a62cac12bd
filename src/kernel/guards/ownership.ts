import type { HeldGroup, Verdict } from "../../ports/records.ts";
import { type Guard, heldItems, isGranted, keysOf, verdict } from "../facts.ts";

/**
 * Ours is what we recorded and what carries no foreign marker. A thing somebody else made under a key we want is taken over
 * only by approval; a second claimant is refused, not alternated; what lost its marker is not deleted until it has it again.
 */
export const ownershipGuard: Guard = (changes, facts) => {
  const { foreign, duplicates, markerMissing } = facts.plan;
  const verdicts: Verdict[] = [];
  if (foreign.length > 0) {
    const owners = [...new Set(foreign.map((entry) => entry.owner))].join("; ");
    verdicts.push(
      verdict("ownership", "refuse", `belongs to another owner: ${owners}`, {
        numbers: { items: foreign.length },
        keys: foreign.map((entry) => entry.key),
      }),
    );
  }
  if (duplicates.length > 0) {
    const ids = duplicates.map((entry) => entry.externalId).join(", ");
    verdicts.push(
      verdict("ownership", "refuse", `more than one thing under one key; left alone: ${ids}`, {
        numbers: { items: duplicates.length },
        keys: duplicates.map((entry) => entry.key),
      }),
    );
  }
  const unmarked = changes.filter((change) => change.action === "delete" && markerMissing.includes(change.key));
  if (unmarked.length > 0) {
    verdicts.push(
      verdict("ownership", "wait", "our marker is missing: it is put back and seen again before a delete", {
        numbers: { items: unmarked.length },
        keys: keysOf(unmarked),
      }),
    );
  }
  const waiting = changes.filter((change) => change.action === "takeover" && !isGranted(change, facts));
  const held: HeldGroup[] = [];
  if (waiting.length > 0) {
    const said = verdict("ownership", "hold", "exists already and is not ours: taking it over waits for approval", {
      numbers: { items: waiting.length },
      keys: keysOf(waiting),
    });
    verdicts.push(said);
    held.push({ level: "subject", guard: "ownership", verdict: said, items: heldItems(waiting, said.reason) });
  }
  return { pass: changes.filter((change) => !waiting.includes(change) && !unmarked.includes(change)), verdicts, held };
};
