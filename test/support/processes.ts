import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

/** A program under test. It is killed when the test is over, if it still runs. */
export interface TalkingProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  /** The first line it prints; empty when it ended without one. */
  readonly firstLine: Promise<string>;
  kill(): Promise<void>;
}

export function spawnTalking(program: string, words: readonly string[]): TalkingProcess {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const printed = once(createInterface({ input: child.stdout }), "line");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return {
    child,
    firstLine: Promise.race([printed, ended.then(() => [""])]).then(([line]) => String(line)),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** Looks again until the condition holds. For what other processes do, where there is no event to wait for. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited 20 s in vain for: ${what}`);
    await wait(20);
  }
}
