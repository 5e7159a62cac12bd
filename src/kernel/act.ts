import type { PermitAnswer, PermitInputs } from "../ports/engine-store.ts";
import type { ChangeOutcome, ChangeRecord, CycleInput, Fight, SubjectMemory, Verdict } from "../ports/records.ts";
import { childrenOf } from "./children.ts";
import type { Claim, Engine } from "./claim.ts";
import { type EngineError, RetryableError, TerminalError } from "./errors.ts";
import { type Facts, removes, verdict } from "./facts.ts";
import { type Called as CalledWith, fenced } from "./fence.ts";
import { FIGHT_ROUNDS, isSameDifference } from "./guards/fights.ts";
import { digestOf } from "./hash.ts";
import type { Lookout } from "./look.ts";
import type { BatchChange, Loop, Marker, Subject, WriteContext } from "./loop.ts";
import { withOwned } from "./memory.ts";
import type { PlannedChange } from "./plan.ts";
import { startReplacement } from "./start-replacement.ts";

export interface WriteScene {
  readonly engine: Engine;
  readonly claim: Claim;
  readonly input: CycleInput;
  readonly facts: Facts;
  readonly loop: Loop<unknown, object>;
  readonly subject: Subject<unknown>;
  readonly lookout: Lookout;
  readonly verdicts: readonly Verdict[];
}

export type WriteResult =
  | { readonly ended: "done"; readonly memory: SubjectMemory; readonly written: number }
  /** The provider refused for good; the keys are stopped, the rest of the plan goes on. */
  | { readonly ended: "stopped"; readonly memory: SubjectMemory; readonly error: EngineError }
  /** Later, with the memory as recorded. */
  | { readonly ended: "failed"; readonly memory: SubjectMemory; readonly error: EngineError }
  | {
      readonly ended: "refused";
      readonly memory: SubjectMemory;
      readonly answer: Extract<PermitAnswer, { granted: false }>;
    }
  | { readonly ended: "lost"; readonly memory: SubjectMemory };

/** One call of a plan: its intent is recorded with the permit, its outcome when the permit ends. */
export async function write(
  scene: WriteScene,
  changes: readonly PlannedChange[],
  memory: SubjectMemory,
): Promise<WriteResult> {
  refuseWildcards(scene, changes);
  const records = changes.map((change) => recordOf(scene, change));
  const intended = changes.reduce((before, change) => withIntent(before, change, scene.lookout.storeNowMs()), memory);
  // While leaving the spec may be one that no longer parses: the last good one is what the deletes go by.
  const { spec, deletion } = scene.input.resource;
  const remembered = { ...intended, lastSpec: deletion === undefined ? spec : (memory.lastSpec ?? spec) };
  const asked = {
    inputs: inputsOf(scene, changes),
    deletes: changes.some(removes),
    changes: records,
    memory: remembered,
    grantIds: changes.flatMap((change) => scene.facts.grants.get(change.digest)?.id ?? []),
  };
  const what = `${scene.loop.kind}/${scene.subject.name}`;
  const { callTimeoutMs } = scene.lookout;
  const answer = await fenced({ ...scene, what, callTimeoutMs }, asked, callOf(scene, changes, memory));
  if (!answer.granted) return { ended: "refused", memory, answer };
  const { permitId, called } = answer;
  return await record(scene, { changes, records, permitId, memory: remembered, called });
}

type Called = CalledWith<ReadonlyMap<string, string>>;

/** Whether all changes of a cycle go in one call: the loop can say them so, and the provider of the account can make them so. */
export function appliesTogether({ engine, input, loop }: Pick<WriteScene, "engine" | "input" | "loop">): boolean {
  if (loop.apply === undefined || loop.appliesAt === undefined || input.account === undefined)
    return loop.apply !== undefined;
  return loop.appliesAt(engine.accounts.world(input.account).reader);
}

/** Undefined where only our own record changes: that needs a permit and no call. */
function callOf(scene: WriteScene, changes: readonly PlannedChange[], memory: SubjectMemory) {
  const { engine, input, loop, subject } = scene;
  const outside = changes.filter((change) => !isBookkeeping(change));
  const [only] = outside;
  if (only === undefined) return undefined;
  if (isByOperation(scene, only)) return () => startReplacement(scene, only);
  const marker: Marker = { installationId: input.installation.id, resourceUid: subject.uid };
  const writer = input.account === undefined ? undefined : engine.accounts.world(input.account).writer;
  const ending = new Set(
    changes.filter(({ action }) => action === "delete" || action === "forget").map(({ key }) => key),
  );
  const last = input.resource.deletion !== undefined && memory.owned.every(({ key }) => ending.has(key));
  const children = childrenOf(engine, { loop, subject, account: input.account });
  const context = { writer, marker, last, children, together: appliesTogether(scene) };
  return (signal: AbortSignal) => invoke(loop, { ...context, signal }, subject, outside);
}

