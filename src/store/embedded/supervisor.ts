import { setTimeout as wait } from "node:timers/promises";
import { thrownMessage } from "../../kernel/errors.ts";
import { EmbeddedServerError } from "./errors.ts";
import { freePort } from "./free-port.ts";
import { SUPERUSER } from "./initdb.ts";
import { DATABASE, type LaunchOptions, launch } from "./launch.ts";
import type { Postmaster } from "./process.ts";
import { socketUrl } from "./socket-url.ts";

export type ExitListener = (reason: string, next: "restarting" | "gave-up") => void;

export interface SupervisorOptions extends LaunchOptions {
  /** What the server needs while it runs, the claim on its directory among it. Let go by `stop`. */
  readonly held: Disposable;
  readonly startedFresh: boolean;
  readonly restartLimit: number;
}

const START_ATTEMPTS = 3;
const LONGEST_PAUSE_MS = 5_000;
const CALM_MS = 60_000;

/**
 * Keeps one server running.
 *
 * It is running, restarting, stopped or given up. A server that ends by itself is started again, at once the first
 * time and after growing pauses when it keeps ending; the pauses are forgotten after a minute of calm. Data directory,
 * socket, port and password stay, so that pools reconnect by themselves. `stop` wins over everything: it ends a pause,
 * and a start that is under way.
 */
export class Supervisor implements AsyncDisposable {
  readonly #held: Disposable;
  readonly #restartLimit: number;
  readonly #stopping = new AbortController();
  readonly #listeners: ExitListener[] = [];
  readonly startedFresh: boolean;
  #options: LaunchOptions;
  #postmaster: Postmaster | undefined;
  #ready = Promise.withResolvers<void>();
  #restarts = 0;
  #readySinceMs = 0;
  #restarting: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor({ held, startedFresh, restartLimit, ...options }: SupervisorOptions) {
    this.#held = held;
    this.#restartLimit = restartLimit;
    this.startedFresh = startedFresh;
    this.#options = options;
    this.#ready.promise.catch(() => undefined);
  }

  get url(): string {
    const { password, port, tcp, socketDirectory } = this.#options;
    const credentials = `${SUPERUSER}:${password}`;
    if (tcp) return `postgres://${credentials}@127.0.0.1:${port}/${DATABASE}`;
    return socketUrl({ password, port, socketDirectory });
  }

  get dataDirectory(): string {
    return this.#options.data.path;
  }

  get port(): number {
    return this.#options.port;
  }

  get socketDirectory(): string {
    return this.#options.socketDirectory;
  }

  get logFile(): string {
    return this.#options.serverLog.file;
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return this.#nowRunning(await launch(this.#options, this.#stopping.signal));
      } catch (thrown) {
        // Somebody took the free port first, or an orphan of a moment ago had not yet written its lock when we looked.
        const passing = /TCP\/IP sockets|lock file/.test(thrownMessage(thrown));
        if (!passing || attempt === START_ATTEMPTS) throw thrown;
        if (this.#options.tcp) this.#options = { ...this.#options, port: await freePort() };
      }
    }
  }

  whenReady(): Promise<void> {
    return this.#ready.promise;
  }

  onExit(listener: ExitListener): void {
    this.#listeners.push(listener);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    this.#ready.reject(new EmbeddedServerError("START_FAILED", "The embedded PostgreSQL was stopped."));
    await this.#restarting;
    await this.#postmaster?.stop();
    this.#held[Symbol.dispose]();
    this.#options.log("embedded-postgres.stopped", { dataDirectory: this.dataDirectory });
  }

  #nowRunning(postmaster: Postmaster): void {
    const { pid, guardPid } = postmaster;
    this.#postmaster = postmaster;
    this.#readySinceMs = performance.now();
    this.#ready.resolve();
    void postmaster.ended.then((how) => this.#onEnded(`process ${pid} ended with ${how}`));
    const { dataDirectory, port, socketDirectory, logFile, startedFresh } = this;
    const { log, tcp } = this.#options;
    log("embedded-postgres.ready", { pid, guardPid, dataDirectory, port, tcp, socketDirectory, logFile, startedFresh });
  }

  #onEnded(reason: string): void {
    this.#postmaster = undefined;
    if (this.#stopping.signal.aborted) return;
    this.#ready = Promise.withResolvers<void>();
    this.#ready.promise.catch(() => undefined);
    if (performance.now() - this.#readySinceMs > CALM_MS) this.#restarts = 0;
    this.#restarting = this.#restart(reason);
  }

  async #restart(reason: string): Promise<void> {
    let why = reason;
    while (this.#restarts < this.#restartLimit) {
      const pauseMs = this.#restarts === 0 ? 0 : Math.min(100 * 2 ** this.#restarts, LONGEST_PAUSE_MS);
      this.#restarts++;
      this.#tell(why, "restarting");
      try {
        await wait(pauseMs, undefined, { signal: this.#stopping.signal });
        return this.#nowRunning(await launch(this.#options, this.#stopping.signal));
      } catch (thrown) {
        if (this.#stopping.signal.aborted) return;
        why = thrownMessage(thrown);
      }
    }
    this.#ready.reject(new EmbeddedServerError("START_FAILED", `The embedded PostgreSQL keeps ending: ${why}`));
    this.#tell(why, "gave-up");
  }

  #tell(reason: string, next: "restarting" | "gave-up"): void {
    const { log, serverLog } = this.#options;
    log("embedded-postgres.ended", { reason, next, logFile: serverLog.file });
    for (const listener of this.#listeners) {
      try {
        listener(reason, next);
      } catch (thrown) {
        // A listener cannot break the supervision it listens to.
        log("embedded-postgres.listener-failed", { error: thrownMessage(thrown) });
      }
    }
  }
}
