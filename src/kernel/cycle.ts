import type {
  AccountRecord,
  CycleInput,
  DeclaredResource,
  FieldDifference,
  Fight,
  Finding,
  HeldGroup,
  OwnedItem,
  SubjectMemory,
  Undone,
  Verdict,
} from "../ports/records.ts";
import type { Settlement } from "../ports/engine-store.ts";
import type { OperationStart } from "../ports/operation-store.ts";
import { ignoredVerdict, ignoring } from "./ignored.ts";
import { type Admission, admit, asksNothing, nothingAsked } from "./admit.ts";
import { accountProblemOf } from "./account-claim.ts";
import { backoffMs } from "./backoff.ts";
import { type CarriedOut, carryOut, nothingDone } from "./carry-out.ts";
import type { Claim, CycleReport, CycleResult, Engine } from "./claim.ts";
import { type DockingWait, dockInCycle } from "./cycle-dock.ts";
import { type DesiredSet, desiredSet } from "./desired-set.ts";
import { EngineError, RetryableError, TerminalError, toEngineError } from "./errors.ts";
import { type Facts, verdict } from "./facts.ts";
import { isSameDifference } from "./guards/fights.ts";
import { isRemediation } from "./guards/too-many-at-once.ts";
import { Lookout } from "./look.ts";
import { keptFromGoing } from "./leaving.ts";
import type { Inspection, Loop, Measured, Observation, Subject } from "./loop.ts";
import { startAgain } from "./operation-start.ts";
import { parsedSubject } from "./parsed-subject.ts";
import { makePlan, type Plan, sizesOf } from "./plan.ts";
import { Phases } from "./phases.ts";
import { effectivePolicy, type Policy } from "./policy.ts";
import { reportOf, settleTurn } from "./settle.ts";
import { withTimeLimit } from "./time-limit.ts";
import { PERMIT_MARGIN_MS } from "./fence.ts";

/** A terminal failure is tried once more after this long even if nothing changed. */
const STOP_FOR_MS = 60 * 60_000;
/** Subjects that went bad within this time of one another went bad together; longer where they are looked at more rarely. */
const SUSPECT_WINDOW_MS = 10 * 60_000;

/** What a cycle came to, before it is settled. */
export interface Turn {
  readonly result: CycleResult;
  readonly message: string;
  readonly memory: SubjectMemory;
  readonly observation?: { readonly seen: Observation<object>; readonly atMs: number } | undefined;
  readonly plan?: Plan | undefined;
  readonly inspection?: Inspection | undefined;
  /** Undefined when this cycle cannot say: then it is as it was. */
  readonly stale?: DesiredSet["stale"] | undefined;
  readonly verdicts: readonly Verdict[];
  /** What waits for a person; undefined when this cycle cannot say. */
  readonly held: readonly HeldGroup[] | undefined;
  readonly nextInMs: number | undefined;
  readonly written: number;
  /** Undefined when this cycle cannot say: then it is as it was. */
  readonly bad: boolean | undefined;
  readonly memoryUnknown: boolean;
  readonly site?: string | undefined;
  /** The operation that was not run, and is now. */
  readonly startsAgain?: Settlement["startsAgain"];
}

/** Who takes a turn, and where its time goes. */
export interface Turner {
  readonly engine: Engine;
  readonly claim: Claim;
  readonly phases: Phases;
}

/** One pass over one subject: look, compare, decide, act within the guards, settle. */
export async function runCycle(engine: Engine, claim: Claim): Promise<CycleReport> {
  const loaded = await engine.store.load(claim.subjectId, claim.organizationId);
  if (loaded === undefined)
    return reportOf(claim, undefined, { result: "gone", message: "the subject no longer exists" });
  const storeAheadMs = loaded.storeNowMs - engine.clock.monotonicMs();
  const input = ownedBy(claim, loaded);
  const phases = new Phases(engine.clock);
  const turn = await takeTurn({ engine, claim, phases }, input, storeAheadMs).catch((thrown: unknown) =>
    failed(engine, withFindings(input, []), thrown),
  );
  try {
    return await settleTurn({ engine, claim, phases }, input, turn);
  } finally {
    if (input.account !== undefined) engine.accounts.newlyBad.delete(input.account.id, claim.subjectId);
  }
}