async function invoke(
  loop: Loop<unknown, object>,
  { together, ...ctx }: WriteContext<unknown> & { readonly together: boolean },
  subject: Subject<unknown>,
  changes: readonly PlannedChange[],
): Promise<ReadonlyMap<string, string>> {
  if (loop.apply !== undefined && together) {
    return (await loop.apply(ctx, subject, changes.map(batchChange))) ?? new Map<string, string>();
  }
  const ids = new Map<string, string>();
  for (const change of changes) {
    if (change.seen !== undefined && (change.action === "delete" || change.action === "replace"))
      await loop.remove(ctx, subject, change.seen);
    // Out of time meanwhile, and the permit with it: the answer comes to nobody, and the other half is for the next cycle.
    if (ctx.signal.aborted) return ids;
    if (change.wanted !== undefined && (change.action === "create" || change.action === "replace"))
      ids.set(change.key, (await loop.create(ctx, subject, change.wanted)).externalId);
    if (change.wanted !== undefined && change.seen !== undefined && change.action === "update")
      await loop.update(ctx, subject, change.wanted, change.seen);
  }
  return ids;
}

function batchChange(change: PlannedChange): BatchChange<object> {
  const { wanted, seen } = change;
  if (change.action === "create" && wanted !== undefined) return { action: "create", wanted };
  if (change.action === "delete" && seen !== undefined) return { action: "delete", seen };
  if ((change.action === "update" || change.action === "replace") && wanted !== undefined && seen !== undefined)
    return { action: change.action, wanted, seen };
  throw new TerminalError("INTERNAL", `A ${change.action} of '${change.key}' cannot be part of a batch`);
}

interface Recording {
  readonly changes: readonly PlannedChange[];
  readonly records: readonly ChangeRecord[];
  readonly permitId: string;
  readonly memory: SubjectMemory;
  readonly called: Called;
}

async function record(scene: WriteScene, recording: Recording): Promise<WriteResult> {
  const { called, changes } = recording;
  const nowMs = scene.lookout.afterNowMs();
  const memory = called.ok
    ? changes.reduce((before, change) => withOutcome(before, change, externalIdsOf(called), nowMs), recording.memory)
    : changes.reduce((before, change) => withFailure(before, change, called.error, scene, nowMs), recording.memory);
  const settled = { ...memory, lastWriteAtMs: nowMs };
  const claims = called.ok ? changes.flatMap((change) => claimOf(change, externalIdsOf(called))) : [];
  const releases = called.ok ? changes.flatMap((change) => releaseOf(change, externalIdsOf(called))) : [];
  const outcomes = recording.records.map((entry) => outcomeOf(entry, called, nowMs));
  const base = { actor: scene.claim.actor, subject: scene.input.subject, permitId: recording.permitId };
  try {
    const kept = await scene.engine.store.recordOutcome({ ...base, outcomes, memory: settled, claims, releases });
    if (!kept) return { ended: "lost", memory: settled };
  } catch (thrown) {
    if (!isSecondClaimant(thrown)) throw thrown;
    return await refuseSecondClaim(scene, recording, nowMs);
  }
  if (called.ok)
    return { ended: "done", memory: settled, written: changes.filter((change) => !isBookkeeping(change)).length };
  return { ended: called.error instanceof TerminalError ? "stopped" : "failed", memory: settled, error: called.error };
}

/** Another subject already owns that outside thing: it keeps it, and this one is told. */
async function refuseSecondClaim(scene: WriteScene, recording: Recording, nowMs: number): Promise<WriteResult> {
  const { actor } = scene.claim;
  const { permitId, changes } = recording;
  const refused = changes.length === 1 ? refusedAlone(scene, recording, nowMs) : refusedInBatch(recording, nowMs);
  const { error, outcomes, releases } = refused;
  const memory = { ...refused.memory, lastWriteAtMs: nowMs };
  const told = { actor, subject: scene.input.subject, permitId, outcomes, memory, claims: [], releases };
  if (!(await scene.engine.store.recordOutcome(told))) return { ended: "lost", memory };
  return { ended: error instanceof TerminalError ? "stopped" : "failed", memory, error };
}

interface RefusedClaim {
  readonly error: EngineError;
  readonly memory: SubjectMemory;
  readonly outcomes: readonly ChangeOutcome[];
  readonly releases: readonly string[];
}

function refusedAlone(scene: WriteScene, { changes, records, memory }: Recording, nowMs: number): RefusedClaim {
  const error = new TerminalError(
    "ALREADY_EXISTS",
    `Owned by another resource already: ${changes.map((change) => change.key).join(", ")}. One of the two declarations must go`,
  );
  const stripped = changes.reduce<SubjectMemory>((before, change) => withOwned(before, change.key, undefined), memory);
  return {
    error,
    memory: changes.reduce((before, change) => withFailure(before, change, error, scene, nowMs), stripped),
    outcomes: records.map((entry) => outcomeOf(entry, { ok: false, error }, nowMs)),
    releases: [],
  };
}

