import { type ChildProcess, spawn } from "node:child_process";
import { thrownMessage } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { type Message, parseMessage } from "./channel.ts";
import { roleMemory } from "./role-memory.ts";
import { StartError } from "./start-error.ts";

const firstBackoffMs = 500;
const longestBackoffMs = 30_000;
/** A role that ran this long was well: its next crash counts as the first. */
const wellAfterMs = 60_000;
const killAfterMs = 30_000;

export interface RoleChildOptions {
  readonly role: string;
  readonly main: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Lines the child printed, its log among them. */
  readonly printed: (text: string) => void;
  readonly message: (message: Message) => void;
  readonly changed: () => void;
}

/** One role as a child process, started again with backoff when it ends unasked. */
export class RoleChild {
  readonly role: string;
  state: "starting" | "running" | "restarting" | "stopped" = "starting";
  detail = "starting";
  readonly #options: RoleChildOptions;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #crashes = 0;

  constructor(options: RoleChildOptions) {
    this.#options = options;
    this.role = options.role;
  }

  /** Resolves when it is ready; rejects with the role's own words when its first start fails. */
  start(): Promise<void> {
    return this.#spawn();
  }

  send(message: Message): void {
    if (this.#child?.connected === true) this.#child.send(message, () => undefined);
  }

  /** Ends it as a crash would: it is started again like after any other. */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Asks it to end, waits, and insists. */
  async stop(options: { readonly atOnce: boolean }): Promise<void> {
    this.#stopping.abort();
    this.#set("stopped", "stopped");
    const child = this.#child;
    if (child === undefined) return;
    child.kill(options.atOnce ? "SIGKILL" : "SIGTERM");
    const done = new AbortController();
    const insist = async () => {
      await this.#options.clock.wait(killAfterMs, done.signal);
      if (!done.signal.aborted) child.kill("SIGKILL");
    };
    const insisting = insist();
    await this.#ended;
    done.abort();
    await insisting;
  }

  #spawn(): Promise<void> {
    const { role, main, environment, clock, printed } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const memory = roleMemory();
    const child = spawn(process.execPath, [...memory.flags, main, role], {
      env: { ...memory.environment, ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", printed);
    child.stderr?.setEncoding("utf8").on("data", printed);
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    this.#ended = ended.promise;
    child.on("message", (raw) => {
      const message = parseMessage(raw);
      if (message?.type === "ready") {
        this.#set("running", message.detail);
        ready.resolve();
      } else if (message?.type === "failed") ready.reject(new StartError(message.message));
      else if (message !== undefined) this.#options.message(message);
    });
    child.once("error", (error) => ready.reject(new StartError(`The ${role} could not be started: ${error.message}`)));
    child.once("exit", (code, signal) => {
      ended.resolve();
      ready.reject(
        new StartError(
          `The ${role} ended before it was ready (${signal ?? `exit code ${code ?? "unknown"}`}). The log says why.`,
        ),
      );
      if (this.state === "running")
        void this.#restart(clock.monotonicMs() - startedAtMs, signal ?? `exit code ${code ?? "unknown"}`);
    });
    return ready.promise;
  }

  async #restart(ranForMs: number, reason: string): Promise<void> {
    const { clock, log, role } = this.#options;
    this.#crashes = ranForMs > wellAfterMs ? 1 : this.#crashes + 1;
    const waitMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (this.#crashes - 1));
    log.error("supervisor.role-ended", { role, reason, restartInMs: waitMs });
    this.#set("restarting", `ended (${reason}); starts again`);
    await clock.wait(waitMs, this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    try {
      await this.#spawn();
    } catch (thrown) {
      log.error("supervisor.role-failed", { role, message: thrownMessage(thrown) });
      if (!this.#stopping.signal.aborted) await this.#restart(0, "failed to start");
    }
  }

  #set(state: RoleChild["state"], detail: string): void {
    this.state = state;
    this.detail = detail;
    this.#options.changed();
  }
}
