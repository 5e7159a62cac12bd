import type { Finding } from "../../ports/records.ts";
import { type Facts, type Guard, keysOf, verdict } from "../facts.ts";
import type { PlannedChange } from "../plan.ts";

/**
 * A declared delete needs one complete look. An inferred one needs two, at least `confirmAfterMs` apart, with the desired
 * set computed anew both times; the first finding is stored, so that a failover does not start over.
 * (The read of that one thing right before the call is made where the call is made.)
 */
export const evidenceGuard: Guard = (changes, facts) => {
  const inferred = changes.filter((change) => change.action === "delete" && change.origin === "inferred");
  const findings = inferred.map((change) => findingOf(change, facts));
  const waiting = inferred.filter((_change, index) => !isConfirmed(findings[index], facts));
  if (waiting.length === 0) return { pass: changes, findings };
  const waitMs = Math.max(
    ...findings.map((finding) => finding.foundAtMs + facts.policy.limits.confirmAfterMs - facts.nowMs),
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

function findingOf(change: PlannedChange, facts: Facts): Finding {
  const externalId = change.seen?.externalId ?? "";
  const known = facts.findings.find((finding) => finding.key === change.key && finding.externalId === externalId);
  return known ?? { key: change.key, externalId, foundAtMs: facts.observedFromMs };
}

/** The second look must have begun long enough after the first. */
function isConfirmed(finding: Finding | undefined, facts: Facts): boolean {
  return finding !== undefined && facts.observedFromMs >= finding.foundAtMs + facts.policy.limits.confirmAfterMs;
}
