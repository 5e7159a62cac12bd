import pg from "pg";
import { thrownMessage } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { DueEdge, Signal } from "../ports/signal.ts";
import { parseSignal, signalText } from "./signal-text.ts";

const CHANNEL = "setpoint_due";
/** PostgreSQL takes messages below 8,000 bytes. */
const LONGEST_TEXT = 7_900;
/** Signals that come closer together travel in one message: a NOTIFY is a transaction of its own. */
const GAP_MS = 2;
const RETRY_MS = 1_000;

export interface PostgresSignalsOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Sends signals to other processes by NOTIFY, on a connection of its own and outside of everybody's transactions: inside of
 * them it would make every commit wait for every other one. What cannot be sent is dropped; a poll finds it a second later.
 */
export class PostgresSignalSender implements AsyncDisposable {
  readonly #options: PostgresSignalsOptions;
  readonly #shards = new Set<number>();
  #due: DueEdge[] = [];
  #client: Promise<pg.Client | undefined> | undefined;
  #sending = false;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #ended = false;

  constructor(options: PostgresSignalsOptions) {
    this.#options = options;
  }

  /** Returns at once. */
  send(signal: Signal): void {
    for (const shard of signal.shards) this.#shards.add(shard);
    this.#due.push(...signal.due);
    if (!this.#sending && !this.#ended) void this.#sendAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    const client = await this.#client;
    await client?.end().catch(() => undefined);
  }

  async #sendAll(): Promise<void> {
    this.#sending = true;
    const { clock } = this.#options;
    while (!this.#ended && (this.#shards.size > 0 || this.#due.length > 0)) {
      const tooSoonMs = this.#sentAtMs + GAP_MS - clock.monotonicMs();
      if (tooSoonMs > 0) await clock.wait(tooSoonMs);
      this.#sentAtMs = clock.monotonicMs();
      const text = signalText({ shards: [...this.#shards], due: this.#due }, LONGEST_TEXT);
      this.#shards.clear();
      this.#due = [];
      await this.#notify(text);
    }
    this.#sending = false;
  }

  async #notify(text: string): Promise<void> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    try {
      await client?.query({ name: "setpoint signal", text: "select pg_notify($1, $2)", values: [CHANNEL, text] });
      if (client === undefined) await this.#options.clock.wait(RETRY_MS);
    } catch (thrown) {
      this.#lost(thrown);
    }
    if (client === undefined) this.#client = undefined;
  }

  async #connect(): Promise<pg.Client | undefined> {
    const client = new pg.Client({ connectionString: this.#options.url, application_name: "setpoint signals" });
    client.on("error", (error) => this.#lost(error));
    try {
      await client.connect();
      // A signal that a crash swallows costs one poll, so it need not wait for the disk.
      await client.query("set synchronous_commit = off");
      return client;
    } catch (thrown) {
      this.#lost(thrown);
      await client.end().catch(() => undefined);
      return undefined;
    }
  }

  #lost(thrown: unknown): void {
    this.#client = undefined;
    if (!this.#ended) this.#options.log.warn("signals.not_sent", { error: thrownMessage(thrown) });
  }
}

/** Hears the signals of other processes. A connection that breaks is made again, and whatever was missed is looked for. */
export class PostgresSignalListener implements AsyncDisposable {
  readonly #options: PostgresSignalsOptions & { readonly heard: (signal: Signal | "perhaps") => void };
  readonly #over = new AbortController();
  #client: pg.Client | undefined;

  /** `heard` gets "perhaps" when signals may have been missed. */
  constructor(options: PostgresSignalsOptions & { readonly heard: (signal: Signal | "perhaps") => void }) {
    this.#options = options;
    void this.#keepListening();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#client?.end().catch(() => undefined);
  }

  async #keepListening(): Promise<void> {
    const { clock, log } = this.#options;
    while (!this.#over.signal.aborted) {
      try {
        await this.#listenUntilLost();
      } catch (thrown) {
        if (!this.#over.signal.aborted) log.warn("signals.not_heard", { error: thrownMessage(thrown) });
      }
      await clock.wait(RETRY_MS, this.#over.signal);
    }
  }

  async #listenUntilLost(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: "setpoint signals",
      keepAlive: true,
    });
    this.#client = client;
    const lost = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
    });
    client.on("notification", ({ payload }) => {
      this.#options.heard(parseSignal(payload ?? "") ?? "perhaps");
    });
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      this.#options.heard("perhaps");
      await lost;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
