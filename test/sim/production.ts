import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Accounts } from "../../src/kernel/accounts.ts";
import type { runCycle } from "../../src/kernel/cycle.ts";
import type { RetryableError, TerminalError } from "../../src/kernel/errors.ts";
import type { steadyMs } from "../../src/runtime/steady-time.ts";
import type { startScheduler } from "../../src/scheduler/scheduler.ts";

/** The production code under test. A patched copy of `src` can stand in for the real one. */
export interface Production {
  readonly Accounts: typeof Accounts;
  readonly RetryableError: typeof RetryableError;
  readonly TerminalError: typeof TerminalError;
  readonly runCycle: typeof runCycle;
  readonly startScheduler: typeof startScheduler;
  readonly steadyMs: typeof steadyMs;
}

/** The two families of errors, of whichever source root is being run. */
export type ProductionErrors = Pick<Production, "RetryableError" | "TerminalError">;

export const ownSource = resolve(import.meta.dirname, "../../src");

/** Everything comes from one root, so that a mutant's classes and the simulation's errors are of one family. */
export async function loadProduction(root: string = ownSource): Promise<Production> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(resolve(root, path)).href);
  const [accounts, cycle, errors, scheduler, time] = await Promise.all([
    load("kernel/accounts.ts") as Promise<Pick<Production, "Accounts">>,
    load("kernel/cycle.ts") as Promise<Pick<Production, "runCycle">>,
    load("kernel/errors.ts") as Promise<ProductionErrors>,
    load("scheduler/scheduler.ts") as Promise<Pick<Production, "startScheduler">>,
    load("runtime/steady-time.ts") as Promise<Pick<Production, "steadyMs">>,
  ]);
  return {
    Accounts: accounts.Accounts,
    runCycle: cycle.runCycle,
    RetryableError: errors.RetryableError,
    TerminalError: errors.TerminalError,
    startScheduler: scheduler.startScheduler,
    steadyMs: time.steadyMs,
  };
}
