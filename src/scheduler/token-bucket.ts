/** A rate with a bounded burst, by monotonic time. The rate holds over any stretch of time, whatever happened before. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #atMs: number;

  constructor(options: { readonly perSecond: number; readonly burst: number; readonly nowMs: number }) {
    this.#perSecond = options.perSecond;
    this.#burst = Math.max(1, options.burst);
    this.#tokens = this.#burst;
    this.#atMs = options.nowMs;
  }

  available(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= 1;
  }

  take(nowMs: number): void {
    this.#refill(nowMs);
    this.#tokens -= 1;
  }

  /** Milliseconds until the next token; 0 when there is one. */
  readyInMs(nowMs: number): number {
    this.#refill(nowMs);
    if (this.#tokens >= 1) return 0;
    return Math.ceil(((1 - this.#tokens) * 1_000) / this.#perSecond);
  }

  #refill(nowMs: number): void {
    if (nowMs <= this.#atMs) return;
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) * this.#perSecond) / 1_000);
    this.#atMs = nowMs;
  }
}