/** An operation's own hold does not keep its own cycle out. */
function ownedBy(claim: Claim, input: CycleInput): CycleInput {
  const { operationId } = claim.actor;
  return operationId !== undefined && input.hold?.operationId === operationId ? { ...input, hold: undefined } : input;
}

async function takeTurn(turner: Turner, loaded: CycleInput, storeAheadMs: number): Promise<Turn> {
  const { engine, claim, phases } = turner;
  const { resource } = loaded;
  // A pause of everything stops looks too; the lesser pauses only take changes out of the plan.
  const pause = loaded.pauses.find((entry) => entry.level === "all");
  if (pause !== undefined)
    return pausedTurn(
      withFindings(loaded, []),
      `everything paused at ${pause.scope} by ${pause.author}: ${pause.reason}`,
    );

  // An uninstalled kind abandons: its things stay as they are, and only somebody who knows the kind can touch them.
  const kind = engine.kinds.get(loaded.subject.kind);
  const loop = kind?.loop;
  if (kind === undefined || loop === undefined)
    return unseenTurn(
      engine,
      withFindings(loaded, []),
      new TerminalError(
        "KIND_UNKNOWN",
        `No loop is installed for the kind '${loaded.subject.kind}'; nothing is looked at or changed`,
      ),
    );

  // Somebody who leaves with nothing of ours outside is gone without another look.
  const nothingOwned = resource.deletion !== undefined && loaded.memory.owned.length === 0;
  const kept = nothingOwned ? keptFromGoing(loaded) : undefined;
  if (nothingOwned && kept === undefined) return goneTurn(loaded);
  const start = claim.actor.operationId === undefined ? startAgain(engine.ids, kind, loaded) : undefined;
  if (start !== undefined && loaded.undone !== undefined) return againTurn(loaded, loaded.undone, start);
  if (kept !== undefined) return keptTurn(loaded, kept);

  const subject = parsedSubject(kind, loaded);
  const policy = effectivePolicy(loaded.policies, loop.limits);
  const wanted = policy.mode === "observe" ? undefined : loop.docks?.(subject);
  const docking = await dockInCycle(engine, claim, loaded, wanted);
  if (docking !== undefined) return dockingTurn(loaded, docking);
  const { confirmAfterMs } = policy.limits;
  const looking = { engine, claim, storeAheadMs, loop, subject, confirmAfterMs };
  const measured = loop.measure === undefined ? undefined : await measure({ ...looking, input: loaded });
  const desired = await desiredSet(loop, subject, loaded, engine.kinds, measured);
  const input = withFindings(loaded, stillFound(loaded.memory.findings, desired));
  phases.passed("diff");
  const looked = await look({ ...looking, input }).catch(toEngineError);
  phases.passed("observe");
  if (looked instanceof EngineError) return unseenTurn(engine, input, looked);
  const limits = { ...policy.limits, confirmAfterMs: looked.lookout.confirmAfterMs };
  const scene: Scene = { ...turner, input, loop, subject, policy: { ...policy, limits }, desired, ...looked };
  return await decideAndAct(scene);
}

/** A first finding stands only as long as every cycle since then has computed what is wanted and still did not find the item in it. */
function stillFound(findings: readonly Finding[], desired: DesiredSet): readonly Finding[] {
  if (!desired.known || findings.length === 0) return [];
  const wanted = new Set(desired.items.map((item) => item.key));
  return findings.filter((finding) => !wanted.has(finding.key));
}

function withFindings(input: CycleInput, findings: readonly Finding[]): CycleInput {
  return findings.length === input.memory.findings.length ? input : { ...input, memory: { ...input.memory, findings } };
}

/** Nothing measured is an answer too, and never the end of a cycle: what is wanted is then weighed without. */
async function measure(options: ConstructorParameters<typeof Lookout>[0]): Promise<Measured> {
  try {
    return { known: true, value: await new Lookout(options).measure() };
  } catch (thrown) {
    const { code, message } = toEngineError(thrown);
    return { known: false, reason: `${code}: ${message}` };
  }
}

async function look(options: ConstructorParameters<typeof Lookout>[0]): Promise<Pick<Scene, "lookout" | "seen">> {
  const lookout = new Lookout(options);
  return { lookout, seen: await lookout.observe() };
}

export interface Scene extends Turner {
  readonly input: CycleInput;
  readonly loop: Loop<unknown, object>;
  readonly subject: Subject<unknown>;
  readonly policy: Policy;
  readonly desired: DesiredSet;
  readonly lookout: Lookout;
  readonly seen: Observation<object>;
}

