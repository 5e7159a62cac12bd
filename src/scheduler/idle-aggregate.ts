import type { IdleBatch } from "../ports/engine-store.ts";

const MINUTE_MS = 60_000;
/** Counts of older minutes are let go when the store could not take them for that long. */
const KEPT_MS = 60 * MINUTE_MS;

type Freshness = IdleBatch["freshness"][number];

/** Since when what a process holds has been looked at, in the store's time. */
export interface Seen {
  readonly shards: IdleBatch["seen"];
  readonly loops: IdleBatch["loopsSeen"];
}

/**
 * What cycles that wrote nothing leave behind: how many there were per loop and minute, how fresh each listing is, and since when
 * everything of a loop, or of a whole shard, has been looked at. Kept here and recorded in batches, so that an idle cycle costs no commit of its own.
 */
export class IdleAggregate {
  readonly #counts = new Map<string, { readonly kind: string; readonly minuteMs: number; count: number }>();
  readonly #freshness = new Map<string, Freshness>();
  readonly #seenSinceMs = new Map<number, number>();
  /** By shard, then by kind. */
  readonly #loopsSinceMs = new Map<number, Map<string, number>>();
  #pending = 0;

  /** Cycles since the last batch was recorded, idle or not: each may have moved what the next one says. */
  get pending(): number {
    return this.#pending;
  }

  note(kind: string, nowMs: number, idle: boolean): void {
    this.#pending += 1;
    if (idle) this.#count(kind, nowMs - (nowMs % MINUTE_MS), 1);
  }

  /** A listing was seen whole; the newest counts. */
  fresh(freshness: readonly Freshness[]): void {
    for (const each of freshness) {
      const key = `${each.accountId}\n${each.collection}`;
      const before = this.#freshness.get(key);
      if (before === undefined || before.completeAtMs < each.completeAtMs) this.#freshness.set(key, each);
    }
  }

  forgetShard(shard: number): void {
    this.#seenSinceMs.delete(shard);
    this.#loopsSinceMs.delete(shard);
  }

  /** Takes the batch out; undefined when there is nothing new to say. What was seen holds for the shards that it names. */
  take(holder: string, { shards, loops }: Seen, nowMs: number): IdleBatch | undefined {
    const seen = shards.filter(({ shard, sinceMs }) => sinceMs > (this.#seenSinceMs.get(shard) ?? 0));
    const loopsSeen = loops.filter(
      ({ shard, kind, sinceMs }) => sinceMs > (this.#loopsSinceMs.get(shard)?.get(kind) ?? 0),
    );
    const cycles = [...this.#counts.values()]
      .filter(({ minuteMs }) => minuteMs > nowMs - KEPT_MS)
      .map(({ count, kind, minuteMs }) => ({ kind, minuteMs, count }))
      .sort((left, right) => left.minuteMs - right.minuteMs || (left.kind < right.kind ? -1 : 1));
    const freshness = [...this.#freshness.values()];
    if (cycles.length + freshness.length + seen.length + loopsSeen.length === 0) return undefined;
    for (const { shard, sinceMs } of seen) this.#seenSinceMs.set(shard, sinceMs);
    for (const { shard, kind, sinceMs } of loopsSeen) {
      const ofShard = this.#loopsSinceMs.get(shard) ?? new Map<string, number>();
      this.#loopsSinceMs.set(shard, ofShard.set(kind, sinceMs));
    }
    this.#counts.clear();
    this.#freshness.clear();
    this.#pending = 0;
    return { holder, cycles, freshness, seen, loopsSeen };
  }

  /** The store did not take the batch: it is part of the next one. What may have been recorded after all is counted twice at most. */
  giveBack(batch: IdleBatch): void {
    for (const { count, kind, minuteMs } of batch.cycles) {
      this.#count(kind, minuteMs, count);
      this.#pending += count;
    }
    this.fresh(batch.freshness);
    for (const { shard } of batch.seen) this.#seenSinceMs.delete(shard);
    for (const { shard, kind } of batch.loopsSeen) this.#loopsSinceMs.get(shard)?.delete(kind);
  }

  #count(kind: string, minuteMs: number, count: number): void {
    const key = `${minuteMs} ${kind}`;
    const before = this.#counts.get(key);
    if (before === undefined) this.#counts.set(key, { kind, minuteMs, count });
    else before.count += count;
  }
}
