import type { PermitRefusal } from "../ports/engine-store.ts";
import type { GuardName, HeldGroup, SubjectMemory, Verdict } from "../ports/records.ts";
import { appliesTogether, isBookkeeping, isByOperation, type WriteResult, type WriteScene, write } from "./act.ts";
import { claimAccount } from "./account-claim.ts";
import type { Admission } from "./admit.ts";
import type { Scene } from "./scene.ts";
import { EngineError, toEngineError } from "./errors.ts";
import { type Facts, isGranted, keysOf, removes, verdict } from "./facts.ts";
import { reservationVerdict, weightOf } from "./guards/delete-budget.ts";
import { digestOf } from "./hash.ts";
import type { Seen } from "./loop.ts";
import type { PlannedChange } from "./plan.ts";

/** An accepted request is not a finished one: after a write the subject is looked at again, at the earliest after this. */
const VERIFY_AFTER_MS = 1_000;
/** A create on an older look than this reads its key first, because somebody may have made it meanwhile. */
const CREATE_ON_LOOK_MS = 10_000;

/** A server that refuses everything is not asked about each of a thousand. It finds two bad ones among a thousand. */
const SPLITS_MOST = 20;

export interface CarriedOut {
  readonly memory: SubjectMemory;
  readonly written: number;
  readonly verdicts: readonly Verdict[];
  readonly held: readonly HeldGroup[];
  /** The shared budgets were not asked: what is recorded as waiting stays so. */
  readonly heldUnknown: boolean;
  readonly nextInMs: number | undefined;
  readonly error?: EngineError | undefined;
  /** A read showed something else than the look did: it is tried again, ever more slowly. */
  readonly contradicted: boolean;
  /** Inputs or lease moved: what was decided no longer counts. */
  readonly superseded: boolean;
  /** An answer of the store was lost: what it has recorded is the truth, and this cycle does not know it. */
  readonly memoryUnknown: boolean;
}

/** Carries out what was admitted: reads once more what will be removed, reserves deletes, then one permitted call at a time. */
export async function carryOut(
  scene: Scene,
  decided: { readonly facts: Facts; readonly admission: Admission; readonly memory: SubjectMemory },
): Promise<CarriedOut> {
  const { facts, admission } = decided;
  const { admitted } = admission;
  const start = nothingDone(decided.memory, admission);
  if (admitted.length === 0) return start;
  const unstarted = { ...start, heldUnknown: admitted.some(removes) };
  if (mayNotStart(scene)) return { ...unstarted, ...leaseTooShort(start, admitted) };
  const unclaimed = await claimAccount(scene, decided.memory);
  if (unclaimed !== undefined) return after(unstarted, unclaimed, scene, admitted).state;
  const calls = appliesTogether(scene) ? batches(scene, admitted) : admitted.map((change) => [change]);
  const later = admission.later.filter((change) => removes(change) && !isGranted(change, facts));
  return await inOrder({ ...scene, facts, later }, calls, start);
}

/** Before the first call, and all there is to say where nothing was admitted. */
export function nothingDone(
  memory: SubjectMemory,
  { verdicts, held }: Pick<Admission, "verdicts" | "held">,
): CarriedOut {
  return {
    memory,
    written: 0,
    verdicts,
    held,
    heldUnknown: false,
    nextInMs: undefined,
    contradicted: false,
    superseded: false,
    memoryUnknown: false,
  };
}

/** Everything a call rests on. */
interface Carrying extends Scene {
  readonly facts: Facts;
  /** Removals that the change cap left for another cycle and that nobody has approved yet. */
  readonly later: readonly PlannedChange[];
}

/** Bookkeeping is recorded one by one, because each may meet another claimant; everything outside is one atomic call. */
function batches(scene: Scene, changes: readonly PlannedChange[]): readonly (readonly PlannedChange[])[] {
  const isAlone = (change: PlannedChange) => isBookkeeping(change) || isByOperation(scene, change);
  const outside = changes.filter((change) => !isAlone(change));
  return [...changes.filter(isAlone).map((change) => [change]), ...(outside.length === 0 ? [] : [outside])];
}

async function inOrder(
  scene: Carrying,
  calls: readonly (readonly PlannedChange[])[],
  start: CarriedOut,
): Promise<CarriedOut> {
  let progress: Progress = { state: start, reserved: undefined, stop: false };
  const left = [...calls];
  let splitsLeft = SPLITS_MOST;
  for (let call = left.shift(); call !== undefined; call = left.shift()) {
    const { state, reserved } = progress;
    const planned = call.filter((change) => reserved?.refused.has(change) !== true);
    if (planned.length === 0) continue;
    const carrying = { ...scene, splitsLeft };
    progress = await step(carrying, { planned, later: left.flat() }, { state, reserved });
    const { apart } = progress;
    if (apart !== undefined) {
      left.unshift(...apart);
      splitsLeft -= 1;
    }
    if (!progress.stop) continue;
    // Whoever did not come to the deletes cannot say what of them waits under a shared budget.
    const heldUnknown = progress.reserved === undefined && [...call, ...left.flat()].some(removes);
    return { ...progress.state, heldUnknown };
  }
  return progress.state;
}

