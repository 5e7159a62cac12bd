import type { Clock } from "../ports/clock.ts";
import type { DueSubject, EngineStore } from "../ports/engine-store.ts";
import { rankOf } from "./priority.ts";
import type { SchedulerSettings } from "./options.ts";
import { Wake } from "./wake.ts";
import { within } from "./within.ts";

/** What became of a row: `full` leaves it in the store for a later poll, `stop` ends this one. */
export type Offered = "taken" | "full" | "stop";

export interface PollerEvents {
  /** Shards in use now, lowest first. */
  shards(): readonly number[];
  due(row: DueSubject): Offered;
  /** Rows were offered: something may start. */
  polled(): void;
  /** Whether rows that were left in the store for want of room are worth reading again. */
  hasRoomAgain(): boolean;
  failed(what: string, thrown: unknown): void;
}

/**
 * Finds stored edges and backoffs that are due. Every `pollMs`, and at once when poked, it reads what became due since the last time
 * it had read everything (the horizon, in the store's own time), page by page; every now and then it reads everything again, because
 * a transaction may have stamped an edge long before it committed. A subject stays due in the store until its cycle has settled, so
 * rows come again; whoever is offered one knows which it has.
 */
export class DuePoller {
  readonly #store: EngineStore;
  readonly #clock: Clock;
  readonly #settings: SchedulerSettings;
  readonly #events: PollerEvents;
  readonly #wake: Wake;
  /** Shards to be read whole: new ones, and all of them now and then. */
  readonly #unread = new Set<number>();
  readonly #poked = new Set<number>();
  /** Everything that was due at this store time is known, in every shard that is not unread. */
  #horizonMs: number | undefined;
  /** Subjects whose cycle ended while a poll was under way, with the due time it answered: the poll may still show them as due. */
  readonly #settled = new Map<number, number>();
  #polling = false;
  #leftBehind = false;
  #stopped = false;

  constructor(options: {
    readonly store: EngineStore;
    readonly clock: Clock;
    readonly settings: SchedulerSettings;
    readonly events: PollerEvents;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#settings = options.settings;
    this.#events = options.events;
    this.#wake = new Wake(options.clock);
  }

  /** A shard was gained: what is stored as due there is not known yet. */
  gained(shard: number): void {
    this.#unread.add(shard);
    this.#wake.wake();
  }

  /** Something was stored, perhaps in these shards. Pokes that come during a poll or close together share the next one. */
  poke(shards: readonly number[] | undefined): void {
    for (const shard of shards ?? this.#events.shards()) this.#poked.add(shard);
    this.#wake.wake();
  }

  /** A cycle ended and its settlement is stored. */
  settled(id: number, coversDueMs: number): void {
    if (this.#polling) this.#settled.set(id, coversDueMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#wake.wake();
  }

  async run(): Promise<void> {
    let pollAllAtMs = 0;
    let readAllAtMs = this.#clock.monotonicMs() + this.#settings.fullPollEveryMs;
    while (!this.#stopped) {
      const startedMs = this.#clock.monotonicMs();
      if (startedMs >= readAllAtMs || (this.#leftBehind && this.#events.hasRoomAgain())) {
        for (const shard of this.#events.shards()) this.#unread.add(shard);
        readAllAtMs = startedMs + this.#settings.fullPollEveryMs;
      }
      const all = startedMs >= pollAllAtMs;
      if (all) pollAllAtMs = startedMs + this.#settings.pollMs;
      await this.#round(all);
      if (this.#stopped) return;
      await this.#wake.wait(Math.max(1, pollAllAtMs - this.#clock.monotonicMs()));
      const tooSoonMs = startedMs + this.#settings.pollGapMs - this.#clock.monotonicMs();
      if (tooSoonMs > 0) await this.#clock.wait(tooSoonMs);
    }
  }

  /** What people wait for is read first: the news of known shards, then the shards that are read whole. */
  async #round(all: boolean): Promise<void> {
    const shards = this.#events.shards();
    const news = shards.filter((shard) => !this.#unread.has(shard) && (all || this.#poked.has(shard)));
    const whole = shards.filter((shard) => this.#unread.has(shard));
    this.#poked.clear();
    this.#polling = true;
    try {
      if (news.length > 0) {
        const afterMs = this.#horizonMs === undefined ? undefined : this.#horizonMs - this.#settings.pollOverlapMs;
        const newestMs = await this.#read(news, afterMs);
        // The horizon is one for all shards, so only a poll of all of them may move it.
        if (all && newestMs !== undefined) this.#horizonMs = Math.max(newestMs, this.#horizonMs ?? newestMs);
      }
      if (whole.length > 0) await this.#readWhole(whole);
    } catch (thrown) {
      this.#events.failed("dueSubjects", thrown);
    } finally {
      this.#polling = false;
      this.#settled.clear();
    }
  }

  async #readWhole(shards: readonly number[]): Promise<void> {
    this.#leftBehind = false;
    for (const shard of shards) this.#unread.delete(shard);
    try {
      await this.#read(shards, undefined);
    } catch (thrown) {
      for (const shard of shards) this.#unread.add(shard);
      throw thrown;
    }
  }

  /** The newest due time read, when everything was read; undefined when something was left out or nothing was there. */
  async #read(shards: readonly number[], dueAfterMs: number | undefined): Promise<number | undefined> {
    const { pollBatch: limit, storeTimeoutMs: ms } = this.#settings;
    let newestMs: number | undefined;
    let after: DueSubject | undefined;
    for (;;) {
      const rows = await within(
        this.#clock,
        { ms, what: "dueSubjects" },
        this.#store.dueSubjects({ shards, limit, dueAfterMs, after }),
      );
      const last = rows.at(-1);
      for (const row of rows) {
        newestMs = Math.max(newestMs ?? row.dueAtMs, row.dueAtMs);
        const offered = this.#offer(row);
        if (offered !== "taken") this.#leftBehind = true;
        if (offered === "stop") return undefined;
      }
      this.#events.polled();
      const moved = last !== undefined && (after === undefined || isBehind(last, after));
      if (rows.length < limit || !moved || this.#stopped) return newestMs;
      after = last;
    }
  }

  #offer(row: DueSubject): Offered {
    const coveredMs = this.#settled.get(row.id);
    // Read before its cycle settled: that edge has been answered.
    if (coveredMs !== undefined && row.dueAtMs <= coveredMs) return "taken";
    return this.#events.due(row);
  }
}

function isBehind(row: DueSubject, other: DueSubject): boolean {
  return (
    rankOf(row.priority) - rankOf(other.priority) > 0 ||
    (row.priority === other.priority &&
      (row.dueAtMs > other.dueAtMs || (row.dueAtMs === other.dueAtMs && row.id > other.id)))
  );
}
