import type { NewEntry, OperationMove } from "../ports/operation-store.ts";
import { patienceMs } from "./backoff.ts";
import { parsedSubject } from "./parsed-subject.ts";
import { undoEffect } from "./effect.ts";
import { TerminalError, toEngineError } from "./errors.ts";
import { redacted } from "./hash.ts";
import { type Next, nextMove } from "./journal.ts";
import { runAdmit } from "./operation-admit.ts";
import {
  type OperationClaim,
  type OperationEngine,
  type Outcome,
  type StepScene,
  sceneAt,
  stepsOnRecord,
} from "./operation-scene.ts";
import { type OperationReport, Turn } from "./operation-turn.ts";
import { startOf } from "./operation-start.ts";
import { runStep } from "./operation-step.ts";
import { ADMIT, type Pipeline, type RetryPolicy, startingPipeline, writesOutside } from "./pipeline.ts";

const PAUSED_AGAIN_MS = 1_000;
const UNKNOWN_AGAIN_MS = 10_000;
const ADMIT_RETRY: RetryPolicy = { times: 5, firstSeconds: 1, atMostSeconds: 60 };

/** One turn of an operation: its journal is replayed, and it goes on until it ends or has to wait. */
export async function runOperation(engine: OperationEngine, claim: OperationClaim): Promise<OperationReport> {
  const loaded = await engine.operations.loadOperation(claim);
  if (loaded === undefined) return { operation: undefined, message: "the operation does not exist", steps: 0 };
  const { operation } = loaded;
  if (operation.state !== "running" && operation.state !== "held")
    return { operation, message: operation.message, steps: 0 };
  const kind = engine.kinds.get(operation.kind);
  const pipeline = kind?.pipelines?.find(
    ({ name, version }) => name === operation.pipeline && version === operation.version,
  );
  const turn = new Turn(engine, claim, loaded, pipeline);
  if (kind === undefined || pipeline === undefined) {
    const message = `waits for a worker that knows ${operation.pipeline} version ${operation.version}: this one does not`;
    await turn.record({ state: "running", message, dueInMs: UNKNOWN_AGAIN_MS });
    return turn.report();
  }
  while (!claim.signal.aborted && claim.handOver?.aborted !== true) {
    if (!(await oneMove(turn, kind, pipeline))) break;
  }
  return turn.report();
}

/** True while there is more to do at once. */
async function oneMove(turn: Turn, kind: StepScene["kind"], pipeline: Pipeline): Promise<boolean> {
  const { operation, paused } = turn.standing;
  const notes: string[] = [];
  // On the way back the memory counts too: a call whose answer was lost stands there, and in no journal.
  const back = operation.direction === "back" ? await sceneOf(turn, kind, pipeline, notes).catch(failure) : undefined;
  if (back !== undefined && "is" in back)
    return await conclude(turn, pipeline, { next: { move: "admit" }, step: ADMIT, outcome: back, tookMs: 0 });
  const onRecord = back && stepsOnRecord(back);
  const next = nextMove(pipeline, { operation, journal: turn.journal, leaving: turn.standing.leaving, onRecord });
  if (next.move === "turn-back")
    return await turn.record({ state: "running", message: next.message, direction: "back", dueInMs: 0 });
  if (next.move === "end") return await end(turn, next, back && followedBy(back));
  const step = nameOf(next);
  // Nothing outside rests on what is not written; and what the store says then (a pause, a stop) is heard first.
  if (turn.hasUnwritten && actsOutside(next)) return await turn.goOn(operation.step ?? ADMIT);
  if (paused !== undefined) {
    const message = `waits before '${step}': ${paused}`;
    await turn.record({ state: operation.state, message, dueInMs: PAUSED_AGAIN_MS, step });
    return false;
  }
  const startedMs = turn.engine.clock.monotonicMs();
  const attempted = async () => await attempt(back ?? (await sceneOf(turn, kind, pipeline, notes)), next);
  const outcome = await attempted().catch(failure);
  turn.note(step, notes);
  return await conclude(turn, pipeline, {
    next,
    step,
    outcome,
    tookMs: Math.round(turn.engine.clock.monotonicMs() - startedMs),
  });
}