/** What a plan is made from, whoever looked: a cycle just now, or one before, for a dry run. */
export type Still = Pick<Scene, "input" | "loop" | "subject" | "policy" | "desired" | "seen"> & {
  readonly lookout: Pick<Lookout, "toStoreMs" | "storeNowMs" | "settleMs" | "callTimeoutMs">;
};

async function decideAndAct(scene: Scene): Promise<Turn> {
  const plan = withoutOperations(scene, planOf(scene));
  const memory = remembered(scene, plan);
  const before = said(scene, plan);
  scene.phases.passed("diff");
  const { admission, done } = asksNothing(plan)
    ? atRest(memory, before)
    : await admitAndAct(scene, plan, memory, before);
  const observation = { seen: scene.seen, atMs: scene.lookout.toStoreMs(scene.seen.startedAtMonotonicMs) };
  const inspection = isQuiet(scene, done) ? await scene.lookout.inspect(scene.seen) : undefined;
  scene.phases.passed("observe");
  const again = nextOf(scene, plan, admission, done);
  return {
    inspection,
    stale: scene.desired.known ? scene.desired.stale : undefined,
    result: resultOf(scene, plan, done),
    message: messageOf(plan, done.verdicts, done.error),
    memory: done.memory.attempts === again.attempts ? done.memory : { ...done.memory, attempts: again.attempts },
    observation,
    plan,
    verdicts: [...done.verdicts, ...refusedWildcard(done.error)],
    // While an operation holds the subject, what waits for a person is that operation's to say.
    held: done.heldUnknown || scene.input.hold !== undefined ? undefined : done.held,
    nextInMs: earlier(again.nextInMs, inspection?.againInMs),
    written: done.written,
    bad: isBad(scene, plan),
    memoryUnknown: done.memoryUnknown,
    site: scene.loop.site?.(scene.subject),
  };
}

/** What takes an operation of its own is not for a cycle in the name of another one: the loop proposes it when that has ended. */
function withoutOperations({ claim, loop }: Scene, plan: Plan): Plan {
  if (claim.actor.operationId === undefined || loop.replacement === undefined) return plan;
  return { ...plan, changes: plan.changes.filter(({ action }) => action !== "replace") };
}

/** Behind a write, an error or half a look comes another cycle, which has more to say. */
function isQuiet({ seen, input }: Scene, done: CarriedOut): boolean {
  return (
    done.written === 0 &&
    done.error === undefined &&
    !done.superseded &&
    seen.completeness === "complete" &&
    input.resource.deletion === undefined
  );
}

function earlier(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.min(left, right);
}

interface Decided {
  readonly admission: Admission;
  readonly done: CarriedOut;
}

/** Nearly every look ends here: it costs neither the facts nor the guards, which would have nothing to say. */
function atRest(memory: SubjectMemory, verdicts: readonly Verdict[]): Decided {
  const settled = memory.findings.length === 0 ? memory : { ...memory, findings: [] };
  return { admission: nothingAsked, done: nothingDone(settled, { ...nothingAsked, verdicts }) };
}

async function admitAndAct(
  scene: Scene,
  plan: Plan,
  memory: SubjectMemory,
  before: readonly Verdict[],
): Promise<Decided> {
  const facts = await factsOf(scene, plan, memory);
  const admission = admit(facts);
  const verdicts = [...before, ...admission.verdicts];
  const decided = { ...memory, findings: admission.findings };
  scene.phases.passed("guard");
  const done = await carryOut(scene, { facts, admission: { ...admission, verdicts }, memory: decided });
  scene.phases.passed("act");
  return { admission, done };
}

/** Only a look that shows everything says that a subject is well. */
function isBad(scene: Scene, plan: Plan): boolean | undefined {
  if (plan.changes.some((change) => change.missing)) return true;
  const whole = scene.seen.completeness === "complete" && plan.unsettled.length === 0 && plan.suspected.length === 0;
  return whole ? false : undefined;
}

