import type { Clock } from "../ports/clock.ts";
import type { EngineStore, SubjectEntry } from "../ports/engine-store.ts";
import type { HeldShard } from "../kernel/leases.ts";
import type { SchedulerSettings } from "./options.ts";
import { within } from "../kernel/within.ts";

const RETRY_MS = 1_000;

export interface ListingEvents {
  isOurs(held: HeldShard): boolean;
  subject(entry: SubjectEntry, shard: number): void;
  listed(held: HeldShard): void;
  failed(what: string, thrown: unknown): void;
}

/** Reads the subjects of gained shards into the timers, one page at a time, so that a million of them never stand in the way of a cycle. */
export class Listing {
  readonly #store: EngineStore;
  readonly #clock: Clock;
  readonly #settings: SchedulerSettings;
  readonly #events: ListingEvents;
  readonly #waiting: HeldShard[] = [];
  #busy = false;
  #stopped = false;

  constructor(options: {
    readonly store: EngineStore;
    readonly clock: Clock;
    readonly settings: SchedulerSettings;
    readonly events: ListingEvents;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#settings = options.settings;
    this.#events = options.events;
  }

  gained(held: HeldShard): void {
    this.#waiting.push(held);
    if (!this.#busy) void this.#work();
  }

  stop(): void {
    this.#stopped = true;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let held = this.#waiting.shift(); held !== undefined && !this.#stopped; held = this.#waiting.shift()) {
      await this.#list(held);
    }
    this.#busy = false;
  }

  async #list(held: HeldShard): Promise<void> {
    let afterId = 0;
    while (this.#events.isOurs(held) && !this.#stopped) {
      const page = await this.#page(held.shard, afterId);
      if (page === undefined) {
        await this.#clock.wait(RETRY_MS);
        continue;
      }
      if (!this.#events.isOurs(held)) return;
      for (const entry of page) this.#events.subject(entry, held.shard);
      if (page.length < this.#settings.listBatch) {
        this.#events.listed(held);
        return;
      }
      afterId = page.at(-1)?.id ?? afterId;
    }
  }

  async #page(shard: number, afterId: number): Promise<readonly SubjectEntry[] | undefined> {
    const { listBatch: limit, storeTimeoutMs: ms } = this.#settings;
    try {
      return await within(
        this.#clock,
        { ms, what: "listSubjects" },
        this.#store.listSubjects({ shard, afterId, limit }),
      );
    } catch (thrown) {
      this.#events.failed("listSubjects", thrown);
      return undefined;
    }
  }
}
