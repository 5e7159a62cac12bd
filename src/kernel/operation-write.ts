import type { PermitInputs, PermitRefusal } from "../ports/engine-store.ts";
import type { ChangeOutcome, ChangeRecord, SubjectMemory } from "../ports/records.ts";
import { accountProblemOf, claimAccount } from "./account-claim.ts";
import { type EngineError, RetryableError, TerminalError } from "./errors.ts";
import { removes } from "./facts.ts";
import { type Called, fenced } from "./fence.ts";
import { reservationVerdict } from "./guards/delete-budget.ts";
import { isAsApproved, isConfirmed } from "./operation-admit.ts";
import {
  accountOf,
  admittedAs,
  admittedOf,
  callTimeoutMs,
  cycleClaim,
  type Outcome,
  type StepScene,
  settleHeld,
  storeNowMs,
} from "./operation-scene.ts";
import type { PlannedChange } from "./plan.ts";
import { effectivePolicy } from "./policy.ts";

const SOON_MS = 1_000;

/** One write of an operation: what is remembered before it, and what its answer means. */
export interface Making {
  readonly work: ((signal: AbortSignal) => Promise<Answer>) | undefined;
  readonly intended: SubjectMemory;
  after(answer: Answer): {
    readonly memory: SubjectMemory;
    readonly claims: readonly { readonly externalId: string; readonly key: string }[];
    readonly releases: readonly string[];
    readonly outcome: Outcome;
  };
  readonly given?: unknown;
  /** Since when the look that this rests on was under way; undefined: it rests on none. */
  readonly lookedFromMonotonicMs?: number | undefined;
}
export interface Answer {
  readonly externalId: string;
  readonly output: unknown;
}

/** Reserves what is removed, takes the permit, makes the call, and records what became of it. */
export async function make(scene: StepScene, change: PlannedChange, making: Making): Promise<Outcome> {
  const { engine, claim, input, operation } = scene;
  if (change.key === "")
    throw new TerminalError(
      "WILDCARD_REFUSED",
      `${operation.pipeline}: an effect without a name; an empty name never means "all"`,
    );
  const fromMonotonicMs = making.lookedFromMonotonicMs ?? engine.clock.monotonicMs();
  // The admission may be hours old: whether this is still the account that was looked at is asked after the look.
  if (await isAnotherAccount(scene, fromMonotonicMs)) return { is: "moved" };
  const outside = making.work !== undefined;
  if (outside && !isAdmitted(scene, change)) return { is: "moved" };
  const reserved = outside ? await reserve(scene, change) : undefined;
  if (reserved !== undefined) return reserved;
  if (outside) {
    const unclaimed = await claimFirst(scene, fromMonotonicMs);
    if (unclaimed !== undefined) return unclaimed;
    const account = accountOf(scene);
    if (account !== undefined) await engine.accounts.takeCall(account, true);
  }
  const record = recordOf(scene, change);
  const grant = grantOf(scene, change);
  const answer = await fenced(
    {
      engine,
      claim,
      input,
      callTimeoutMs: callTimeoutMs(scene),
      what: `${operation.pipeline} of ${operation.kind}/${operation.name}`,
    },
    {
      inputs: permitInputs(scene, removes(change)),
      deletes: removes(change),
      changes: [record],
      memory: making.intended,
      grantIds: grant === undefined ? [] : [grant.id],
    },
    making.work,
  );
  if (!answer.granted) return refused(answer.refusal, answer.detail);
  return await conclude(scene, { change, record, making, permitId: answer.permitId, called: answer.called });
}

interface Concluding {
  readonly change: PlannedChange;
  readonly record: ChangeRecord;
  readonly making: Making;
  readonly permitId: string;
  readonly called: Called<Answer>;
}

async function conclude(scene: StepScene, done: Concluding): Promise<Outcome> {
  const { engine, claim, input } = scene;
  const { change, record, making, permitId, called } = done;
  const outcomes = [outcomeOf(scene, record, called)];
  const base = { actor: claim.actor, subject: input.subject, permitId, outcomes };
  if (!called.ok) {
    const memory = memoryAfterFailure(scene, making, called.error);
    const kept = await engine.store.recordOutcome({ ...base, memory, claims: [], releases: [] });
    return kept ? { is: "failed", error: called.error, input: making.given } : { is: "lost" };
  }
  const nothing: Answer = { externalId: change.seen?.externalId ?? change.key, output: undefined };
  const { outcome, ...after } = making.after(called.value ?? nothing);
  try {
    return (await engine.store.recordOutcome({ ...base, ...after })) ? outcome : { is: "lost" };
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "SECOND_CLAIMANT")) throw thrown;
    const error = new TerminalError("ALREADY_EXISTS", `${change.key} is owned by another resource already`);
    const kept = await engine.store.recordOutcome({ ...base, memory: input.memory, claims: [], releases: [] });
    return kept ? { is: "failed", error, input: making.given } : { is: "lost" };
  }
}

/** A create that surely did nothing leaves no intent behind; anything else is looked for before it is tried again. */
function memoryAfterFailure({ input }: StepScene, making: Making, error: EngineError): SubjectMemory {
  const surelyNothing = error instanceof TerminalError || (error instanceof RetryableError && !error.ambiguous);
  return surelyNothing ? input.memory : making.intended;
}

