import type { Clock } from "../ports/clock.ts";
import type { SubjectEntry } from "../ports/engine-store.ts";
import type { Random } from "../ports/random.ts";
import { nextPeriodicInMs, spreadMs } from "./periodic.ts";
import type { SubjectGroup } from "./subject-groups.ts";
import { SubjectTable } from "./subject-table.ts";
import { TimerWheel } from "./timer-wheel.ts";

const FIRST_CAPACITY = 1_024;
/**
 * Periodic looks begin at multiples of this, or of a small part of their interval if that is less: nobody waits for them, and
 * hundreds that begin together are read by one statement where each by itself would be a transaction.
 */
const TOGETHER_MS = 3_000;
const TOGETHER_SHARE = 1 / 240;
/** The same for second looks and retries, which come sooner. */
const SOON_TOGETHER_MS = 250;
const SOON_TOGETHER_SHARE = 1 / 4;

/** Every subject of our shards with the time of its next look. A subject that waits for its turn or runs has no timer. */
export class SubjectTimers {
  readonly table: SubjectTable;
  readonly #wheel: TimerWheel;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: {
    readonly clock: Clock;
    readonly random: Random;
    readonly everyMsOf: (kind: string) => number;
  }) {
    const nowMs = options.clock.monotonicMs();
    this.#clock = options.clock;
    this.#random = options.random;
    this.table = new SubjectTable({ capacity: FIRST_CAPACITY, nowMs, everyMsOf: options.everyMsOf });
    this.#wheel = new TimerWheel({ capacity: FIRST_CAPACITY, nowMs });
  }

  /** The subject's row, added with a timer at its phase when it is new. */
  know(entry: SubjectEntry, shard: number): number {
    const known = this.table.find(entry.id);
    if (known >= 0) return known;
    const row = this.table.add(entry, shard, this.#clock.monotonicMs());
    this.#wheel.grow(this.table.capacity);
    this.#setPeriodic(row, false, undefined);
    return row;
  }

  group(row: number): SubjectGroup {
    return this.table.group(row);
  }

  /** After a turn: the periodic look, or sooner when something asked for it. Answers with its time. */
  rearm(row: number, inMs: number | undefined): number {
    return this.#setPeriodic(row, true, inMs);
  }

  setIn(row: number, inMs: number): number {
    const dueMs = this.#clock.monotonicMs() + inMs;
    this.#wheel.set(row, dueMs);
    return dueMs;
  }

  cancel(row: number): void {
    this.#wheel.cancel(row);
  }

  forget(row: number): void {
    this.#wheel.cancel(row);
    this.table.remove(row);
  }

  /** Rows whose time has come, at most as many as there is room for; the rest stays due. */
  *takeDue(room: () => boolean): Generator<number> {
    this.#wheel.advance(this.#clock.monotonicMs());
    while (room()) {
      const row = this.#wheel.takeDue();
      if (row < 0) return;
      yield row;
    }
  }

  nextMs(): number | undefined {
    return this.#wheel.nextMs();
  }

  #setPeriodic(row: number, looked: boolean, atLatestInMs: number | undefined): number {
    const { accountId, everyMs, phase, subjects } = this.group(row);
    const spread = spreadMs({ everyMs, subjects, shared: accountId !== undefined });
    const subject = { id: this.table.id(row), everyMs, looked, groupPhase: phase, spreadMs: spread, subjects };
    const inMs = nextPeriodicInMs(subject, this.#clock.nowMs(), this.#random);
    if (atLatestInMs !== undefined && atLatestInMs <= inMs)
      return this.#setTogether(row, atLatestInMs, Math.min(SOON_TOGETHER_MS, atLatestInMs * SOON_TOGETHER_SHARE));
    return this.#setTogether(row, inMs, Math.min(TOGETHER_MS, everyMs * TOGETHER_SHARE));
  }

  /** Not before that time, and with all others whose time comes within the same step. */
  #setTogether(row: number, inMs: number, stepMs: number): number {
    const soonestMs = this.#clock.monotonicMs() + inMs;
    const dueMs = stepMs < 1 ? soonestMs : Math.ceil(soonestMs / stepMs) * stepMs;
    this.#wheel.set(row, dueMs);
    return dueMs;
  }
}