function failure(thrown: unknown): Extract<Outcome, { readonly is: "failed" }> {
  return { is: "failed", error: toEngineError(thrown) };
}

async function attempt(scene: StepScene | undefined, next: Move): Promise<Outcome> {
  if (scene === undefined) return { is: "released", message: "the resource is gone" };
  if (next.move === "admit") return await runAdmit(scene);
  const there = await sceneAt(scene, next.step);
  if (next.move === "run") return await runStep(there, next.step, next.begunAtMs);
  return await undoEffect(there, next.step, next.made);
}

/** What the next step rests on, as it is now; undefined when the resource is gone. */
async function sceneOf(
  { engine, claim, standing: { operation }, journal, overQuota }: Turn,
  kind: StepScene["kind"],
  pipeline: Pipeline,
  notes: string[],
): Promise<StepScene | undefined> {
  const input = await engine.store.load(operation.subjectId);
  if (input === undefined) return undefined;
  const storeAheadMs = input.storeNowMs - engine.clock.monotonicMs();
  const subject = parsedSubject(kind, input);
  return { engine, claim, operation, journal, kind, pipeline, input, subject, storeAheadMs, overQuota, notes };
}

type Move = Extract<Next, { readonly move: "admit" | "run" | "undo" }>;

interface Concluding {
  readonly next: Move;
  readonly step: string;
  readonly outcome: Outcome;
  readonly tookMs: number;
}

/** An approval wakes what is held. This is for whatever else may let it go on: a limit that was raised, time that passed. */
function againInMs({ standing: { operation, storeNowMs } }: Turn): number {
  return patienceMs(operation.createdAtMs, storeNowMs);
}

/** What an outcome means for the operation. True while there is more to do at once. */
async function conclude(turn: Turn, pipeline: Pipeline, done: Concluding): Promise<boolean> {
  const { next, step, outcome, tookMs } = done;
  const version = next.move === "admit" ? 1 : next.step.version;
  const entry = (result: NewEntry["result"], rest: Partial<NewEntry> = {}) =>
    turn.add({ step, version, result, ...rest });
  switch (outcome.is) {
    case "lost":
      turn.lose();
      return false;
    case "done":
      entry("done", { input: stored(outcome.input), output: stored(outcome.output), tookMs });
      // The admission travels with the record of the first step: until something is done, making it again costs nothing.
      if (next.move === "admit") return true;
      return await finished(turn, pipeline, step);
    case "skipped":
      entry("skipped", { message: outcome.message });
      return true;
    case "moved":
      turn.add({ step: ADMIT, version: 1, result: "moved" });
      return await turn.goOn(step);
    case "begun":
      entry("begun", { message: outcome.message });
      return await turn.rest({ state: "running", message: outcome.message, dueInMs: outcome.dueInMs, step });
    case "waiting":
      return await turn.rest({
        state: "running",
        message: outcome.message,
        dueInMs: outcome.dueInMs,
        step,
        ...(outcome.progressed === true ? { attempts: 0 } : {}),
      });
    case "held":
      return await turn.rest({ state: "held", message: outcome.message, dueInMs: againInMs(turn), step });
    case "not-run": {
      // What a person started by name was a word for then; what is declared stands, and is done when it may be.
      const undone = pipeline.startsWith === undefined ? undefined : outcome.judgedBy;
      return await turn.rest({ state: "not-run", message: outcome.message, dueInMs: undefined, step, undone });
    }
    case "released":
      return await turn.rest({ state: "cancelled", message: outcome.message, dueInMs: undefined, step });
    case "attention":
      entry("failed", { code: outcome.code, message: outcome.message, tookMs });
      return await turn.rest({ state: "attention", message: outcome.message, dueInMs: undefined, step });
    case "failed":
      return await failed(turn, done, outcome);
  }
}

