import type { PermitRefusal } from "../ports/engine-store.ts";
import type { GuardName, HeldGroup, SubjectMemory, Verdict } from "../ports/records.ts";
import { isBookkeeping, type WriteResult, type WriteScene, write } from "./act.ts";
import type { Admission } from "./admit.ts";
import type { Scene } from "./cycle.ts";
import { EngineError, toEngineError } from "./errors.ts";
import { type Facts, isGranted, removes, verdict } from "./facts.ts";
import { reservationVerdict, weightOf } from "./guards/delete-budget.ts";
import { digestOf } from "./hash.ts";
import type { Seen } from "./loop.ts";
import type { PlannedChange } from "./plan.ts";

/** An accepted request is not a finished one: after a write the subject is looked at again, at the earliest after this. */
const VERIFY_AFTER_MS = 1_000;
/** A create on an older look than this reads its key first, because somebody may have made it meanwhile. */
const CREATE_ON_LOOK_MS = 10_000;

export interface CarriedOut {
  readonly memory: SubjectMemory;
  readonly written: number;
  readonly verdicts: readonly Verdict[];
  readonly held: readonly HeldGroup[];
  readonly nextInMs: number | undefined;
  readonly error?: EngineError | undefined;
  /** Inputs or lease moved: what was decided no longer counts. */
  readonly superseded: boolean;
  /** An answer of the store was lost: what it has recorded is the truth, and this cycle does not know it. */
  readonly memoryUnknown: boolean;
}

/** Carries out what was admitted: reserves deletes, reads once more what will be removed, then one permitted call at a time. */
export async function carryOut(
  scene: Scene,
  decided: { readonly facts: Facts; readonly admission: Admission; readonly memory: SubjectMemory },
): Promise<CarriedOut> {
  const { facts, admission } = decided;
  const start: CarriedOut = {
    memory: decided.memory,
    written: 0,
    verdicts: admission.verdicts,
    held: admission.held,
    nextInMs: undefined,
    superseded: false,
    memoryUnknown: false,
  };
  if (admission.admitted.length === 0) return start;
  const reserved = await reserve(scene, facts, admission.admitted);
  if (reserved === "lost") return { ...start, superseded: true };
  const after: CarriedOut = {
    ...start,
    verdicts: [...start.verdicts, ...reserved.verdicts],
    held: [...start.held, ...reserved.held],
  };
  const calls = scene.loop.apply === undefined ? reserved.changes.map((change) => [change]) : batches(reserved.changes);
  return await inOrder(scene, facts, calls, after);
}

/** Bookkeeping is recorded one by one, because each may meet another claimant; everything outside is one atomic call. */
function batches(changes: readonly PlannedChange[]): readonly (readonly PlannedChange[])[] {
  const outside = changes.filter((change) => !isBookkeeping(change));
  return [...changes.filter(isBookkeeping).map((change) => [change]), ...(outside.length === 0 ? [] : [outside])];
}

async function inOrder(
  scene: Scene,
  facts: Facts,
  calls: readonly (readonly PlannedChange[])[],
  start: CarriedOut,
): Promise<CarriedOut> {
  let state = start;
  for (const planned of calls) {
    // The margin is not asked for: a permit that outlives the lease keeps the next holder out until it has ended.
    if (scene.claim.signal.aborted || scene.claim.leaseRemainingMs() < scene.lookout.callTimeoutMs) {
      return {
        ...state,
        nextInMs: VERIFY_AFTER_MS,
        verdicts: [
          ...state.verdicts,
          verdict("permit", "wait", "the lease could end before the call would: the rest waits for the next cycle"),
        ],
      };
    }
    const confirmed = await confirm(scene, planned).catch(toEngineError);
    if (confirmed instanceof EngineError) return { ...state, error: confirmed };
    state = {
      ...state,
      verdicts: [...state.verdicts, ...confirmed.verdicts],
      nextInMs: confirmed.dropped ? verifyInMs(scene) : state.nextInMs,
    };
    if (confirmed.changes.length === 0) continue;
    const writing: WriteScene = { ...scene, facts, verdicts: state.verdicts };
    const result = await write(writing, confirmed.changes, state.memory).catch(toEngineError);
    if (result instanceof EngineError) return { ...state, error: result, memoryUnknown: true };
    const next = after(state, result, scene);
    state = next.state;
    if (next.stop) return state;
  }
  return state;
}

function verifyInMs(scene: Scene): number {
  return Math.max(VERIFY_AFTER_MS, scene.lookout.settleMs);
}

/** What one call's result means for the rest of the cycle. */
function after(
  state: CarriedOut,
  result: WriteResult,
  scene: Scene,
): { readonly state: CarriedOut; readonly stop: boolean } {
  const base = { ...state, memory: result.memory };
  switch (result.ended) {
    case "done": {
      const againInMs = result.written > 0 ? verifyInMs(scene) : 0;
      return {
        state: {
          ...base,
          written: state.written + result.written,
          nextInMs: Math.min(state.nextInMs ?? againInMs, againInMs),
        },
        stop: false,
      };
    }
    case "stopped":
      // One item the provider will never take must not keep the others from converging.
      return { state: { ...base, verdicts: [...state.verdicts, stoppedVerdict(result.error)] }, stop: false };
    case "failed":
      return { state: { ...base, error: result.error }, stop: true };
    case "lost":
      return { state: { ...base, superseded: true }, stop: true };
    case "refused": {
      const said = verdict(
        REFUSING_GUARD[result.answer.refusal],
        "wait",
        `permit refused (${result.answer.refusal}): ${result.answer.detail}`,
      );
      const moved =
        result.answer.refusal === "inputs" || result.answer.refusal === "lease" || result.answer.refusal === "gone";
      return {
        state: {
          ...base,
          superseded: moved,
          nextInMs: moved ? 0 : VERIFY_AFTER_MS,
          verdicts: [...state.verdicts, said],
        },
        stop: true,
      };
    }
  }
}