/** Two calls in place of one that was refused for good, as far as what belongs together can be told apart. */
function halves(
  { loop, splitsLeft }: Pick<Splitting, "loop" | "splitsLeft">,
  error: EngineError,
  changes: readonly PlannedChange[],
): readonly (readonly PlannedChange[])[] | undefined {
  // Anything else (a credential, a zone that is gone) is not about one of them.
  if (loop.together === undefined || splitsLeft === 0 || error.code !== "PROVIDER_REFUSED") return undefined;
  const groups = [...Map.groupBy(changes, ({ key }) => loop.together?.(key) ?? key).values()];
  const middle = Math.ceil(groups.length / 2);
  return groups.length < 2 ? undefined : [groups.slice(0, middle).flat(), groups.slice(middle).flat()];
}

interface Splitting extends Carrying {
  /** How often more a refused call may be cut in two. */
  readonly splitsLeft: number;
}

interface Progress {
  readonly state: CarriedOut;
  readonly reserved: Reserved | undefined;
  /** The rest is for another cycle. */
  readonly stop: boolean;
  /** It was refused for good as a whole: these are tried in its place. */
  readonly apart?: readonly (readonly PlannedChange[])[] | undefined;
}

/** One call: what it rests on is read once more, its deletes are reserved, and then it is made. */
async function step(
  scene: Splitting,
  call: { readonly planned: readonly PlannedChange[]; readonly later: readonly PlannedChange[] },
  before: Pick<Progress, "state" | "reserved">,
): Promise<Progress> {
  let { state, reserved } = before;
  const stopped = (change: Partial<CarriedOut>): Progress => ({ state: { ...state, ...change }, reserved, stop: true });
  if (mayNotStart(scene)) return stopped(leaseTooShort(state, [...call.planned, ...call.later]));
  const confirmed = await confirm(scene, call.planned).catch(toEngineError);
  if (confirmed instanceof EngineError) return stopped({ error: confirmed });
  state = afterReads(state, confirmed, scene);
  let { changes } = confirmed;
  // What is only declared to go, or goes by an operation, is charged where the outside thing goes.
  const charged = scene.loop.declares === undefined;
  if (charged && reserved === undefined && changes.some((change) => removesItself(scene, change))) {
    const answer = await reserve(scene, [...changes, ...call.later]).catch(toEngineError);
    if (answer instanceof EngineError) return stopped({ error: answer });
    if (answer === "lost") return stopped({ superseded: true });
    const { refused, verdicts, held } = answer;
    reserved = answer;
    state = { ...state, verdicts: [...state.verdicts, ...verdicts], held: [...state.held, ...held] };
    changes = changes.filter((change) => !refused.has(change));
  }
  const free = unblocked(scene, changes);
  changes = free.changes;
  state = { ...state, verdicts: [...state.verdicts, ...free.verdicts] };
  if (changes.length === 0) return { state, reserved, stop: false };
  const writing: WriteScene = { ...scene, verdicts: state.verdicts };
  const result = await write(writing, changes, state.memory).catch(toEngineError);
  if (result instanceof EngineError) return stopped({ error: result, memoryUnknown: true });
  return { ...after(state, result, scene, changes), reserved };
}

function removesItself(scene: Scene, change: PlannedChange): boolean {
  return removes(change) && !isByOperation(scene, change);
}

/** What cannot stand beside something that is there waits until that is gone, unless this very call removes it. */
function unblocked(
  { loop, seen }: Scene,
  changes: readonly PlannedChange[],
): { readonly changes: readonly PlannedChange[]; readonly verdicts: readonly Verdict[] } {
  if (loop.blockedBy === undefined || !changes.some(({ action }) => action === "create"))
    return { changes, verdicts: [] };
  const there = new Map(seen.items.map(({ key, item }) => [key, item]));
  for (const { action, key } of changes) if (action === "delete") there.delete(key);
  const blocked = new Map<string, string>();
  for (const { action, key, wanted } of changes) {
    const by = action === "create" && wanted !== undefined ? loop.blockedBy(wanted.item, there) : undefined;
    if (by !== undefined) blocked.set(key, by);
  }
  if (blocked.size === 0) return { changes, verdicts: [] };
  const said = [...blocked].map(([key, by]) => `${key} waits until ${by} is gone`).join("; ");
  return {
    changes: changes.filter(({ key }) => !blocked.has(key)),
    verdicts: [
      verdict("all-or-nothing", "wait", said, { numbers: { items: blocked.size }, keys: [...blocked.keys()] }),
    ],
  };
}

/** The margin is not asked for: a permit that outlives the lease keeps the next holder out until it has ended. */
function mayNotStart(scene: Scene): boolean {
  return scene.claim.signal.aborted || scene.claim.leaseRemainingMs() < scene.lookout.callTimeoutMs;
}

