import { fnv1a } from "../kernel/hash.ts";

export const WAIT_BUCKETS = 16;
const WINDOW_MS = 60_000;

/** The longest wait of each bucket of organizations within the last minute or two: unfairness shows as one bucket far above the rest. */
export class LongestWaits {
  #current = new Float64Array(WAIT_BUCKETS);
  #before = new Float64Array(WAIT_BUCKETS);
  #windowStartMs: number;

  constructor(nowMs: number) {
    this.#windowStartMs = nowMs;
  }

  note(organizationId: string, waitedMs: number): void {
    const bucket = fnv1a(organizationId) % WAIT_BUCKETS;
    if (waitedMs > (this.#current[bucket] as number)) this.#current[bucket] = waitedMs;
  }

  seconds(nowMs: number): readonly number[] {
    if (nowMs - this.#windowStartMs >= WINDOW_MS) {
      this.#before = nowMs - this.#windowStartMs >= 2 * WINDOW_MS ? new Float64Array(WAIT_BUCKETS) : this.#current;
      this.#current = new Float64Array(WAIT_BUCKETS);
      this.#windowStartMs = nowMs;
    }
    return Array.from(this.#current, (waitedMs, bucket) => Math.max(waitedMs, this.#before[bucket] as number) / 1_000);
  }
}
