import type { CycleInput, DeclaredResource, Finding, SubjectMemory, Verdict } from "../ports/records.ts";
import { ignoredVerdict, ignoring } from "./ignored.ts";
import { type Admission, admit, asksNothing, nothingAsked } from "./admit.ts";
import { backoffMs } from "./backoff.ts";
import { type CarriedOut, carryOut, nothingDone } from "./carry-out.ts";
import type { Claim, CycleReport, CycleResult, Engine } from "./claim.ts";
import { dockInCycle } from "./cycle-dock.ts";
import { type DesiredSet, desiredSet } from "./desired-set.ts";
import { EngineError, TerminalError, toEngineError } from "./errors.ts";
import { verdict } from "./facts.ts";
import { PERMIT_MARGIN_MS } from "./fence.ts";
import { factsOf } from "./gathered-facts.ts";
import { keptFromGoing } from "./leaving.ts";
import { Lookout } from "./look.ts";
import type { Measured } from "./loop.ts";
import { startAgain } from "./operation-start.ts";
import { parsedSubject } from "./parsed-subject.ts";
import { Phases } from "./phases.ts";
import { makePlan, type Plan, sizesOf } from "./plan.ts";
import { effectivePolicy } from "./policy.ts";
import { remembered } from "./remembered.ts";
import type { Scene, Still, Turn, Turner } from "./scene.ts";
import { pausedWords } from "./scope-words.ts";
import { reportOf, settleTurn } from "./settle.ts";
import {
  againTurn,
  dockingTurn,
  failed,
  goneTurn,
  isThrottled,
  keptTurn,
  pausedTurn,
  refusedWildcard,
  retryInMs,
  unseenTurn,
  withFindings,
} from "./turns.ts";

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
  if (pause !== undefined) return pausedTurn(withFindings(loaded, []), pausedWords(pause));

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

async function decideAndAct(scene: Scene): Promise<Turn> {
  const plan = withoutOperations(scene, planOf(scene));
  const memory = remembered(scene, plan);
  const before = said(scene, plan);
  scene.phases.passed("diff");
  const { admission, done } = asksNothing(plan)
    ? atRest(memory, before)
    : await admitAndAct(scene, plan, memory, before);
  const observation = { seen: scene.seen, atMs: scene.lookout.toStoreMs(scene.seen.startedAtMonotonicMs) };
  const inspection = isQuiet(scene, done) ? await scene.lookout.inspect(scene.seen, scene.policy.mode) : undefined;
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