function leaseTooShort(state: CarriedOut, left: readonly PlannedChange[]): Pick<CarriedOut, "nextInMs" | "verdicts"> {
  const reason = "the lease could end before the call would: the rest waits for the next cycle";
  const said = verdict("permit", "wait", reason, { numbers: { changes: left.length }, keys: keysOf(left) });
  return { nextInMs: VERIFY_AFTER_MS, verdicts: [...state.verdicts, said] };
}

/** A read that contradicts the listing is the newer truth: no listing from before it will do for the next look. */
function afterReads(state: CarriedOut, confirmed: Confirmed, scene: Scene): CarriedOut {
  if (!confirmed.dropped) return state;
  return {
    ...state,
    verdicts: [...state.verdicts, ...confirmed.verdicts],
    nextInMs: verifyInMs(scene),
    memory: { ...state.memory, lastWriteAtMs: scene.lookout.afterNowMs() },
    contradicted: true,
  };
}

function verifyInMs(scene: Scene): number {
  return Math.max(VERIFY_AFTER_MS, scene.lookout.settleMs);
}

/** What one call's result means for the rest of the cycle. */
function after(
  state: CarriedOut,
  result: WriteResult,
  scene: Scene & Partial<Pick<Splitting, "splitsLeft">>,
  changes: readonly PlannedChange[],
): Omit<Progress, "reserved"> {
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
    case "stopped": {
      const apart = halves({ loop: scene.loop, splitsLeft: scene.splitsLeft ?? 0 }, result.error, changes);
      if (apart !== undefined)
        return { state: { ...base, memory: { ...result.memory, stops: state.memory.stops } }, stop: false, apart };
      // One item the provider will never take must not keep the others from converging.
      return { state: { ...base, verdicts: [...state.verdicts, stoppedVerdict(result.error, changes)] }, stop: false };
    }
    case "failed":
      return { state: { ...base, error: result.error }, stop: true };
    case "lost":
      return { state: { ...base, superseded: true }, stop: true };
    case "refused": {
      const said = verdict(
        REFUSING_GUARD[result.answer.refusal],
        "wait",
        `permit refused (${result.answer.refusal}): ${result.answer.detail}`,
        { numbers: { changes: changes.length }, keys: keysOf(changes) },
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

function stoppedVerdict(error: EngineError, changes: readonly PlannedChange[]): Verdict {
  return verdict("all-or-nothing", "refuse", `the provider refused for good: ${error.code}: ${error.message}`, {
    numbers: { changes: changes.length },
    keys: keysOf(changes),
  });
}

interface Reserved {
  /** What waits under a shared budget. */
  readonly refused: ReadonlySet<PlannedChange>;
  readonly verdicts: readonly Verdict[];
  readonly held: readonly HeldGroup[];
}

/**
 * Reserves all deletes that are left at once, right before the first of them. Not earlier: what turns out not to be
 * deletable is tried again, and would be charged each time at the cost of everybody else's deletes.
 */
async function reserve(scene: Carrying, changes: readonly PlannedChange[]): Promise<"lost" | Reserved> {
  const { facts } = scene;
  const removals = changes.filter((change) => removesItself(scene, change));
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
  const refused = reservationVerdict(ungranted, answer, weightOf(granted), scene.later);
  if (refused === undefined) return { refused: new Set(), verdicts: [], held: [] };
  return { refused: new Set(ungranted), verdicts: [refused.verdict], held: [refused.held] };
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
    const problem = removes(change) ? removalProblem(scene, change, now) : absenceProblem(scene, change, now);
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
  const about = {
    numbers: { observedFromMs: scene.lookout.toStoreMs(scene.seen.startedAtMonotonicMs) },
    keys: [change.key],
  };
  if (now === "absent") return verdict("evidence", "wait", "already gone when read right before its delete", about);
  if (now.lockedBy !== undefined)
    return verdict("protection", "refuse", `protected against deletion: provider lock (${now.lockedBy})`, about);
  if (now.externalId !== change.seen?.externalId)
    return verdict("ownership", "refuse", "another thing is there under this key now", about);
  const { marker } = now;
  const foreign =
    typeof marker === "object" &&
    ("foreign" in marker ||
      marker.installationId !== scene.input.installation.id ||
      marker.resourceUid !== scene.subject.uid);
  if (foreign) return verdict("ownership", "refuse", "another owner's marker is on it now", about);
  if (scene.loop.marks === true && marker === "none")
    return verdict("ownership", "wait", "our marker is missing: it is put back and seen again before a delete", about);
  const stable = (seen: Seen<object>) => digestOf(scene.loop.stable?.(seen.item) ?? seen.item);
  if (stable(now) !== stable(change.seen))
    return verdict("evidence", "wait", "changed since the look its delete was decided on", about);
  return undefined;
}

/** Absence from a list is a suspicion; *missing* needs a read by the recorded id. */
function absenceProblem(scene: Scene, change: PlannedChange, now: Seen<object> | "absent"): Verdict | undefined {
  if (now === "absent") return undefined;
  return verdict("evidence", "wait", "not in the listing, but there when read by its id", {
    numbers: { observedFromMs: scene.lookout.toStoreMs(scene.seen.startedAtMonotonicMs) },
    keys: [change.key],
  });
}