/** When to come back, and whether that is after one failure more. Without progress the tries become rarer. */
function nextOf(
  scene: Scene,
  plan: Plan,
  admission: Admission,
  done: CarriedOut,
): { readonly attempts: number; readonly nextInMs: number | undefined } {
  const attempts = done.memory.attempts + 1;
  if (done.error !== undefined) {
    const nextInMs = retryInMs(scene.engine, done.error, attempts);
    return { attempts: isThrottled(done.error) ? done.memory.attempts : attempts, nextInMs };
  }
  if (done.contradicted && done.written === 0) {
    const nextInMs = Math.max(done.nextInMs ?? 0, backoffMs(attempts, scene.engine.random));
    return { attempts, nextInMs };
  }
  // What the cap cut off follows at once, but only behind something that was written: else nothing would be different.
  const cut = done.written > 0 && admission.verdicts.some((said) => said.guard === "change-cap");
  const waits = [admission.waitMs, plan.unsettledForMs || undefined, done.nextInMs, cut ? 1 : undefined].filter(
    (wait) => wait !== undefined,
  );
  // A turn that only waits, to see what an earlier try did or for its time to come, says nothing about how the next one will end.
  const onlyWaits = done.written === 0 && waits.length > 0;
  return {
    attempts: onlyWaits ? done.memory.attempts : 0,
    nextInMs: waits.length === 0 ? undefined : Math.min(...waits),
  };
}

/** Waiting for the call budget is not a failure of the subject. */
function isThrottled(error: EngineError): boolean {
  return error.code === "RATE_LIMITED";
}

export function planOf(scene: Still): Plan {
  const { input, seen, desired, lookout } = scene;
  const plan = makePlan({
    loop: scene.loop,
    claimsAll: scene.loop.claimsAll?.(scene.subject),
    foreign: seen.foreign,
    marker: { installationId: input.installation.id, resourceUid: scene.subject.uid },
    wanted: desired.items,
    seen: seen.items,
    owned: input.memory.owned,
    complete: seen.completeness === "complete",
    observedFromMs: lookout.toStoreMs(seen.startedAtMonotonicMs),
    nowMs: lookout.storeNowMs(),
    settleMs: lookout.settleMs,
    answerMs: lookout.callTimeoutMs + PERMIT_MARGIN_MS,
    leaving: input.resource.deletion,
    tombstones: uidsOf(input.inputs, ({ deletion }) => deletion !== undefined),
    released: uidsOf(input.inputs, ({ deletion }) => deletion?.orphan === true),
    covered: desired.covered,
    ownSource: { uid: scene.subject.uid, generation: input.resource.generation },
    ignoring: ignoring(scene.policy.ignore, input.resource, input.inputs, lookout.storeNowMs()),
  });
  if (desired.frozenKeys.size === 0) return plan;
  return {
    ...plan,
    changes: plan.changes.filter((change) => change.action === "adopt" || !desired.frozenKeys.has(change.key)),
  };
}

function uidsOf(
  resources: readonly DeclaredResource[],
  which: (resource: DeclaredResource) => boolean,
): ReadonlySet<string> {
  return new Set(resources.filter(which).map((resource) => resource.uid));
}

/** What this look adds to the memory: markers seen or missing, fights that ended, the last good desired set. */
export function remembered(scene: Still, plan: Plan): SubjectMemory {
  const { memory } = scene.input;
  const nowMs = scene.lookout.storeNowMs();
  const stops = memory.stops?.filter(
    (stop) => stop.inputVersion === scene.input.inputVersion && nowMs - stop.sinceMs < STOP_FOR_MS,
  );
  return {
    ...memory,
    owned: rememberedItems(scene, plan, nowMs),
    fights: memory.fights.length === 0 ? memory.fights : rememberedFights(memory.fights, plan),
    stops,
    lastDesired: scene.desired.remember ?? memory.lastDesired,
  };
}

function rememberedItems(scene: Still, plan: Plan, nowMs: number): readonly OwnedItem[] {
  const declared = declaringSources(scene, plan);
  const protect = scene.policy.protectedBy !== undefined;
  return scene.input.memory.owned.map((known) => {
    const item = declaredBy(known, declared.get(known.key));
    const missing = plan.markerMissing.includes(item.key);
    if (missing === (item.markerMissingSinceMs !== undefined) && protect === (item.protect ?? false)) return item;
    return {
      ...item,
      markerMissingSinceMs: missing ? (item.markerMissingSinceMs ?? nowMs) : undefined,
      protect: protect ? true : undefined,
    };
  });
}

