import { RetryableError, TerminalError } from "../../src/kernel/errors.ts";
import type { Provider } from "../../src/ports/provider.ts";
import type { ScriptRun, ShellReader, ShellTarget, ShellWriter } from "../../src/ports/shell.ts";
import type { Point } from "./box-kind.ts";

/** Servers with a shell, as a state machine: what is started runs to its end at once. */
export class SimulatedShells {
  /** What every server shows. */
  hostKey = `SHA256:${"k".repeat(43)}`;
  /** What every script ends with, and prints. */
  exitCode = 0;
  output = "";
  /** False: what is started from now on runs for ever. */
  ends = true;
  /** Set: nobody answers, in these words. */
  silent: string | undefined;
  /** Every run that began, in order. */
  readonly begun: string[] = [];
  readonly #runs = new Map<string, ScriptRun[]>();

  provider(point: Point = async (_, handle) => handle()): Provider<ShellReader, ShellWriter> {
    const at = <Value>(label: string, target: ShellTarget, act: () => Value) =>
      point(label, () => {
        this.#answer();
        if (target.hostKey === this.hostKey) return act();
        throw new TerminalError("PRECONDITION_FAILED", `shows ${this.hostKey} instead of ${target.hostKey}`);
      });
    const reader: ShellReader = {
      hostKey: () => point("ssh host key", () => this.#answer()),
      signIn: (target) => at("ssh sign in", target, () => undefined),
      lastRun: (target, owner) => at("ssh last run", target, () => this.#runs.get(owner)?.at(-1) ?? ("none" as const)),
    };
    const writer: ShellWriter = {
      startRun: (target, run) => at("ssh start", target, () => this.#start(run)),
    };
    const identity = async () => ({ fingerprint: "ssh" });
    return {
      name: "ssh",
      settleMs: 0,
      callTimeoutMs: 3_000,
      open: () => ({ identity, collections: {}, reader, writer }),
    };
  }

  #answer(): string {
    if (this.silent === undefined) return this.hostKey;
    throw new RetryableError("PROVIDER_UNAVAILABLE", this.silent, { ambiguous: false });
  }

  #start({ owner, number, script }: Parameters<ShellWriter["startRun"]>[1]): void {
    const runs = this.#runs.get(owner) ?? [];
    if (runs.some((run) => run.number === number)) return;
    this.begun.push(`run ${number}: ${script}`);
    const { exitCode, output } = this;
    const run: ScriptRun = this.ends
      ? { number, state: "ended", exitCode, output }
      : { number, state: "running", output };
    this.#runs.set(owner, [...runs, run]);
  }
}
