import type { OperationStart } from "../ports/operation-store.ts";
import type { CycleInput, Finding, Undone, Verdict } from "../ports/records.ts";
import { backoffMs } from "./backoff.ts";
import type { Engine } from "./claim.ts";
import type { DockingWait } from "./cycle-dock.ts";
import { type EngineError, RetryableError, TerminalError, toEngineError } from "./errors.ts";
import { verdict } from "./facts.ts";
import type { Turn } from "./scene.ts";

/** A terminal failure is tried once more after this long even if nothing changed. */
export const STOP_FOR_MS = 60 * 60_000;

export function withFindings(input: CycleInput, findings: readonly Finding[]): CycleInput {
  return findings.length === input.memory.findings.length ? input : { ...input, memory: { ...input.memory, findings } };
}

export function pausedTurn(input: CycleInput, message: string): Turn {
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

export function keptTurn(input: CycleInput, message: string): Turn {
  const turn = pausedTurn(withFindings(input, []), message);
  return { ...turn, result: "waiting", verdicts: [verdict("hold", "wait", message)] };
}

/** It looks at everything itself: until it ends, the subject is the operation's. */
export function againTurn(input: CycleInput, { operationId, pipeline, message }: Undone, start: OperationStart): Turn {
  const said = `starts ${pipeline} again, because something has changed since it was ${message}`;
  const turn = pausedTurn(withFindings(input, []), said);
  return { ...turn, result: "waiting", verdicts: [], startsAgain: { instead: operationId, start } };
}

export function dockingTurn(input: CycleInput, { message, attempts, nextInMs }: DockingWait): Turn {
  const turn = pausedTurn(withFindings(input, []), message);
  return { ...turn, result: "waiting", verdicts: [], memory: { ...turn.memory, attempts }, nextInMs };
}

export function goneTurn(input: CycleInput): Turn {
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
export function unseenTurn(engine: Engine, input: CycleInput, error: EngineError): Turn {
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
export function failed(engine: Engine, input: CycleInput, thrown: unknown): Turn {
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
export function refusedWildcard(error: EngineError | undefined): readonly Verdict[] {
  return error?.code === "WILDCARD_REFUSED" ? [verdict("no-wildcards", "refuse", error.message)] : [];
}

/**
 * A limit of calls says when it is over, and that wins over our backoff. What else is told to come back later, and still is not so
 * then, is asked ever more rarely, and never earlier. Terminal failures look again at the pace of a stop.
 */
export function retryInMs(engine: Engine, error: EngineError, attempts: number): number | undefined {
  if (error instanceof TerminalError) return STOP_FOR_MS;
  // "Retry after nothing" is no hint: taken at its word it would be a loop without a pause.
  const hintMs = (error instanceof RetryableError && error.afterMs) || 0;
  return isThrottled(error) && hintMs > 0 ? hintMs : Math.max(hintMs, backoffMs(attempts, engine.random));
}

/** Waiting for the call budget is not a failure of the subject. */
export function isThrottled(error: EngineError): boolean {
  return error.code === "RATE_LIMITED";
}
