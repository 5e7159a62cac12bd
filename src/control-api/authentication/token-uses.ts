import { thrownMessage } from "../../kernel/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CredentialStore } from "../../ports/credential-store.ts";
import type { Log } from "../../ports/log.ts";

const gatherMs = 500;
const everyMs = 60_000;
/** Beyond this many the oldest are forgotten: they are written once more than needed. */
const rememberedMax = 10_000;

/** When tokens were last used, told to the store in batches and at most once a minute for each. */
export class TokenUses implements AsyncDisposable {
  readonly #store: Pick<CredentialStore, "noteUses">;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #toldAtMs = new Map<string, number>();
  readonly #pending = new Set<string>();
  readonly #over = new AbortController();
  #telling: Promise<void> | undefined;

  constructor(options: {
    readonly store: Pick<CredentialStore, "noteUses">;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Returns at once. */
  note(id: string): void {
    const nowMs = this.#clock.monotonicMs();
    const toldAtMs = this.#toldAtMs.get(id);
    if (toldAtMs !== undefined && nowMs - toldAtMs < everyMs) return;
    this.#toldAtMs.delete(id);
    this.#toldAtMs.set(id, nowMs);
    const [oldest] = this.#toldAtMs.keys();
    if (this.#toldAtMs.size > rememberedMax && oldest !== undefined) this.#toldAtMs.delete(oldest);
    this.#pending.add(id);
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#telling;
  }

  async #tell(): Promise<void> {
    while (this.#pending.size > 0) {
      await this.#clock.wait(gatherMs, this.#over.signal);
      const ids = [...this.#pending];
      this.#pending.clear();
      try {
        await this.#store.noteUses(ids);
      } catch (thrown) {
        // It is told again with the next use after a minute; nothing depends on it.
        const message = thrownMessage(thrown);
        this.#log.warn("api.token-use-not-noted", { tokens: ids.length, message });
      }
    }
  }
}
