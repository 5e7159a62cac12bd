import { runCycle } from "./cycle.ts";
import { runEffect, runOnce } from "./effect.ts";
import { RetryableError } from "./errors.ts";
import {
  callTimeoutMs,
  contextOf,
  cycleClaim,
  givenTo,
  HOLD_RELEASED,
  hasItsHold,
  looking,
  type Outcome,
  parsed,
  requireLease,
  type StepScene,
  storeNowMs,
  storyOf,
} from "./operation-scene.ts";
import type { Converge, PlainStep, Sleep, Step, WaitFor } from "./pipeline.ts";
import { withTimeLimit } from "./time-limit.ts";

/** A plain step may read a lot; what takes longer belongs into several steps or a wait. */
const PLAIN_STEP_MS = 60_000;
const SOON_MS = 1_000;
const UNSEEN_AGAIN_MS = 5_000;

/** Runs one step, whatever it is. What it throws is one failed attempt. */
export async function runStep(scene: StepScene, step: Step, begunAtMs: number | undefined): Promise<Outcome> {
  if (!step.when(storyOf(scene))) return { is: "skipped", message: "not asked for" };
  switch (step.type) {
    case "step":
      return await runPlain(scene, step);
    case "effect":
      return await runEffect(scene, step);
    case "once":
      return await runOnce(scene, step);
    case "sleep":
      return runSleep(scene, step, begunAtMs);
    case "wait":
      return await runWait(scene, step, begunAtMs);
    case "converge":
      return await runConverge(scene, step);
  }
}

async function runPlain(scene: StepScene, step: PlainStep): Promise<Outcome> {
  const given = givenTo(scene, step);
  requireLease(scene, step.name);
  const { engine, claim, operation } = scene;
  const limit = {
    ms: Math.max(PLAIN_STEP_MS, callTimeoutMs(scene)),
    signal: claim.signal,
    what: `${operation.pipeline}: ${step.name}`,
  };
  const output = await withTimeLimit(engine.clock, limit, (signal) => step.run(contextOf(scene, signal), given));
  return { is: "done", input: given, output: parsed(step.output, output, `the output of step '${step.name}'`) };
}

function runSleep(scene: StepScene, step: Sleep, begunAtMs: number | undefined): Outcome {
  const forMs = step.forSeconds(storyOf(scene)) * 1_000;
  const message = `sleeps for ${forMs / 1_000} s`;
  if (begunAtMs === undefined) return { is: "begun", dueInMs: forMs, message };
  const leftMs = begunAtMs + forMs - storeNowMs(scene);
  return leftMs <= 0 ? { is: "done" } : { is: "waiting", dueInMs: leftMs, message };
}

async function runWait(scene: StepScene, step: WaitFor, begunAtMs: number | undefined): Promise<Outcome> {
  const answer = await looking(scene, step.name, (context) => step.until(context));
  if (answer === true) return { is: "done" };
  const dueInMs = step.everySeconds * 1_000;
  const message = `waits for '${step.name}': ${answer}`;
  if (begunAtMs === undefined) return { is: "begun", dueInMs, message };
  const waitedMs = storeNowMs(scene) - begunAtMs;
  if (waitedMs < step.atMostSeconds * 1_000) return { is: "waiting", dueInMs, message };
  return { is: "attention", code: "WAITED_TOO_LONG", message: `${message} (for more than ${step.atMostSeconds} s)` };
}

/** One cycle at a time until the loop has nothing left to do, each within all guards. */
async function runConverge(scene: StepScene, step: Converge): Promise<Outcome> {
  if (!hasItsHold(scene)) return { is: "released", message: HOLD_RELEASED };
  if (scene.input.busy === true)
    return { is: "waiting", dueInMs: SOON_MS, message: "another permit for this subject is alive" };
  const report = await runCycle(scene.engine, cycleClaim(scene));
  const { result, message } = report;
  // That nothing differs in half a list says nothing about the other half.
  if (result === "converged" && report.unseen !== undefined)
    return {
      is: "waiting",
      dueInMs: UNSEEN_AGAIN_MS,
      message: `${step.name}: not everything was seen: ${report.unseen}`,
    };
  switch (result) {
    case "converged":
    case "gone":
      return { is: "done", output: { message } };
    case "held":
      return { is: "held", message };
    case "refused":
    case "stalled":
      return {
        is: "attention",
        code: result === "refused" ? "GUARD_REFUSED" : "STALLED",
        message: `${step.name}: ${message}`,
      };
    case "failed":
      // What can never work is stalled: this may work when it is tried again.
      throw new RetryableError("DEPENDENCY_NOT_READY", message, { ambiguous: false });
    default:
      return {
        is: "waiting",
        dueInMs: report.nextInMs ?? SOON_MS,
        message: `${step.name}: ${message}`,
        progressed: report.written > 0,
      };
  }
}
