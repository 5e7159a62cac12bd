import type { ChangeAction, MadeThing, Verdict } from "../ports/records.ts";
import { accountProblemOf } from "./account-claim.ts";
import { type Admission, admit } from "./admit.ts";
import { patienceMs } from "./backoff.ts";
import { rightsProblemOf } from "./gathered-facts.ts";
import type { Facts } from "./facts.ts";
import { digestOf } from "./hash.ts";
import { itemDigest } from "./held-change.ts";
import { leftToUndo, standingEntries } from "./journal.ts";
import {
  admittedAs,
  cycleClaim,
  HOLD_RELEASED,
  hasItsHold,
  effectOutput,
  givenTo,
  looking,
  type Outcome,
  parsed,
  type StepScene,
  sceneAt,
  settleHeld,
  stepsOnRecord,
  storeNowMs,
  storyOf,
} from "./operation-scene.ts";
import { type Effect, type Found, type Once, replacementInput, writesOutside } from "./pipeline.ts";
import type { Plan, PlannedChange } from "./plan.ts";
import { effectivePolicy, type Policy } from "./policy.ts";
import { scopeWords } from "./scope-words.ts";
import { dockFirst } from "./operation-dock.ts";

/**
 * The first step of every operation: what its effects would change is planned and put before the very guards a cycle has.
 * Nothing is written outside. Held: a person approves the same items in the same inbox.
 */
export async function runAdmit(scene: StepScene): Promise<Outcome> {
  if (!hasItsHold(scene)) return { is: "released", message: HOLD_RELEASED };
  const outdated = outdatedApproval(scene);
  if (outdated !== undefined) return outdated;
  const policy = effectivePolicy(scene.input.policies, scene.kind.loop?.limits);
  if (policy.mode === "observe")
    return notAdmitted(scene, "OBSERVE_MODE", `observe mode (set at ${scopeWords(policy.modeFrom)})`);
  const undocked = await dockFirst(scene);
  if (undocked !== undefined) return undocked;
  const lookedFromMs = Math.floor(scene.engine.clock.monotonicMs() + scene.storeAheadMs);
  const plan = scene.operation.direction === "forward" ? await planForward(scene) : await planBack(scene);
  const beyond = quotaProblemOf(scene, plan);
  if (beyond !== undefined) {
    const dueInMs = patienceMs(scene.operation.createdAtMs, storeNowMs(scene));
    return { is: "waiting", dueInMs, message: `quota: ${beyond}` };
  }
  const facts = await factsOf(scene, plan, policy, lookedFromMs);
  const decided = admit(facts);
  if (!(await settleHeld(scene, decided.held, decided.verdicts))) return { is: "lost" };
  return outcomeOf(scene, plan, decided);
}

/**
 * What was declared within the quota was accepted, so it is not refused when the quota is lowered: nothing more is made for its
 * kind until there is room.
 */
function quotaProblemOf({ overQuota, kind }: StepScene, plan: Plan): string | undefined {
  if (overQuota === undefined || !plan.changes.some(({ action }) => action === "create")) return undefined;
  const { used, most } = overQuota;
  return `the organization has ${used} ${kind.plural} and may have ${most}: delete some, or ask an operator to raise the quota`;
}

/** Before anything was done it simply does not run; afterwards a person decides what becomes of what was done. */
function notAdmitted(scene: StepScene, code: string, why: string): Outcome {
  if (scene.operation.direction === "forward" && !hasActed(scene)) return notRun(scene, why);
  return { is: "attention", code, message: `cannot go on: ${why}` };
}

function notRun({ input }: StepScene, why: string): Outcome {
  const judgedBy = { generation: input.resource.generation, policyVersion: input.policyVersion };
  return { is: "not-run", message: `not run: ${why}`, judgedBy };
}

function hasActed({ pipeline, journal, operation, input }: StepScene): boolean {
  const standing = standingEntries(pipeline, journal, "forward");
  return (
    pipeline.steps.some(({ type, name }) => writesOutside(type) && standing.get(name)?.result === "done") ||
    input.memory.made?.some(({ operationId }) => operationId === operation.id) === true
  );
}

/**
 * A replacement was approved for one declaration. While the old thing is there, another declaration ends the operation: its loop
 * heals what was prepared, and proposes anew. Once the old thing is gone, the new one is made as it is declared now.
 */
