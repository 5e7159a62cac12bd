import type { BudgetUse } from "../ports/declaring-store.ts";
import type { CycleInput, HeldGroup, StoredObservation, Verdict } from "../ports/records.ts";
import { type Admission, admit } from "./admit.ts";
import { planOf, said } from "./cycle.ts";
import { factsFrom } from "./gathered-facts.ts";
import { remembered } from "./remembered.ts";
import type { Still } from "./scene.ts";
import { parsedSubject } from "./parsed-subject.ts";
import { allowedDeletes } from "./delete-budget.ts";
import { desiredSet } from "./desired-set.ts";
import { type EngineError, toEngineError } from "./errors.ts";
import { type Facts, isGranted, removes } from "./facts.ts";
import { reservationVerdict, weightOf } from "./guards/delete-budget.ts";
import type { KindRegistry } from "./kind.ts";
import type { Loop, Marker, Observation, Seen } from "./loop.ts";
import type { Plan, PlannedChange } from "./plan.ts";
import { effectivePolicy, type Policy } from "./policy.ts";

export interface DryRun {
  readonly policy: Policy;
  readonly plan: Plan;
  /** What every guard would let through. */
  readonly admitted: readonly PlannedChange[];
  readonly verdicts: readonly Verdict[];
  readonly held: readonly HeldGroup[];
  /** What it would take out of the hourly budgets. */
  readonly deletes: number;
}

/** How much of the shared delete budgets is used, as it stands now. Asked only for plans that delete. */
export type BudgetsNow = () => Promise<readonly BudgetUse[]>;

/** Without an account to ask there is no provider's limit either. */
const callTimeoutMs = 10_000;

/**
 * What a cycle over these inputs would decide, if it saw what was last seen. The very code of the cycle, without its eyes and
 * hands: nothing is asked of the outside, so what only the outside knows (the account's identity, the credential's rights)
 * is taken to be in order. Undefined where the kind has no loop; an error where the cycle would stop.
 */
export async function dryRun(
  kinds: KindRegistry,
  input: CycleInput,
  last: { readonly observation: StoredObservation; readonly confirmedAtMs: number | undefined },
  budgetsNow: BudgetsNow,
): Promise<DryRun | EngineError | undefined> {
  const kind = kinds.get(input.subject.kind);
  const loop = kind?.loop;
  if (kind === undefined || loop === undefined) return undefined;
  try {
    const subject = parsedSubject(kind, input);
    const policy = effectivePolicy(input.policies, loop.limits);
    const desired = await desiredSet(loop, subject, input, kinds);
    const scene: Still = {
      input,
      loop,
      subject,
      policy,
      desired,
      seen: seenLast(loop, input, last),
      lookout: still(input),
    };
    const plan = planOf(scene);
    const nothingAsked = {
      quietSinceMs: undefined,
      accountProblem: undefined,
      rightsProblem: undefined,
      health: undefined,
    };
    const facts = factsFrom(scene, plan, remembered(scene, plan), nothingAsked);
    const admission = admit(facts);
    const shared = await sharedBudgets(facts, admission, budgetsNow);
    return {
      policy,
      plan,
      admitted: admission.admitted.filter((change) => !shared.refused.has(change)),
      verdicts: [...said(scene, plan), ...admission.verdicts, ...shared.verdicts],
      held: [...admission.held, ...shared.held],
      deletes: shared.deletes,
    };
  } catch (thrown) {
    return toEngineError(thrown);
  }
}

/** What the reservation right before the first delete would say, without reserving anything. */
async function sharedBudgets(facts: Facts, { admitted, later }: Admission, budgetsNow: BudgetsNow) {
  const removals = admitted.filter(removes);
  const nothing = { refused: new Set<PlannedChange>(), verdicts: [], held: [] };
  if (removals.length === 0) return { ...nothing, deletes: 0 };
  const ungranted = removals.filter((change) => !isGranted(change, facts));
  const granted = weightOf(removals) - weightOf(ungranted);
  const limits = facts.policy.limits.deletesPerHour;
  const levels = (await budgetsNow()).map((use) => ({
    ...use,
    allowed: allowedDeletes(limits[use.level], use.owned),
  }));
  const wanted = granted + weightOf(ungranted);
  const passes = ungranted.length === 0 || levels.every(({ used, allowed }) => used + wanted <= allowed);
  const refused = reservationVerdict(ungranted, { current: true, ungrantedPass: passes, levels }, granted, later);
  if (refused === undefined) return { ...nothing, deletes: wanted };
  return { refused: new Set(ungranted), verdicts: [refused.verdict], held: [refused.held], deletes: granted };
}

/** Time stands still: everything is in store time already. */
function still(input: CycleInput): Still["lookout"] {
  return { toStoreMs: (ms) => ms, storeNowMs: () => input.storeNowMs, settleMs: 0, callTimeoutMs };
}

function seenLast(
  loop: Loop<unknown, object>,
  { installation, resource, memory }: CycleInput,
  { observation, confirmedAtMs }: Parameters<typeof dryRun>[2],
): Observation<object> {
  const ours: Marker = { installationId: installation.id, resourceUid: resource.uid };
  const owned = new Set(memory.owned.map((item) => item.externalId));
  const items = observation.items.map(({ key, externalId, item }): Seen<object> => {
    // Markers are not kept: what is on record as ours had ours.
    const marker = loop.marks === true ? { marker: owned.has(externalId) ? ours : ("none" as const) } : {};
    return { key, externalId, item: item as object, ...marker };
  });
  return {
    // What was left out to keep the record small may be there: that is not absence.
    completeness: observation.truncated ? "partial" : observation.completeness,
    proof: observation.truncated ? "the stored observation is cut" : "as last seen",
    startedAtMonotonicMs: Math.max(observation.observedAtMs, confirmedAtMs ?? 0),
    items,
  };
}
