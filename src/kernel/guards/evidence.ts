import type { Finding } from "../../ports/records.ts";
import { type Facts, type Guard, keysOf, verdict } from "../facts.ts";
import type { PlannedChange } from "../plan.ts";

/**
 * A declared delete needs one complete look. An inferred one needs two, at least `confirmAfterMs` apart, with the desired
 * set computed anew both times; the first finding is stored, so that a failover does not start over.
 * (The read of that one thing right before the call is made where the call is made.)
 */
export const evidenceGuard: Guard = (changes, facts) => {
  const inferred = changes.filter(isInferred);
  // A look that may not conclude anything finds nothing new, and takes nothing back of what was found before it.
  const earlier = facts.plan.changes
    .filter((change) => isInferred(change) && !inferred.includes(change))
    .flatMap((change) => knownFinding(change, facts) ?? []);
  const deletes = changes.filter((change) => change.action === "delete");
  if (!facts.desiredKnown && deletes.length > 0) return withoutDesired(changes, deletes, earlier, facts);
  const found = inferred.map((change) => findingOf(change, facts));
  const findings = [...found, ...earlier];
  const waiting = inferred.filter((_change, index) => !isConfirmed(found[index], facts));
  if (waiting.length === 0) return { pass: changes, findings };
  const waitMs = Math.max(
    ...found.map((finding) => finding.foundAtMs + facts.policy.limits.confirmAfterMs - facts.nowMs),
    1,
  );
  const said = verdict(
    "evidence",
    "wait",
    "nothing wants these items any more: a second look confirms it before they are deleted",
    {
      numbers: { items: waiting.length, confirmAfterMs: facts.policy.limits.confirmAfterMs, waitMs },
      keys: keysOf(waiting),
    },
  );
  return { pass: changes.filter((change) => !waiting.includes(change)), verdicts: [said], findings, waitMs };
};

/** The last good set stands in: what it does not want, somebody may have declared since. */
function withoutDesired(
  changes: readonly PlannedChange[],
  deletes: readonly PlannedChange[],
  earlier: readonly Finding[],
  facts: Facts,
): ReturnType<Guard> {
  const said = verdict("evidence", "wait", "what is wanted is not known: nothing is deleted until it is", {
    numbers: { items: deletes.length },
    keys: keysOf(deletes),
  });
  const findings = [...deletes.flatMap((change) => knownFinding(change, facts) ?? []), ...earlier];
  return { pass: changes.filter((change) => !deletes.includes(change)), verdicts: [said], findings };
}

function isInferred(change: PlannedChange): boolean {
  return change.action === "delete" && change.origin === "inferred";
}

function findingOf(change: PlannedChange, facts: Facts): Finding {
  // From now, not from when the look began: a shared listing may be older than the declaration that no longer wants the item.
  const found = { key: change.key, externalId: change.seen?.externalId ?? "", foundAtMs: facts.nowMs };
  return knownFinding(change, facts) ?? found;
}

function knownFinding(change: PlannedChange, facts: Facts): Finding | undefined {
  const externalId = change.seen?.externalId ?? "";
  return facts.findings.find((finding) => finding.key === change.key && finding.externalId === externalId);
}

/** The second look must have begun long enough after the first. */
function isConfirmed(finding: Finding | undefined, facts: Facts): boolean {
  return finding !== undefined && facts.observedFromMs >= finding.foundAtMs + facts.policy.limits.confirmAfterMs;
}