/** Which of a batch it was, nobody says: what was made stays intended, and is adopted or refused one by one after the next look. */
function refusedInBatch({ changes, records, memory, called }: Recording, nowMs: number): RefusedClaim {
  const error = new RetryableError(
    "ALREADY_EXISTS",
    `Owned by another resource already: one of ${changes.map((change) => change.key).join(", ")}. The next look tells which`,
  );
  const ids = externalIdsOf(called);
  const settled = changes.filter((change) => claimOf(change, ids).length === 0);
  const keys = new Set(settled.map((change) => change.key));
  return {
    error,
    memory: settled.reduce((before, change) => withOutcome(before, change, ids, nowMs), memory),
    outcomes: records.map((entry) => outcomeOf(entry, keys.has(entry.key) ? called : { ok: false, error }, nowMs)),
    releases: settled.flatMap((change) => releaseOf(change, ids)),
  };
}

/** The external ids that the call answered with, by key. */
function externalIdsOf(called: Called): ReadonlyMap<string, string> {
  return (called.ok ? called.value : undefined) ?? new Map<string, string>();
}

function isSecondClaimant(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "SECOND_CLAIMANT";
}

/** Deletes and replacements need the very inputs the plan was made from; the rest only what declares these items. */
function inputsOf(scene: WriteScene, changes: readonly PlannedChange[]): PermitInputs {
  if (changes.some(removes)) return { check: "version", inputVersion: scene.input.inputVersion };
  const sources = new Map(changes.flatMap((change) => change.sources).map((source) => [source.uid, source]));
  return { check: "sources", sources: [...sources.values()], policyVersion: scene.input.policyVersion };
}

function recordOf(scene: WriteScene, change: PlannedChange): ChangeRecord {
  const declared = [scene.input.resource, ...scene.input.inputs];
  const uids = change.action === "delete" ? (change.owned?.sources ?? []) : change.sources.map((source) => source.uid);
  return {
    id: scene.engine.ids.next(),
    action: change.action,
    key: change.key,
    externalId: change.seen?.externalId ?? change.owned?.externalId,
    trigger: scene.claim.trigger,
    differences: change.differences,
    declaredBy: declared
      .filter((resource) => uids.includes(resource.uid))
      .map((resource) => ({
        uid: resource.uid,
        author: resource.deletion?.author.name ?? resource.author.name,
        atMs: resource.deletion?.atMs ?? resource.declaredAtMs,
      })),
    verdicts: [...scene.verdicts.filter((said) => said.keys.includes(change.key)), ...evidenceOf(change, scene)],
    grantId: scene.facts.grants.get(change.digest)?.id,
    intendedAtMs: scene.lookout.storeNowMs(),
  };
}

/** A delete keeps what it rests on. */
function evidenceOf(change: PlannedChange, scene: WriteScene): readonly Verdict[] {
  if (!removes(change)) return [];
  const numbers = { observedFromMs: scene.facts.observedFromMs, owned: scene.facts.owned, weight: change.weight };
  return [
    verdict(
      "evidence",
      "pass",
      `${change.origin ?? "declared"} ${change.action} on a ${scene.facts.completeness} look`,
      { numbers, keys: [change.key] },
    ),
  ];
}

function withIntent(memory: SubjectMemory, change: PlannedChange, nowMs: number): SubjectMemory {
  if (change.action !== "create" && change.action !== "replace") return memory;
  return withOwned(memory, change.key, {
    key: change.key,
    state: "intended",
    externalId: change.action === "replace" ? change.owned?.externalId : undefined,
    sources: change.sources.map((source) => source.uid),
    wantedHash: change.wantedHash,
    intendedAtMs: nowMs,
    writtenAtMs: change.owned?.writtenAtMs,
  });
}

function withOutcome(
  memory: SubjectMemory,
  change: PlannedChange,
  ids: ReadonlyMap<string, string>,
  nowMs: number,
): SubjectMemory {
  if (isRemoval(change)) return withOwned(memory, change.key, undefined);
  const externalId = ids.get(change.key) ?? change.seen?.externalId ?? change.key;
  const owned = withOwned(memory, change.key, {
    key: change.key,
    state: "owned",
    externalId,
    // What is written although nobody declares it any more (a marker put back) keeps the sources it had.
    sources:
      change.wanted?.sources === undefined ? (change.owned?.sources ?? []) : change.sources.map((source) => source.uid),
    wantedHash: change.wantedHash,
    intendedAtMs: change.owned?.intendedAtMs ?? nowMs,
    writtenAtMs: isBookkeeping(change) ? change.owned?.writtenAtMs : nowMs,
  });
  const fights = change.action === "update" || change.missing;
  return fights ? { ...owned, fights: foughtAgain(owned.fights, change, nowMs) } : owned;
}

