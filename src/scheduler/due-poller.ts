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
  /** Whether so much waits for its turn that there is no hurry to read more. */
  hasPlenty(): boolean;
  failed(what: string, thrown: unknown): void;
}

const LONGEST_REST_MS = 20;
/** Behind a page that nobody has use for yet: thousands of rows a second are read all the same. */
const SLOW_REST_MS = 50;
const PAGES_IN_A_ROW = 10;

/** What is read of a shard, and how far that has come. */
interface Reading {
  readonly shard: number;
  /** Everything, and not only what is new. */
  readonly whole: boolean;
  /** What was due up to then, by the store's time, was met before; undefined where nobody can say. */
  readonly metUpToMs: number | undefined;
  /** When the first page of this shard alone was sent, and what was left out of it as known. */
  begun: { readonly sentMs: number; readonly dueAfterMs: number | undefined } | undefined;
  after: DueSubject | undefined;
}

type PageEnd = { readonly end: "all" | "stop" } | { readonly end: "more"; readonly last: DueSubject };

/**
 * Finds stored edges and backoffs that are due. Every `pollMs`, and at once when poked, it reads what became due in a shard since it
 * last had read all of it; every now and then it reads everything again, because a transaction may have stamped an edge long
 * before it committed. Shards with more than a page of it are read on page by page, with a rest behind each, while the others go on
 * having their polls: a tenant's great backlog delays nobody else's news. A subject stays due in the store until its cycle has
 * settled, so rows come again; whoever is offered one knows which it has.
 */
