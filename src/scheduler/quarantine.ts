import type { Claim, Engine } from "../kernel/claim.ts";
import type { Condition, SubjectStatus } from "../ports/records.ts";

/**
 * Writes down that a subject is only tried rarely from now on, and why. It looks at nothing and changes nothing outside; the next
 * cycle that ends well replaces the condition. False when the subject must be tried now all the same, because its inputs have moved
 * since it failed, or when it is not ours any more.
 */
export async function recordQuarantine(
  engine: Engine,
  claim: Claim,
  quarantine: { readonly strikes: number; readonly retryInMs: number; readonly inputVersion: number | undefined },
): Promise<boolean> {
  const input = await engine.store.load(claim.subjectId, claim.organizationId);
  if (input === undefined) return false;
  const message = `${quarantine.strikes} cycles in a row ended without a result; the next try is in ${Math.round(quarantine.retryInMs / 60_000)} minutes, or when an input changes`;
  const answer = await engine.store.settle({
    actor: claim.actor,
    subject: input.subject,
    inputVersion: quarantine.inputVersion ?? input.inputVersion,
    status: quarantined(input.status, input.resource.generation, message, input.storeNowMs),
    verdicts: [],
    nextInMs: quarantine.retryInMs,
    gone: false,
    forgetSources: [],
    nowOwned: undefined,
  });
  return answer.kept && !answer.dueAgain;
}

function quarantined(
  previous: SubjectStatus | undefined,
  generation: number,
  message: string,
  nowMs: number,
): SubjectStatus {
  const conditions: Condition[] = [
    { type: "Ready", status: "Unknown", reason: "Quarantined", message, sinceMs: nowMs },
    { type: "Synced", status: "Unknown", reason: "NotSeen", message: "not looked at", sinceMs: nowMs },
  ];
  const kept = previous ?? { differences: 0, owned: 0 };
  return { ...kept, observedGeneration: previous?.observedGeneration ?? generation, conditions, failing: true };
}