/** Deletes are charged where everybody's are, right before the call. Above the budget they wait for a person. */
async function reserve(scene: StepScene, change: PlannedChange): Promise<Outcome | undefined> {
  if (!removes(change)) return undefined;
  const { engine, claim, input, kind } = scene;
  const granted = isApproved(scene, change);
  const answer = await engine.store.reserveDeletes({
    actor: claim.actor,
    subject: input.subject,
    ungranted: granted ? 0 : change.weight,
    granted: granted ? change.weight : 0,
    limits: effectivePolicy(input.policies, kind.loop?.limits).limits.deletesPerHour,
  });
  if (!answer.current) return { is: "lost" };
  const over = reservationVerdict(granted ? [] : [change], answer, granted ? change.weight : 0);
  if (over === undefined) return undefined;
  if (!(await settleHeld(scene, [over.held], [over.verdict]))) return { is: "lost" };
  return { is: "held", message: `${over.verdict.guard}: ${over.verdict.reason}` };
}

/**
 * What the admission did not see, no guard was asked about: what was looked for in vain then, and is there now, is admitted
 * anew. An approval is for one write: who tries again after it was used, or after it ran out, asks again.
 */
function isAdmitted(scene: StepScene, change: PlannedChange): boolean {
  const { input, kind } = scene;
  if (admittedOf(scene)?.keys.includes(admittedAs(change)) !== true) return false;
  return effectivePolicy(input.policies, kind.loop?.limits).mode !== "propose" || isApproved(scene, change);
}

function isApproved(scene: StepScene, change: PlannedChange): boolean {
  return grantOf(scene, change) !== undefined || isConfirmed(scene, change) || isAsApproved(scene);
}

function grantOf({ input }: StepScene, { digest }: PlannedChange) {
  return input.grants.find(({ itemDigest }) => itemDigest === digest);
}

export async function isAnotherAccount(scene: StepScene, notBeforeMonotonicMs: number): Promise<boolean> {
  const { engine, claim, input } = scene;
  if (input.account === undefined) return false;
  const asked = { notBeforeMonotonicMs, signal: claim.signal };
  return (await accountProblemOf(engine, input, input.account, asked)) !== undefined;
}

async function claimFirst(scene: StepScene, startedAtMonotonicMs: number): Promise<Outcome | undefined> {
  const { engine, input } = scene;
  const lookout = { callTimeoutMs: callTimeoutMs(scene), storeNowMs: () => storeNowMs(scene) };
  const seen = { startedAtMonotonicMs };
  const unclaimed = await claimAccount({ engine, input, claim: cycleClaim(scene), seen, lookout }, input.memory);
  if (unclaimed === undefined || unclaimed.ended === "done") return undefined;
  if (unclaimed.ended === "lost") return { is: "lost" };
  if (unclaimed.ended === "refused") return refused(unclaimed.answer.refusal, unclaimed.answer.detail);
  return { is: "failed", error: unclaimed.error };
}

function refused(refusal: PermitRefusal, detail: string): Outcome {
  switch (refusal) {
    case "lease":
      return { is: "lost" };
    case "inputs":
    case "grant":
      return { is: "moved" };
    case "gone":
      return { is: "released", message: "the resource is gone" };
    case "held":
      return { is: "released", message: `its hold was released: ${detail}` };
    case "paused":
    case "busy":
      return { is: "waiting", dueInMs: SOON_MS, message: detail };
  }
}

function permitInputs(scene: StepScene, deletes: boolean): PermitInputs {
  const { input, subject } = scene;
  if (deletes) return { check: "version", inputVersion: input.inputVersion };
  const sources = [{ uid: subject.uid, generation: input.resource.generation }];
  return { check: "sources", sources, policyVersion: input.policyVersion };
}

function recordOf(scene: StepScene, change: PlannedChange): ChangeRecord {
  const { engine, input, operation } = scene;
  const { resource } = input;
  return {
    id: engine.ids.next(),
    action: change.action,
    key: change.key,
    externalId: change.seen?.externalId,
    trigger: `operation ${operation.id}`,
    differences: [],
    declaredBy: [
      {
        uid: resource.uid,
        author: resource.deletion?.author.name ?? operation.author.name,
        atMs: resource.deletion?.atMs ?? operation.createdAtMs,
      },
    ],
    verdicts: [],
    grantId: grantOf(scene, change)?.id,
    intendedAtMs: storeNowMs(scene),
  };
}

function outcomeOf(scene: StepScene, record: ChangeRecord, called: Called<Answer>): ChangeOutcome {
  const endedAtMs = storeNowMs(scene);
  if (called.ok)
    return { changeId: record.id, result: "done", externalId: called.value?.externalId, answer: "ok", endedAtMs };
  const { error } = called;
  const ambiguous = error instanceof RetryableError && error.ambiguous;
  const answer = `${error.code}: ${error.message}`;
  return { changeId: record.id, result: ambiguous ? "ambiguous" : "failed", answer, endedAtMs };
}