/** A step is recorded before the next one begins; the last one together with the end. */
async function finished(turn: Turn, pipeline: Pipeline, step: string): Promise<boolean> {
  const { operation, leaving } = turn.standing;
  if (operation.direction === "back") return await turn.goOn(step);
  const next = nextMove(pipeline, { operation, journal: turn.journal, leaving });
  return next.move === "end" ? await end(turn, next, undefined) : await turn.goOn(step);
}

async function end(
  turn: Turn,
  { state, message }: Extract<Next, { readonly move: "end" }>,
  next: OperationMove["next"],
): Promise<boolean> {
  const said = next === undefined ? message : `${message}; ${next.pipeline} takes away what was there before`;
  return await turn.record({ state, message: said, dueInMs: undefined, next });
}

/**
 * Whoever deletes a resource while an operation runs on it waits for that one to stop. What was made before it, only an operation
 * can take away: it begins where this one ends. One that was itself to take it away was cancelled by a person, who is not overruled.
 */
function followedBy({ engine, kind, pipeline: stopped, input, subject }: StepScene): OperationMove["next"] {
  const { deletion } = input.resource;
  if (stopped.ends || deletion === undefined || deletion.orphan || (input.memory.made ?? []).length === 0)
    return undefined;
  const pipeline = startingPipeline(kind.pipelines, subject.spec, true);
  if (pipeline === undefined) return undefined;
  return startOf(engine.ids, pipeline, deletion.author);
}

function actsOutside(next: Move): boolean {
  return next.move === "undo" || (next.move === "run" && writesOutside(next.step.type));
}

/** Retried with a backoff up to the step's cap; then, or when it can never work, the operation waits for a person. */
async function failed(
  turn: Turn,
  { next, step, tookMs }: Concluding,
  { error, input }: Extract<Outcome, { is: "failed" }>,
): Promise<boolean> {
  // Interrupted, not failed: whoever has the operation next tries again.
  if (turn.claim.signal.aborted || turn.claim.leaseRemainingMs() <= 0) return false;
  const said = `${error.code}: ${error.message}`;
  // Waiting for the call budget is not a failure of the step.
  if (error.code === "RATE_LIMITED") {
    const dueInMs = "afterMs" in error && typeof error.afterMs === "number" ? error.afterMs : 1_000;
    return await turn.rest({ state: "running", message: `waits before '${step}': ${said}`, dueInMs, step });
  }
  const attempts = turn.attemptsAt(step) + 1;
  const retry = next.move === "admit" ? ADMIT_RETRY : next.step.retry;
  const version = next.move === "admit" ? 1 : next.step.version;
  turn.add({
    step,
    version,
    result: "failed",
    attempt: attempts,
    code: error.code,
    message: error.message,
    input: stored(input),
    tookMs,
  });
  const words = `step '${step}' failed (attempt ${attempts} of ${retry.times}): ${said}`;
  if (error instanceof TerminalError || attempts >= retry.times)
    return await turn.rest({ state: "attention", message: words, dueInMs: undefined, step, attempts });
  const dueInMs = retryInMs(retry, attempts, turn.engine.random.next(), "afterMs" in error ? error.afterMs : undefined);
  return await turn.rest({ state: "running", message: words, dueInMs, step, attempts });
}

/** Doubling up to the cap, half of it jittered. A provider's own hint wins. */
export function retryInMs(retry: RetryPolicy, attempts: number, random: number, hintMs: unknown): number {
  if (typeof hintMs === "number" && hintMs > 0) return hintMs;
  const fullMs = Math.min(retry.atMostSeconds, retry.firstSeconds * 2 ** Math.min(attempts - 1, 30)) * 1_000;
  return Math.round(fullMs / 2 + (fullMs / 2) * random);
}

function nameOf(next: Move): string {
  return next.move === "admit" ? ADMIT : next.step.name;
}

function stored(value: unknown) {
  return value === undefined ? undefined : redacted(value);
}