const REFUSING_GUARD: Readonly<Record<PermitRefusal, GuardName>> = {
  lease: "permit",
  inputs: "permit",
  gone: "permit",
  busy: "permit",
  grant: "permit",
  paused: "pause",
  held: "hold",
};

function stoppedVerdict(error: EngineError): Verdict {
  return verdict("all-or-nothing", "refuse", `the provider refused for good: ${error.code}: ${error.message}`);
}

async function reserve(
  scene: Scene,
  facts: Facts,
  changes: readonly PlannedChange[],
): Promise<
  | "lost"
  | {
      readonly changes: readonly PlannedChange[];
      readonly verdicts: readonly Verdict[];
      readonly held: readonly HeldGroup[];
    }
> {
  const removals = changes.filter(removes);
  if (removals.length === 0) return { changes, verdicts: [], held: [] };
  const ungranted = removals.filter((change) => !isGranted(change, facts));
  const granted = removals.filter((change) => isGranted(change, facts));
  const answer = await scene.engine.store.reserveDeletes({
    actor: scene.claim.actor,
    subject: scene.input.subject,
    ungranted: weightOf(ungranted),
    granted: weightOf(granted),
    limits: facts.policy.limits.deletesPerHour,
  });
  if (!answer.current) return "lost";
  const refused = reservationVerdict(ungranted, answer);
  if (refused === undefined) return { changes, verdicts: [], held: [] };
  return {
    changes: changes.filter((change) => !ungranted.includes(change)),
    verdicts: [refused.verdict],
    held: [refused.held],
  };
}

interface Confirmed {
  readonly changes: readonly PlannedChange[];
  readonly verdicts: readonly Verdict[];
  /** Something is not as planned: look again soon. */
  readonly dropped: boolean;
}

/** Reads the one thing right before the call where the decision rests on its presence or absence. */
async function confirm(scene: Scene, changes: readonly PlannedChange[]): Promise<Confirmed> {
  const kept: PlannedChange[] = [];
  const verdicts: Verdict[] = [];
  for (const change of changes) {
    if (!needsRead(scene, change)) {
      kept.push(change);
      continue;
    }
    const externalId = change.owned?.externalId ?? change.seen?.externalId;
    const now = await scene.lookout.read({ key: change.key, externalId });
    const problem = removes(change) ? removalProblem(scene, change, now) : absenceProblem(change, now);
    if (problem === undefined) kept.push(change);
    else verdicts.push(problem);
  }
  if (scene.input.account !== undefined && !kept.every(isBookkeeping))
    await scene.engine.accounts.takeCall(scene.input.account, true);
  return { changes: kept, verdicts, dropped: kept.length < changes.length };
}

function needsRead(scene: Scene, change: PlannedChange): boolean {
  if (removes(change)) return scene.loop.removesOnlyAsSeen !== true;
  // What is seen and forgotten all the same (orphaned, or another owner's) is not a question of absence.
  if (change.action === "forget") return change.seen === undefined;
  // What takes the place of a recorded thing: that this is gone is not known yet.
  if (change.action === "adopt" || change.action === "takeover")
    return change.owned?.externalId !== undefined && change.owned.externalId !== change.seen?.externalId;
  if (change.action !== "create") return false;
  const ageMs = scene.engine.clock.monotonicMs() - scene.seen.startedAtMonotonicMs;
  return change.owned !== undefined || scene.seen.completeness !== "complete" || ageMs > CREATE_ON_LOOK_MS;
}

/** Why the thing may not be removed after all, as it is at this moment. */
function removalProblem(scene: Scene, change: PlannedChange, now: Seen<object> | "absent"): Verdict | undefined {
  const keys = [change.key];
  if (now === "absent") return verdict("evidence", "wait", "already gone when read right before its delete", { keys });
  if (now.lockedBy !== undefined)
    return verdict("protection", "refuse", `protected against deletion: provider lock (${now.lockedBy})`, { keys });
  if (now.externalId !== change.seen?.externalId)
    return verdict("ownership", "refuse", "another thing is there under this key now", { keys });
  const { marker } = now;
  const foreign =
    typeof marker === "object" &&
    ("foreign" in marker ||
      marker.installationId !== scene.input.installation.id ||
      marker.resourceUid !== scene.subject.uid);
  if (foreign) return verdict("ownership", "refuse", "another owner's marker is on it now", { keys });
  if (scene.loop.marks === true && marker === "none")
    return verdict("ownership", "wait", "our marker is missing: it is put back and seen again before a delete", {
      keys,
    });
  const stable = (seen: Seen<object>) => digestOf(scene.loop.stable?.(seen.item) ?? seen.item);
  if (stable(now) !== stable(change.seen))
    return verdict("evidence", "wait", "changed since the look its delete was decided on", { keys });
  return undefined;
}

/** Absence from a list is a suspicion; *missing* needs a read by the recorded id. */
function absenceProblem(change: PlannedChange, now: Seen<object> | "absent"): Verdict | undefined {
  if (now === "absent") return undefined;
  return verdict("evidence", "wait", "not in the listing, but there when read by its id", { keys: [change.key] });
}
