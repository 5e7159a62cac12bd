import type { Clock } from "../../ports/clock.ts";

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export const defaultRateLimit: RateLimit = Object.freeze({ perSecond: 200, burst: 1_000 });

export interface RateAnswer {
  readonly allowed: boolean;
  /** Requests that may follow at once. */
  readonly remaining: number;
  /** Until there is one more, or until all are back. */
  readonly retryAfterSeconds: number;
}

/** Buckets that are full again say nothing; they are looked through when there are this many. */
const sweepAbove = 10_000;

/** A token bucket per credential, in this process. */
export class RateLimiter {
  readonly limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(limit: RateLimit, clock: Clock) {
    this.limit = limit;
    this.#clock = clock;
  }

  take(key: string): RateAnswer {
    const { perSecond, burst } = this.limit;
    const nowMs = this.#clock.monotonicMs();
    if (this.#buckets.size > sweepAbove) this.#sweep(nowMs);
    const bucket = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * perSecond) / 1_000);
    bucket.atMs = nowMs;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    this.#buckets.set(key, bucket);
    return {
      allowed,
      remaining: Math.floor(bucket.tokens),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
    };
  }

  #sweep(nowMs: number): void {
    const { perSecond, burst } = this.limit;
    for (const [key, { tokens, atMs }] of this.#buckets) {
      if (tokens + ((nowMs - atMs) * perSecond) / 1_000 >= burst) this.#buckets.delete(key);
    }
    // Nobody may fill the memory with keys: the oldest go, which costs us nothing but a new allowance for them.
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size <= sweepAbove / 2) return;
      this.#buckets.delete(key);
    }
  }
}