/** Only a look that shows the thing says how a fight over it stands. */
function rememberedFights(fights: readonly Fight[], plan: Plan): readonly Fight[] {
  const differences = new Map<string, readonly FieldDifference[]>(
    plan.changes.map((change) => [change.key, change.differences]),
  );
  const unseen = new Set([
    ...plan.unsettled,
    ...plan.suspected,
    ...plan.changes.filter((change) => change.seen === undefined).map((change) => change.key),
  ]);
  return fights.filter(
    (fight) =>
      unseen.has(fight.key) ||
      differences
        .get(fight.key)
        ?.some((difference) => difference.field === fight.field && isSameDifference(fight, difference)),
  );
}

/**
 * Of the items that are as wanted: who declares them now. Without it a source that is gone, and whose write was made but not
 * recorded, would be referred to for ever, and its tombstone with it.
 */
function declaringSources(scene: Still, plan: Plan): ReadonlyMap<string, readonly string[]> {
  const open = new Set([
    ...plan.changes.map((change) => change.key),
    ...plan.foreign.map((entry) => entry.key),
    ...plan.unsettled,
    ...plan.suspected,
    ...scene.desired.frozenKeys,
  ]);
  const asWanted = scene.desired.items.filter((item) => !open.has(item.key));
  return new Map(asWanted.map((item) => [item.key, (item.sources ?? []).map((source) => source.uid)]));
}

function declaredBy(item: OwnedItem, sources: readonly string[] | undefined): OwnedItem {
  if (sources === undefined || sources.length === 0 || item.state !== "owned") return item;
  const same = sources.length === item.sources.length && sources.every((uid) => item.sources.includes(uid));
  return same ? item : { ...item, sources };
}

async function factsOf(scene: Scene, plan: Plan, memory: SubjectMemory): Promise<Facts> {
  const { engine, claim, input, lookout, policy } = scene;
  const account = plan.changes.length === 0 ? undefined : input.account;
  const remediation = plan.changes.some(isRemediation);
  const asked = { notBeforeMonotonicMs: scene.seen.startedAtMonotonicMs, signal: claim.signal };
  return factsFrom(scene, plan, memory, {
    quietSinceMs:
      claim.quietSinceMonotonicMs === undefined ? undefined : lookout.sinceStoreMs(claim.quietSinceMonotonicMs),
    accountProblem: account === undefined ? undefined : await accountProblemOf(engine, input, account, asked),
    rightsProblem: account === undefined ? undefined : await rightsProblemOf(engine, account, policy, claim.signal),
    health: remediation && input.account !== undefined ? await healthOf(scene, input.account, plan) : undefined,
  });
}

/** The facts that somebody had to ask the outside or the store for. */
export type AskedFacts = Pick<Facts, "quietSinceMs" | "accountProblem" | "rightsProblem" | "health">;

export function factsFrom(scene: Still, plan: Plan, memory: SubjectMemory, asked: AskedFacts): Facts {
  const { input, lookout, policy, desired } = scene;
  return {
    ...asked,
    nowMs: lookout.storeNowMs(),
    policy,
    pauses: input.pauses,
    hold: input.hold,
    plan,
    completeness: scene.seen.completeness,
    observedFromMs: lookout.toStoreMs(scene.seen.startedAtMonotonicMs),
    leaving: input.resource.deletion,
    // What is being replaced has its old thing's id on record: that thing is ours until it is gone.
    owned: memory.owned.filter((item) => item.externalId !== undefined).length,
    wanted: desired.items.length,
    desiredKnown: desired.known && desired.whole,
    zeroDeclared: desired.zeroDeclared,
    findings: memory.findings,
    fights: memory.fights,
    stoppedKeys: new Set((memory.stops ?? []).map((stop) => stop.key)),
    stoppedBecause: memory.stops?.map(({ code, message }) => `${code}: ${message}`)[0],
    replacement: scene.loop.replacement,
    grants: new Map(input.grants.map((grant) => [grant.itemDigest, grant])),
    confirmed: confirmedKeys(input, plan, policy),
    covered: desired.covered,
  };
}

