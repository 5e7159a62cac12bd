import pg from "pg";
import { thrownMessage } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

/** The class of the advisory locks by which workers see one another; the number is in setpoint.worker_holder. */
const LOCK_CLASS = 7310;
const RETRY_MS = 1_000;

/**
 * A connection that holds a lock for as long as this process lives. When the process dies, the server notices at once and the
 * others may take over what it leased; when only the connection breaks, a new lock is taken under a new number.
 */
export class WorkerPresence implements AsyncDisposable {
  readonly #options: { readonly url: string; readonly clock: Clock; readonly log: Log };
  readonly #over = new AbortController();
  #client: pg.Client | undefined;
  #number: number | undefined;

  constructor(options: { readonly url: string; readonly clock: Clock; readonly log: Log }) {
    this.#options = options;
    void this.#stay();
  }

  /** Undefined while the lock is not held: then only the end of a lease tells the others. */
  get number(): number | undefined {
    return this.#number;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#client?.end().catch(() => undefined);
  }

  async #stay(): Promise<void> {
    const { clock, log } = this.#options;
    while (!this.#over.signal.aborted) {
      try {
        await this.#untilLost();
      } catch (thrown) {
        const message = thrownMessage(thrown);
        if (!this.#over.signal.aborted) log.warn("worker.presence_lost", { message });
      }
      this.#number = undefined;
      await clock.wait(RETRY_MS, this.#over.signal);
    }
  }

  async #untilLost(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: "setpoint worker",
      keepAlive: true,
    });
    this.#client = client;
    const lost = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
    });
    try {
      await client.connect();
      const answer = await client.query<{ number: number }>(
        "select nextval('setpoint.worker_presence')::integer as number",
      );
      const number = answer.rows[0]?.number;
      await client.query("select pg_advisory_lock($1, $2)", [LOCK_CLASS, number]);
      this.#number = number;
      await lost;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