export class DuePoller {
  readonly #store: EngineStore;
  readonly #clock: Clock;
  readonly #settings: SchedulerSettings;
  readonly #events: PollerEvents;
  readonly #wake: Wake;
  /** Shards to be read whole: new ones, and all of them now and then. */
  readonly #unread = new Set<number>();
  /** Shards with more than a page of due rows, to be read on. */
  readonly #behind = new Map<number, Reading>();
  /** Shards that have been read whole since they were gained. */
  readonly #known = new Set<number>();
  readonly #poked = new Set<number>();
  /**
   * By shard: when the last read that came to its end was sent. Each has its own, so that what a poke made us read is not read
   * again by the next poll of all shards: a tenant with a great many due is among them.
   */
  readonly #readUpToMs = new Map<number, number>();
  /** A due row proves that the store's clock has passed its time: the most that the store is surely ahead of our monotonic clock. */
  #storeAheadMs: number | undefined;
  /** Subjects whose cycle ended while a poll was under way, with the due time it answered: the poll may still show them as due. */
  readonly #settled = new Map<number, number>();
  #restUntilMs = Number.NEGATIVE_INFINITY;
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
    this.#readUpToMs.delete(shard);
    this.#behind.delete(shard);
    this.poke([shard]);
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
      const tookMs = await this.#round(all);
      if (this.#stopped) return;
      await this.#wake.wait(Math.max(1, pollAllAtMs - this.#clock.monotonicMs()));
      // A poll that took long is followed by a pause as long, however many pokes come.
      const nextMs = startedMs + Math.max(this.#settings.pollGapMs, 2 * tookMs);
      if (nextMs > this.#clock.monotonicMs()) await this.#clock.wait(nextMs - this.#clock.monotonicMs());
    }
  }

  /** What people wait for is read first: news, then the shards that are read whole, then those that are behind. Answers how long the polls took. */
  async #round(all: boolean): Promise<number> {
    const startedMs = this.#clock.monotonicMs();
    const shards = this.#events.shards();
    for (const shard of this.#behind.keys()) if (!shards.includes(shard)) this.#behind.delete(shard);
    const upToDate = shards.filter((shard) => !this.#behind.has(shard));
    const news = upToDate.filter((shard) => !this.#unread.has(shard) && (all || this.#poked.has(shard)));
    const whole = upToDate.filter((shard) => this.#unread.has(shard));
    let polledMs: number | undefined;
    this.#poked.clear();
    this.#polling = true;
    try {
      if (news.length > 0) await this.#poll(news.map((shard) => readingOf(shard, { whole: false })));
      if (whole.length > 0) await this.#pollWhole(whole);
      polledMs = this.#clock.monotonicMs();
      await this.#readOn(startedMs + this.#settings.pollMs);
    } catch (thrown) {
      this.#events.failed("dueSubjects", thrown);
    } finally {
      this.#polling = false;
      this.#settled.clear();
    }
    return (polledMs ?? this.#clock.monotonicMs()) - startedMs;
  }

  /** The store time up to which every due row of these shards has been read, less what may have been committed late. */
  #horizonMs(shards: readonly number[]): number | undefined {
    if (this.#storeAheadMs === undefined) return undefined;
    const readUpToMs = Math.min(...shards.map((shard) => this.#readUpToMs.get(shard) ?? 0));
    return readUpToMs + this.#storeAheadMs - this.#settings.pollOverlapMs;
  }

  async #pollWhole(shards: readonly number[]): Promise<void> {
    const readings = shards.map((shard): Reading => {
      const isMet = this.#known.has(shard) && !this.#leftBehind;
      return readingOf(shard, { whole: true, metUpToMs: isMet ? this.#horizonMs([shard]) : undefined });
    });
    this.#leftBehind = false;
    for (const shard of shards) this.#unread.delete(shard);
    try {
      await this.#poll(readings);
    } catch (thrown) {
      for (const shard of shards) this.#unread.add(shard);
      throw thrown;
    }
  }

  /** The most urgent rows of all of these. Where there are more, the store has read as many of each: they are then read one by one. */
  async #poll(readings: readonly Reading[]): Promise<void> {
    const shards = readings.map(({ shard }) => shard);
    const sentMs = this.#clock.monotonicMs();
    const dueAfterMs = readings.some(({ whole }) => whole) ? undefined : this.#horizonMs(shards);
    const page = await this.#page({ shards, dueAfterMs, after: undefined }, readings);
    if (page.end === "more") {
      for (const reading of readings) this.#behind.set(reading.shard, reading);
      const [only] = readings;
      if (readings.length === 1 && only !== undefined) {
        only.begun = { sentMs, dueAfterMs };
        only.after = page.last;
      }
      return;
    }
    for (const reading of readings) this.#ended(reading, page.end === "all" ? sentMs : undefined);
  }

  /** Reads those that are behind, with a rest behind each page, until it is time for the next poll. */
  async #readOn(untilMs: number): Promise<void> {
    for (const reading of this.#behind.values()) {
      const { shard } = reading;
      for (let pages = 0; pages < PAGES_IN_A_ROW && this.#behind.get(shard) === reading; pages++) {
        if (!(await this.#isRested(untilMs))) return;
        const startedMs = this.#clock.monotonicMs();
        await this.#readPage(reading, startedMs);
        const endedMs = this.#clock.monotonicMs();
        this.#restUntilMs = endedMs + this.#restMs(shard, endedMs - startedMs);
      }
      // The others that are behind have a turn before it is read further.
      if (this.#behind.get(shard) !== reading) continue;
      this.#behind.delete(shard);
      this.#behind.set(shard, reading);
    }
  }

  async #readPage(reading: Reading, nowMs: number): Promise<void> {
    const { after, shard, whole } = reading;
    reading.begun ??= { sentMs: nowMs, dueAfterMs: whole ? undefined : this.#horizonMs([shard]) };
    const { dueAfterMs, sentMs } = reading.begun;
    const page = await this.#page({ shards: [shard], dueAfterMs, after }, [reading]);
    // The shard was lost meanwhile and is ours again: it is read anew.
    if (this.#behind.get(shard) !== reading) return;
    if (page.end === "more") {
      reading.after = page.last;
    } else if (page.end === "all") {
      this.#behind.delete(shard);
      this.#ended(reading, sentMs);
    } else {
      // There is no room: what was not read is left behind in the store.
      for (const unfinished of this.#behind.values()) this.#ended(unfinished, undefined);
      this.#behind.clear();
    }
  }

  /** `sentMs`: when that reading was sent which came to its end. */
  #ended({ shard, whole }: Reading, sentMs: number | undefined): void {
    if (sentMs !== undefined) this.#readUpToMs.set(shard, sentMs);
    if (whole) this.#known.add(shard);
  }

  async #page(
    asked: {
      readonly shards: readonly number[];
      readonly dueAfterMs: number | undefined;
      readonly after: DueSubject | undefined;
    },
    readings: readonly Reading[],
  ): Promise<PageEnd> {
    const { pollBatch: limit, storeTimeoutMs: ms } = this.#settings;
    const { after } = asked;
    const rows = await within(this.#clock, { ms, what: "dueSubjects" }, this.#store.dueSubjects({ ...asked, limit }));
    const receivedMs = this.#clock.monotonicMs();
    for (const row of rows) {
      this.#storeAheadMs = Math.max(this.#storeAheadMs ?? row.dueAtMs - receivedMs, row.dueAtMs - receivedMs);
      const offered = this.#offer(row);
      if (offered === "new") this.#met(row, readings);
      if (offered === "full" || offered === "stop") this.#leftBehind = true;
      if (offered === "stop") return { end: "stop" };
    }
    this.#events.polled();
    const last = rows.at(-1);
    const moved = last !== undefined && (after === undefined || isBehind(last, after));
    return rows.length < limit || !moved ? { end: "all" } : { end: "more", last };
  }

  /** Where we should have met it long ago, the store's clock was set back, and what we think of it does not hold any more. */
  #met(row: DueSubject, readings: readonly Reading[]): void {
    const metUpToMs = readings.find(({ shard }) => shard === row.shard)?.metUpToMs;
    if (metUpToMs !== undefined && row.dueAtMs <= metUpToMs) this.#storeAheadMs = undefined;
  }

  /** False when it is time for a poll before the rest is over: whoever pokes does not wait for it. */
  async #isRested(untilMs: number): Promise<boolean> {
    for (;;) {
      const nowMs = this.#clock.monotonicMs();
      if (this.#stopped || nowMs >= untilMs) return false;
      if (nowMs >= this.#restUntilMs) return true;
      if (this.#poked.size > 0) {
        // What ended the rest is to end the wait for the next poll too.
        this.#wake.wake();
        return false;
      }
      await this.#wake.wait(Math.min(this.#restUntilMs, untilMs) - nowMs);
    }
  }

  /**
   * A backlog is read no more than half of the time, so that whoever has something to do meanwhile is not held up by it. Where there is
   * plenty to do and the shard has been read before, more of it would only wait here instead of there: then slowly.
   */
  #restMs(shard: number, tookMs: number): number {
    const isSlow = this.#known.has(shard) && this.#events.hasPlenty();
    return isSlow ? SLOW_REST_MS : Math.min(LONGEST_REST_MS, Math.max(1, tookMs));
  }

  #offer(row: DueSubject): Offered {
    const coveredMs = this.#settled.get(row.id);
    // Read before its cycle settled: that edge has been answered.
    if (coveredMs !== undefined && row.dueAtMs <= coveredMs) return "known";
    return this.#events.due(row);
  }
}

function readingOf(
  shard: number,
  { whole, metUpToMs }: { readonly whole: boolean; readonly metUpToMs?: number | undefined },
): Reading {
  return { shard, whole, metUpToMs, begun: undefined, after: undefined };
}

function isBehind(row: DueSubject, other: DueSubject): boolean {
  return (
    rankOf(row.priority) - rankOf(other.priority) > 0 ||
    (row.priority === other.priority &&
      (row.dueAtMs > other.dueAtMs || (row.dueAtMs === other.dueAtMs && row.id > other.id)))
  );
}