export async function rightsProblemOf(
  engine: Engine,
  account: AccountRecord,
  policy: Policy,
  signal: AbortSignal,
): Promise<string | undefined> {
  const world = engine.accounts.world(account);
  if (world.rights === undefined || policy.mode === "observe") return undefined;
  await engine.accounts.takeCall(account, true);
  const { callTimeoutMs: ms } = engine.accounts.provider(account);
  const limit = { ms, signal, what: `${account.provider} rights` };
  const asking = engine.accounts.timed(account, () =>
    withTimeLimit(engine.clock, limit, async (limited) => await world.rights?.(limited)),
  );
  const rights = await asking.catch(async (thrown: unknown) => {
    await engine.accounts.noteThrottle(account, thrown);
    throw thrown;
  });
  if (rights === undefined) return undefined;
  return rights.write ? undefined : `the credential of account '${account.name}' may not write: ${rights.reason}`;
}

/**
 * How the account fares around the time this subject went bad, and now: what went bad together stays suspect for as long as it is
 * bad, and who was bad already is no better off than the others.
 */
async function healthOf(scene: Scene, account: AccountRecord, plan: Plan): Promise<Facts["health"]> {
  const site = scene.loop.site?.(scene.subject);
  const badSinceMs = scene.input.status?.badSinceMs;
  const nowMs = scene.lookout.storeNowMs();
  const { newlyBad } = scene.engine.accounts;
  if (badSinceMs === undefined && plan.changes.some((change) => change.missing))
    newlyBad.add(account.id, scene.input.subject.id, site);
  const { atSite, ...health } = await scene.engine.store.accountHealth({
    accountId: account.id,
    site,
    aroundMs: badSinceMs === undefined ? [nowMs] : [badSinceMs, nowMs],
    windowMs: Math.max(SUSPECT_WINDOW_MS, scene.loop.everySeconds * 1_000),
  });
  const whole = { ...health, bad: health.bad + newlyBad.count(account.id) };
  if (site === undefined || atSite === undefined) return whole;
  return { ...whole, atSite: { ...atSite, bad: atSite.bad + newlyBad.countAt(account.id, site), site } };
}

/** A person who deletes by name and confirms the count approves in the same request, unless four eyes applies. */
function confirmedKeys(input: CycleInput, plan: Plan, policy: Policy): ReadonlySet<string> {
  const deletes = plan.changes.filter((change) => change.action === "delete");
  const confirmed = new Set<string>();
  if (policy.fourEyes) return confirmed;
  for (const resource of [input.resource, ...input.inputs]) {
    const { deletion } = resource;
    if (deletion?.confirmedCount === undefined || deletion.author.type !== "person") continue;
    const covered =
      resource.uid === input.resource.uid
        ? deletes
        : deletes.filter((change) => change.owned?.sources.every((uid) => uid === resource.uid) === true);
    const count = covered.reduce((sum, change) => sum + change.weight, 0);
    if (count <= deletion.confirmedCount) for (const change of covered) confirmed.add(change.key);
  }
  return confirmed;
}

/** What is to be said about a plan before any guard has seen it. */
export function said(scene: Still, plan: Plan): readonly Verdict[] {
  return [...scene.desired.verdicts, ...incompleteVerdict(scene, plan), ...ignoredVerdict(plan.ignored)];
}

function incompleteVerdict(scene: Still, plan: Plan): readonly Verdict[] {
  if (scene.seen.completeness === "complete" || plan.suspected.length === 0) return [];
  return [
    verdict(
      "complete-reads",
      "wait",
      `not seen, and the look was ${scene.seen.completeness} (${scene.seen.proof}): a suspicion, not absence`,
      { numbers: { items: plan.suspected.length }, keys: plan.suspected },
    ),
  ];
}

function resultOf(scene: Scene, plan: Plan, done: CarriedOut): CycleResult {
  if (done.superseded) return "superseded";
  if (done.error !== undefined && !isThrottled(done.error))
    return done.error instanceof TerminalError ? "stalled" : "failed";
  if (done.written > 0) return "changed";
  if (plan.changes.length === 0 && plan.unsettled.length === 0 && plan.suspected.length === 0)
    return plan.foreign.length > 0 ? "refused" : scene.desired.known ? "converged" : "waiting";
  if (done.held.length > 0) return "held";
  if (done.verdicts.some((said) => said.answer === "refuse")) return "refused";
  return scene.policy.mode === "observe" ? "observing" : "waiting";
}