/** A write of a field that succeeded opens or continues a round; whether it was a fight, the next look shows. */
function foughtAgain(fights: readonly Fight[], change: PlannedChange, nowMs: number): readonly Fight[] {
  const others = fights.filter(
    (fight) => fight.key !== change.key || !change.differences.some((difference) => difference.field === fight.field),
  );
  const rounds = change.differences.map((difference) => {
    const before = fights.find(
      (fight) => fight.key === change.key && fight.field === difference.field && isSameDifference(fight, difference),
    );
    const count = Math.min(FIGHT_ROUNDS, (before?.count ?? 0) + 1);
    return {
      key: change.key,
      field: difference.field,
      wantedHash: digestOf(difference.wanted),
      seenHash: digestOf(difference.seen),
      count,
      stoppedAtMs: count >= FIGHT_ROUNDS ? nowMs : undefined,
    };
  });
  return [...others, ...rounds];
}

function withFailure(
  memory: SubjectMemory,
  change: PlannedChange,
  error: EngineError,
  scene: WriteScene,
  nowMs: number,
): SubjectMemory {
  const surelyNothing = error instanceof TerminalError || (error instanceof RetryableError && !error.ambiguous);
  // A create that surely did nothing leaves no intent behind; anything else is looked for before it is tried again.
  const intent =
    change.action === "create" && surelyNothing
      ? withOwned(memory, change.key, change.owned)
      : touched(memory, change, nowMs);
  if (!(error instanceof TerminalError)) return intent;
  const stop = {
    key: change.key,
    inputVersion: scene.input.inputVersion,
    sinceMs: nowMs,
    code: error.code,
    message: error.message,
  };
  return { ...intent, stops: [...(intent.stops ?? []).filter((entry) => entry.key !== change.key), stop] };
}

/** The thing may have changed although we do not know: no look that began before now says anything about it. */
function touched(memory: SubjectMemory, change: PlannedChange, nowMs: number): SubjectMemory {
  const owned = memory.owned.find((item) => item.key === change.key);
  return owned === undefined || owned.state === "intended"
    ? memory
    : withOwned(memory, change.key, { ...owned, writtenAtMs: nowMs });
}

function claimOf(
  change: PlannedChange,
  ids: ReadonlyMap<string, string>,
): readonly { readonly externalId: string; readonly key: string }[] {
  if (change.action === "delete" || change.action === "forget" || change.action === "update") return [];
  return [{ externalId: ids.get(change.key) ?? change.seen?.externalId ?? change.key, key: change.key }];
}

/** What we had recorded under that key and have no more: it went, or another thing took its place. */
function releaseOf(change: PlannedChange, ids: ReadonlyMap<string, string>): readonly string[] {
  const before = change.owned?.externalId;
  if (before === undefined || change.action === "update") return [];
  return claimOf(change, ids).some((claim) => claim.externalId === before) ? [] : [before];
}

function outcomeOf(entry: ChangeRecord, called: Called, nowMs: number): ChangeOutcome {
  if (called.ok)
    return {
      changeId: entry.id,
      result: "done",
      externalId: externalIdsOf(called).get(entry.key) ?? entry.externalId,
      answer: "ok",
      endedAtMs: nowMs,
    };
  const ambiguous = called.error instanceof RetryableError && called.error.ambiguous;
  return {
    changeId: entry.id,
    result: ambiguous ? "ambiguous" : "failed",
    answer: `${called.error.code}: ${called.error.message}`,
    endedAtMs: nowMs,
  };
}

/** Recording what is already true outside needs no call. A takeover records; the difference is then an ordinary update. */
export function isBookkeeping(change: PlannedChange): boolean {
  return change.action === "adopt" || change.action === "forget" || change.action === "takeover";
}

/** A replacement that the loop does not make itself. */
export function isByOperation({ loop }: Pick<WriteScene, "loop">, { action }: PlannedChange): boolean {
  return action === "replace" && loop.replacement !== undefined;
}

function isRemoval(change: PlannedChange): boolean {
  return change.action === "delete" || change.action === "forget";
}

/** An empty name would mean "all" to some provider. */
function refuseWildcards(scene: WriteScene, changes: readonly PlannedChange[]): void {
  const nameless = changes.find((change) => change.key === "" || change.seen?.externalId === "");
  if (nameless === undefined) return;
  throw new TerminalError(
    "WILDCARD_REFUSED",
    `${scene.loop.kind}/${scene.subject.name}: a ${nameless.action} without a name was planned; an empty name never means "all"`,
  );
}
