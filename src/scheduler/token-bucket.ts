/**
 * A rate with a bounded burst, by monotonic time. The rate holds over any stretch of time, whatever happened before. Once it
 * is empty it gives nothing until there is enough for a batch, so that takers go together and not one by one.
 */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #batch: number;
  #tokens: number;
  #atMs: number;
  #filling = false;

  constructor(options: {
    readonly perSecond: number;
    readonly burst: number;
    readonly batch?: number;
    readonly nowMs: number;
  }) {
    this.#perSecond = options.perSecond;
    this.#burst = Math.max(1, options.burst);
    this.#batch = Math.min(this.#burst, Math.max(1, options.batch ?? 1));
    this.#tokens = this.#burst;
    this.#atMs = options.nowMs;
  }

  available(nowMs: number): boolean {
    this.#refill(nowMs);
    return !this.#filling;
  }

  take(nowMs: number): void {
    this.#refill(nowMs);
    this.#tokens -= 1;
    this.#filling = this.#tokens < 1;
  }

  /** Milliseconds until there is something to take; 0 when there is. */
  readyInMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#filling ? Math.ceil(((this.#batch - this.#tokens) * 1_000) / this.#perSecond) : 0;
  }

  #refill(nowMs: number): void {
    if (nowMs <= this.#atMs) return;
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) * this.#perSecond) / 1_000);
    this.#atMs = nowMs;
    if (this.#tokens >= this.#batch) this.#filling = false;
  }
}