function messageOf(plan: Plan, verdicts: readonly Verdict[], error: EngineError | undefined): string {
  if (error !== undefined) return `${error.code}: ${error.message}`;
  const words = verdicts.map(({ guard, reason }) => `${guard}: ${reason}`).join("; ");
  if (verdicts.some(({ answer }) => answer !== "pass")) return words;
  if (plan.changes.length === 0 && plan.unsettled.length > 0)
    return `waits to see what an earlier call did to ${plan.unsettled.join(", ")}`;
  if (plan.changes.length === 0) return words === "" ? "as declared" : "as declared, but for what is ignored";
  const sizes = sizesOf(plan);
  const parts = Object.entries(sizes).flatMap(([action, count]) => (count === 0 ? [] : [`${action} ${count}`]));
  return parts.length === 0 ? "as declared" : parts.join(", ");
}

function pausedTurn(input: CycleInput, message: string): Turn {
  const said = verdict("pause", "wait", message);
  return {
    result: "paused",
    message,
    memory: input.memory,
    verdicts: [said],
    held: undefined,
    nextInMs: undefined,
    written: 0,
    bad: undefined,
    memoryUnknown: false,
  };
}

function keptTurn(input: CycleInput, message: string): Turn {
  const turn = pausedTurn(withFindings(input, []), message);
  return { ...turn, result: "waiting", verdicts: [verdict("hold", "wait", message)] };
}

/** It looks at everything itself: until it ends, the subject is the operation's. */
function againTurn(input: CycleInput, { operationId, pipeline, message }: Undone, start: OperationStart): Turn {
  const said = `starts ${pipeline} again, because something has changed since it was ${message}`;
  const turn = pausedTurn(withFindings(input, []), said);
  return { ...turn, result: "waiting", verdicts: [], startsAgain: { instead: operationId, start } };
}

function dockingTurn(input: CycleInput, { message, attempts, nextInMs }: DockingWait): Turn {
  const turn = pausedTurn(withFindings(input, []), message);
  return { ...turn, result: "waiting", verdicts: [], memory: { ...turn.memory, attempts }, nextInMs };
}

function goneTurn(input: CycleInput): Turn {
  return {
    result: "gone",
    message: "nothing of ours is left outside",
    memory: input.memory,
    verdicts: [],
    held: [],
    nextInMs: undefined,
    written: 0,
    bad: false,
    memoryUnknown: false,
  };
}

/** Nothing was seen, so nothing is concluded: the guard that keeps it so is named in the record. */
function unseenTurn(engine: Engine, input: CycleInput, error: EngineError): Turn {
  const turn = failed(engine, input, error);
  if (turn.result === "waiting") return turn;
  const said = verdict(
    "complete-reads",
    "wait",
    `nothing could be seen (${error.code}: ${error.message}): nothing is deleted or called missing on that`,
    { numbers: { owned: input.memory.owned.length } },
  );
  return { ...turn, verdicts: [...turn.verdicts, said] };
}

/** Whatever was thrown becomes a settled outcome: retryable failures back off, terminal ones wait for an input. */
function failed(engine: Engine, input: CycleInput, thrown: unknown): Turn {
  const error = toEngineError(thrown);
  const attempts = input.memory.attempts + 1;
  const throttled = isThrottled(error);
  const message = `${error.code}: ${error.message}`;
  return {
    result: throttled ? "waiting" : error instanceof TerminalError ? "stalled" : "failed",
    message,
    memory: { ...input.memory, attempts: throttled ? input.memory.attempts : attempts },
    verdicts: refusedWildcard(error),
    held: undefined,
    nextInMs: retryInMs(engine, error, attempts),
    written: 0,
    bad: throttled || error instanceof TerminalError ? undefined : true,
    memoryUnknown: false,
  };
}

/** That an empty name never means "all" is a guard too, wherever it was met. */
function refusedWildcard(error: EngineError | undefined): readonly Verdict[] {
  return error?.code === "WILDCARD_REFUSED" ? [verdict("no-wildcards", "refuse", error.message)] : [];
}

/** A provider's Retry-After wins over our backoff. Terminal failures look again at the pace of a stop. */
function retryInMs(engine: Engine, error: EngineError, attempts: number): number | undefined {
  if (error instanceof TerminalError) return STOP_FOR_MS;
  // "Retry after nothing" is no hint: taken at its word it would be a loop without a pause.
  if (error instanceof RetryableError && error.afterMs !== undefined && error.afterMs > 0) return error.afterMs;
  return backoffMs(attempts, engine.random);
}
