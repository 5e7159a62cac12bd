/** How far two clocks may run apart: a wall clock that is being adjusted gains or loses half a millisecond a second. */
const DRIFT = 0.0005;
/** Both clocks are read in whole milliseconds. */
const ROUNDING_MS = 2;

/**
 * The store's clock as this process sees it. An answer tells the time at which it was made, which lies between sending and
 * receiving; how long it then travelled and waited is unknown, and seconds on a busy machine. So every answer narrows down how
 * far the two clocks are apart, and the quickest ones count: times that cycles stamp must fit together, whichever of them was
 * slow to load.
 */
export class StoreTime {
  /** The store's clock is ahead of our monotonic one by at least and at most this. */
  #atLeastMs = Number.NEGATIVE_INFINITY;
  #atMostMs = Number.POSITIVE_INFINITY;
  #notedMs = 0;

  /** An answer said `storeMs`; sent and received by our monotonic clock. */
  note(sentMs: number, storeMs: number, receivedMs: number): void {
    const slackMs = Math.max(0, receivedMs - this.#notedMs) * DRIFT;
    this.#notedMs = receivedMs;
    const [atLeastMs, atMostMs] = [storeMs - receivedMs, storeMs - sentMs];
    const before = { atLeastMs: this.#atLeastMs - slackMs, atMostMs: this.#atMostMs + slackMs };
    // One of the clocks was set: what was known of them is void.
    const jumped = atLeastMs > before.atMostMs + ROUNDING_MS || atMostMs < before.atLeastMs - ROUNDING_MS;
    this.#atLeastMs = jumped ? atLeastMs : Math.max(atLeastMs, before.atLeastMs);
    this.#atMostMs = jumped ? atMostMs : Math.min(atMostMs, before.atMostMs);
  }

  /** The store's time at a moment of our monotonic clock; never before an answer was noted. */
  at(monotonicMs: number): number {
    return Math.floor(monotonicMs + this.#atLeastMs);
  }
}
