import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Accounts } from "../../src/kernel/accounts.ts";
import type { runCycle } from "../../src/kernel/cycle.ts";
import type { pipelinesOf } from "../../src/kernel/pipeline.ts";
import type { RetryableError, TerminalError } from "../../src/kernel/errors.ts";
import type { steadyMs } from "../../src/runtime/steady-time.ts";
import type { startScheduler } from "../../src/scheduler/scheduler.ts";
import type { startWorker } from "../../src/worker/worker.ts";

/** The production code under test. A patched copy of `src` can stand in for the real one. */
export interface Production {
  readonly Accounts: typeof Accounts;
  readonly RetryableError: typeof RetryableError;
  readonly TerminalError: typeof TerminalError;
  readonly runCycle: typeof runCycle;
  readonly startScheduler: typeof startScheduler;
  readonly startWorker: typeof startWorker;
  readonly pipelinesOf: typeof pipelinesOf;
  readonly steadyMs: typeof steadyMs;
}

/** The two families of errors, of whichever source root is being run. */
export type ProductionErrors = Pick<Production, "RetryableError" | "TerminalError">;

export const ownSource = resolve(import.meta.dirname, "../../src");

const loaded = new Map<string, Promise<Production>>();

/** Everything comes from one root, so that a mutant's classes and the simulation's errors are of one family. */
export function loadProduction(root: string = ownSource): Promise<Production> {
  const known = loaded.get(root) ?? load(root);
  loaded.set(root, known);
  return known;
}

async function load(root: string): Promise<Production> {
  const part = (path: string): Promise<unknown> => import(pathToFileURL(resolve(root, path)).href);
  const [accounts, cycle, errors, scheduler, time, worker, pipeline] = await Promise.all([
    part("kernel/accounts.ts") as Promise<Pick<Production, "Accounts">>,
    part("kernel/cycle.ts") as Promise<Pick<Production, "runCycle">>,
    part("kernel/errors.ts") as Promise<ProductionErrors>,
    part("scheduler/scheduler.ts") as Promise<Pick<Production, "startScheduler">>,
    part("runtime/steady-time.ts") as Promise<Pick<Production, "steadyMs">>,
    part("worker/worker.ts") as Promise<Pick<Production, "startWorker">>,
    part("kernel/pipeline.ts") as Promise<Pick<Production, "pipelinesOf">>,
  ]);
  return {
    Accounts: accounts.Accounts,
    runCycle: cycle.runCycle,
    RetryableError: errors.RetryableError,
    TerminalError: errors.TerminalError,
    startScheduler: scheduler.startScheduler,
    startWorker: worker.startWorker,
    pipelinesOf: pipeline.pipelinesOf,
    steadyMs: time.steadyMs,
  };
}
