import type { Clock } from "../ports/clock.ts";
import type { DueSubject, EngineStore } from "../ports/engine-store.ts";
import { rankOf } from "./priority.ts";
import type { SchedulerSettings } from "./options.ts";
import { Wake } from "../kernel/wake.ts";
import { within } from "../kernel/within.ts";

/** What became of a row: `new` now waits for its turn, `known` did before or was answered; `full` stays in the store for a later poll, `stop` ends this one. */
export type Offered = "new" | "known" | "full" | "stop";

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

const LONGEST_REST_MS = 20;

/**
 * Finds stored edges and backoffs that are due. Every `pollMs`, and at once when poked, it reads what became due since it last had
 * read everything, page by page; every now and then it reads everything again, because a transaction may have stamped an edge long
 * before it committed. A subject stays due in the store until its cycle has settled, so rows come again; whoever is offered one knows
 * which it has.
 */
export class DuePoller {
  readonly #store: EngineStore;
  readonly #clock: Clock;
  readonly #settings: SchedulerSettings;
  readonly #events: PollerEvents;
  readonly #wake: Wake;
  /** Shards to be read whole: new ones, and all of them now and then. */
  readonly #unread = new Set<number>();
  /** Shards that have been read whole since they were gained. */
  readonly #known = new Set<number>();
  readonly #poked = new Set<number>();
  /** When the last complete poll of all known shards was sent. */
  #readUpToMs = 0;
  /** A due row proves that the store's clock has passed its time: the most that the store is surely ahead of our monotonic clock. */
  #storeAheadMs: number | undefined;
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
    this.#known.delete(shard);
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
      const endedMs = this.#clock.monotonicMs();
      await this.#wake.wait(Math.max(1, pollAllAtMs - endedMs));
      // A poll that took long is followed by a pause as long, however many pokes come.
      const nextMs = startedMs + Math.max(this.#settings.pollGapMs, 2 * (endedMs - startedMs));
      if (nextMs > this.#clock.monotonicMs()) await this.#clock.wait(nextMs - this.#clock.monotonicMs());
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
      if (news.length > 0) await this.#readNews(news, all);
      if (whole.length > 0) await this.#readWhole(whole);
    } catch (thrown) {
      this.#events.failed("dueSubjects", thrown);
    } finally {
      this.#polling = false;
      this.#settled.clear();
    }
  }

  /** The store time up to which every due row of the known shards has been read, less what may have been committed late. */
  #horizonMs(): number | undefined {
    return this.#storeAheadMs === undefined
      ? undefined
      : this.#readUpToMs + this.#storeAheadMs - this.#settings.pollOverlapMs;
  }

  async #readNews(shards: readonly number[], all: boolean): Promise<void> {
    const sentMs = this.#clock.monotonicMs();
    const complete = await this.#read(shards, this.#horizonMs(), () => {});
    // The horizon is one for all shards, so only a poll of all of them may move it.
    if (all && complete) this.#readUpToMs = sentMs;
  }

  async #readWhole(shards: readonly number[]): Promise<void> {
    const horizonMs = this.#leftBehind ? undefined : this.#horizonMs();
    this.#leftBehind = false;
    for (const shard of shards) this.#unread.delete(shard);
    try {
      await this.#read(shards, undefined, (row) => {
        // We should have met it long ago: the store's clock was set back, so what we think of it does not hold any more.
        if (horizonMs !== undefined && row.dueAtMs <= horizonMs && this.#known.has(row.shard))
          this.#storeAheadMs = undefined;
      });
      for (const shard of shards) this.#known.add(shard);
    } catch (thrown) {
      for (const shard of shards) this.#unread.add(shard);
      throw thrown;
    }
  }

  /** True when everything was read. */
  async #read(
    shards: readonly number[],
    dueAfterMs: number | undefined,
    met: (row: DueSubject) => void,
  ): Promise<boolean> {
    const first = await this.#pages({
      shards,
      dueAfterMs,
      met,
      most: shards.length === 1 ? Number.POSITIVE_INFINITY : 1,
    });
    if (first !== "more") return first === "all";
    // For the most urgent rows of many shards the store reads as many of each. What is left is read shard by shard.
    for (const shard of shards) {
      const startedMs = this.#clock.monotonicMs();
      const rest = await this.#pages({ shards: [shard], dueAfterMs, met, most: Number.POSITIVE_INFINITY });
      if (rest !== "all") return false;
      await this.#rest(startedMs);
    }
    return true;
  }

  /** Whether that was all, there is more than so many pages, or the rest has no room. */
  async #pages(options: {
    readonly shards: readonly number[];
    readonly dueAfterMs: number | undefined;
    readonly met: (row: DueSubject) => void;
    readonly most: number;
  }): Promise<"all" | "more" | "stop"> {
    const { dueAfterMs, met, most, shards } = options;
    const { pollBatch: limit, storeTimeoutMs: ms } = this.#settings;
    let after: DueSubject | undefined;
    for (let page = 1; ; page++) {
      const sentMs = this.#clock.monotonicMs();
      const rows = await within(
        this.#clock,
        { ms, what: "dueSubjects" },
        this.#store.dueSubjects({ shards, limit, dueAfterMs, after }),
      );
      const receivedMs = this.#clock.monotonicMs();
      for (const row of rows) {
        this.#storeAheadMs = Math.max(this.#storeAheadMs ?? row.dueAtMs - receivedMs, row.dueAtMs - receivedMs);
        const offered = this.#offer(row);
        if (offered === "new") met(row);
        if (offered === "full" || offered === "stop") this.#leftBehind = true;
        if (offered === "stop") return "stop";
      }
      this.#events.polled();
      const last = rows.at(-1);
      const moved = last !== undefined && (after === undefined || isBehind(last, after));
      if (rows.length < limit || !moved) return "all";
      if (this.#stopped) return "stop";
      if (page >= most) return "more";
      after = last;
      await this.#rest(sentMs);
    }
  }

  /** A backlog is read no more than half of the time, so that whoever has something to do meanwhile is not held up by it. */
  async #rest(sinceMs: number): Promise<void> {
    await this.#clock.wait(Math.min(LONGEST_REST_MS, Math.max(1, this.#clock.monotonicMs() - sinceMs)));
  }

  #offer(row: DueSubject): Offered {
    const coveredMs = this.#settled.get(row.id);
    // Read before its cycle settled: that edge has been answered.
    if (coveredMs !== undefined && row.dueAtMs <= coveredMs) return "known";
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