function outdatedApproval(scene: StepScene): Outcome | undefined {
  const { pipeline, operation, input } = scene;
  if (pipeline.replaces !== true || operation.direction === "back" || isAsApproved(scene)) return undefined;
  const { replaces } = parsed(replacementInput, operation.input, "the approved replacement");
  if (input.memory.made?.some(({ externalId }) => externalId === replaces) !== true) return undefined;
  const why = "the declaration changed since this was approved: what it comes to now is proposed anew";
  return hasActed(scene) ? { is: "released", message: why } : notRun(scene, why);
}

/** The whole of what an approved replacement does was approved, for this very declaration. */
export function isAsApproved({ pipeline, operation, input }: StepScene): boolean {
  if (pipeline.replaces !== true || operation.direction === "back") return false;
  const told = replacementInput.safeParse(operation.input);
  return told.success && told.data.generation === input.resource.generation;
}

function outcomeOf(scene: StepScene, plan: Plan, decided: Admission): Outcome {
  const { inputVersion, policyVersion, resource } = scene.input;
  const allIn = decided.admitted.length + decided.later.length === plan.changes.length && plan.foreign.length === 0;
  const keys = plan.changes.map(admittedAs);
  if (allIn) return { is: "done", output: { inputVersion, policyVersion, generation: resource.generation, keys } };
  const said = (verdicts: readonly Verdict[]) => verdicts.map(({ guard, reason }) => `${guard}: ${reason}`).join("; ");
  if (decided.held.length > 0) return { is: "held", message: said(decided.held.map(({ verdict }) => verdict)) };
  const refusals = decided.verdicts.filter(({ answer }) => answer === "refuse");
  if (refusals.length === 0) {
    // For the end of a wait or for a better look.
    const dueInMs = patienceMs(scene.operation.createdAtMs, storeNowMs(scene));
    return { is: "waiting", dueInMs, message: said(decided.verdicts) };
  }
  return notAdmitted(scene, "GUARD_REFUSED", said(refusals));
}

/** The changes of all effects that are left, each after a look at the one thing it is about. */
async function planForward(scene: StepScene): Promise<Plan> {
  const standing = standingEntries(scene.pipeline, scene.journal, "forward");
  const story = storyOf(scene);
  const changes: PlannedChange[] = [];
  const foreign: { key: string; owner: string }[] = [];
  for (const step of scene.pipeline.steps) {
    if ((step.type !== "effect" && step.type !== "once") || standing.has(step.name) || !step.when(story)) continue;
    const planned =
      step.type === "once"
        ? changeOf(scene, step, "update", "absent")
        : await planEffect(await sceneAt(scene, step), step);
    if (planned === "foreign")
      foreign.push({ key: step.key(story), owner: "it is there, and nobody here made or adopted it" });
    else if (planned !== undefined) changes.push(planned);
  }
  return { ...emptyPlan, changes, foreign };
}

async function planEffect(scene: StepScene, step: Effect): Promise<PlannedChange | "foreign" | undefined> {
  // What a step ahead is given may depend on what the ones before it come to: then its look is for later.
  if (step.given(storyOf(scene)) === undefined) return changeOf(scene, step, step.change, "absent");
  const given = givenTo(scene, step);
  const found = await looking(scene, step.name, (context) => step.look(context, given));
  const story = storyOf(scene);
  const key = step.key(story);
  const made = scene.input.memory.made?.find((thing) => thing.key === key);
  if (found !== "absent" && found.markedBy !== undefined) return "foreign";
  if (step.change === "update") return found === "absent" ? changeOf(scene, step, "update", found) : undefined;
  if (step.change === "create") {
    if (found === "absent") return changeOf(scene, step, "create", found);
    const isMine = made?.operationId === scene.operation.id && made.state === "made";
    if (isMine || isAsMade(made, found)) return undefined;
    return step.adopts(story) ? changeOf(scene, step, "adopt", found) : "foreign";
  }
  if (found === "absent") return undefined;
  return isAsMade(made, found) ? changeOf(scene, step, "delete", found) : "foreign";
}

/** What nobody heard of is known by its name alone, or by our marker where such things carry it; anything else by its id. */
export function isAsMade(made: Pick<MadeThing, "externalId"> | undefined, found: Found): boolean {
  if (made === undefined) return false;
  return made.externalId === undefined ? found.unmarked !== true : made.externalId === found.externalId;
}

/**
 * What was made is taken back: a delete where it was created, an update where it was changed. What nobody heard of is looked
 * for, because an approval names the very thing.
 */
