import { backoffMs } from "../kernel/backoff.ts";
import type { Random } from "../ports/random.ts";

/** How a subject that threw or hung goes on. */
export interface Strike {
  readonly count: number;
  readonly retryInMs: number;
  readonly quarantined: boolean;
}

interface Record {
  /** Consecutive cycles that threw or hung while other subjects' cycles ended well. */
  strikes: number;
  /** All consecutive failures; drives the backoff. */
  failures: number;
  /** How many cycles of others had ended well when it last failed. */
  wellAtLast: number;
  /** What the failed cycle was to answer: the same row in the next poll is no news. */
  readonly rank: number;
  readonly coversDueMs: number;
  /** The inputs it failed on, if it got so far: an edge that came later must not be settled away with the quarantine. */
  readonly inputVersion: number | undefined;
  quarantine: "none" | "unrecorded" | "recorded";
}

/**
 * Subjects whose cycles end without a report. One that throws or hangs again and again is poison and is put in quarantine; but when
 * nothing else works either, the store or the machine is to blame, and no subject is punished for it.
 */
export class Strikes {
  readonly #quarantineAfter: number;
  readonly #quarantineMs: number;
  readonly #random: Random;
  readonly #records = new Map<number, Record>();
  #well = 0;

  constructor(options: { readonly quarantineAfter: number; readonly quarantineMs: number; readonly random: Random }) {
    this.#quarantineAfter = options.quarantineAfter;
    this.#quarantineMs = options.quarantineMs;
    this.#random = options.random;
  }

  get quarantined(): number {
    let count = 0;
    for (const { quarantine } of this.#records.values()) if (quarantine !== "none") count += 1;
    return count;
  }

  /** A cycle ended with a report. */
  clear(id: number): void {
    this.#well += 1;
    this.#records.delete(id);
  }

  /** The subject left, with its shard or for good. */
  forget(id: number): void {
    this.#records.delete(id);
  }

  strike(
    id: number,
    answered: { readonly rank: number; readonly coversDueMs: number; readonly inputVersion: number | undefined },
  ): Strike {
    const before = this.#records.get(id);
    // The first failure is a strike in any case; it takes more than one to be punished.
    const counts = before === undefined || this.#well > before.wellAtLast;
    const strikes = (before?.strikes ?? 0) + (counts ? 1 : 0);
    const failures = (before?.failures ?? 0) + 1;
    const quarantined = strikes >= this.#quarantineAfter;
    // All tries since it last ended well answer for the same edges.
    const rank = Math.min(answered.rank, before?.rank ?? answered.rank);
    const coversDueMs = Math.max(answered.coversDueMs, before?.coversDueMs ?? answered.coversDueMs);
    // A try that an edge asked for has left that edge in the store: written down anew, the next edge shows.
    const news = before === undefined || before.quarantine === "none" || answered.coversDueMs > before.coversDueMs;
    const quarantine = !quarantined ? "none" : news ? "unrecorded" : before.quarantine;
    const { inputVersion } = answered;
    this.#records.set(id, { strikes, failures, wellAtLast: this.#well, rank, coversDueMs, inputVersion, quarantine });
    return {
      count: strikes,
      retryInMs: quarantined ? this.#quarantineMs : backoffMs(failures, this.#random),
      quarantined,
    };
  }

  /** Newly in quarantine: its next turn writes that down instead of running. */
  isUnrecorded(id: number): boolean {
    return this.#records.get(id)?.quarantine === "unrecorded";
  }

  inputVersion(id: number): number | undefined {
    return this.#records.get(id)?.inputVersion;
  }

  recorded(id: number): void {
    const record = this.#records.get(id);
    if (record !== undefined) record.quarantine = "recorded";
  }

  /** Whether a row of the store is only what the failed cycle left behind. A later or more urgent edge is news. */
  isKnown(id: number, row: { readonly rank: number; readonly coversDueMs: number }): boolean {
    const record = this.#records.get(id);
    return record !== undefined && row.coversDueMs <= record.coversDueMs && row.rank >= record.rank;
  }
}