async function planBack(scene: StepScene): Promise<Plan> {
  const changes: PlannedChange[] = [];
  for (const { step, made: entry } of leftToUndo(scene.pipeline, scene.journal, stepsOnRecord(scene))) {
    const story = storyOf(scene);
    const key = step.key(story);
    const thing = scene.input.memory.made?.find((one) => one.key === key && one.operationId === scene.operation.id);
    const said = entry === undefined ? undefined : parsed(effectOutput, entry.output, `the output of '${step.name}'`);
    if (thing?.adopted ?? said?.adopted ?? false) continue;
    if (step.change === "create" && thing === undefined) continue;
    const externalId = thing?.externalId ?? said?.externalId;
    const found =
      externalId === undefined && step.change === "create"
        ? await looking(await sceneAt(scene, step), step.name, (context) =>
            step.look(context, entry?.input ?? step.given(story)),
          )
        : "absent";
    if (found !== "absent" && !isAsMade(thing, found)) continue;
    // Not seen is not gone: the guards hear of it all the same, by its name.
    const known = found === "absent" ? { externalId: externalId ?? key, output: said?.output } : found;
    changes.push(changeOf(scene, step, step.change === "create" ? "delete" : "update", known));
  }
  return { ...emptyPlan, changes };
}

/** One effect as the guards know a change; its digest is what an approval of it binds to. */
export function changeOf(
  { input, subject, ...scene }: StepScene,
  step: Effect | Once,
  action: ChangeAction,
  found: Found | "absent",
): PlannedChange {
  const key = step.key(storyOf({ input, subject, ...scene }));
  const seen =
    found === "absent"
      ? undefined
      : {
          key,
          externalId: found.externalId,
          item: {},
          contains: found.contains ?? 0,
          ...(found.lockedBy === undefined ? {} : { lockedBy: found.lockedBy }),
        };
  const wantedHash = digestOf([scene.pipeline.name, step.name, input.resource.generation]);
  const externalId = seen?.externalId;
  return {
    action,
    key,
    wanted: undefined,
    seen,
    owned: undefined,
    differences: [],
    sources: [{ uid: subject.uid, generation: input.resource.generation }],
    wantedHash,
    digest: itemDigest({ subjectUid: subject.uid, action, key, externalId, wantedHash, seenHash: undefined }),
    origin: action === "delete" ? "declared" : undefined,
    missing: false,
    weight: 1 + (seen?.contains ?? 0),
  };
}

/**
 * A person who deletes by name and confirms how much goes with it approves in the same request, unless four eyes applies. The
 * thing itself is what was named; what is counted is what it contains.
 */
export function isConfirmed({ input, kind }: StepScene, { action, weight }: PlannedChange): boolean {
  const { deletion } = input.resource;
  if (action !== "delete" || deletion?.confirmedCount === undefined || deletion.author.type !== "person") return false;
  return weight - 1 <= deletion.confirmedCount && !effectivePolicy(input.policies, kind.loop?.limits).fourEyes;
}

const emptyPlan: Plan = {
  changes: [],
  unsettled: [],
  unsettledForMs: 0,
  foreign: [],
  duplicates: [],
  strangers: 0,
  ignored: [],
  markerMissing: [],
  suspected: [],
};

async function factsOf(scene: StepScene, plan: Plan, policy: Policy, observedFromMs: number): Promise<Facts> {
  const { engine, claim, input } = scene;
  const account = plan.changes.length === 0 ? undefined : input.account;
  const asked = { notBeforeMonotonicMs: observedFromMs - scene.storeAheadMs, signal: claim.signal };
  const since = cycleClaim(scene).quietSinceMonotonicMs;
  const owned = input.memory.owned.length + (input.memory.made?.length ?? 0);
  return {
    nowMs: storeNowMs(scene),
    policy,
    pauses: input.pauses,
    hold: undefined,
    plan,
    completeness: "complete",
    observedFromMs,
    quietSinceMs: since === undefined ? undefined : Math.ceil(since + scene.storeAheadMs),
    accountProblem: account === undefined ? undefined : await accountProblemOf(engine, input, account, asked),
    rightsProblem: account === undefined ? undefined : await rightsProblemOf(engine, account, policy, claim.signal),
    health: undefined,
    leaving: input.resource.deletion,
    owned,
    // What a pipeline makes and removes is named one by one: there is no set that could arrive empty.
    wanted: Math.max(1, owned),
    desiredKnown: true,
    zeroDeclared: false,
    findings: [],
    fights: [],
    stoppedKeys: new Set(),
    approvedWhole: isAsApproved(scene),
    grants: new Map(input.grants.map((grant) => [grant.itemDigest, grant])),
    confirmed: new Set(plan.changes.filter((change) => isConfirmed(scene, change)).map(({ key }) => key)),
    covered: new Set(),
  };
}
