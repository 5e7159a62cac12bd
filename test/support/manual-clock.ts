import type { Clock, WaitSignal } from "../../src/ports/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

/** A clock that stands still until it is told to go on. The wall may be set apart from the monotonic time, as in life. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #monotonicFromMs: number;
  #timers: Timer[] = [];

  constructor(nowMs = 1_800_000_000_000) {
    this.#nowMs = nowMs;
    // Monotonic time has an origin of its own: whoever mixes the two up is found out.
    this.#monotonicFromMs = nowMs - 5_000_000;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs - this.#monotonicFromMs;
  }

  wait(ms: number, signal?: WaitSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = { atMs: this.#nowMs + ms, fire: end };
      this.#timers.push(timer);
      signal?.addEventListener("abort", end, { once: true });
    });
  }

  /** How many waits are under way; none is left behind by code that cleans up. */
  get waiting(): number {
    return this.#timers.length;
  }

  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#due(untilMs); next !== undefined; next = this.#due(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.fire();
    }
    this.#nowMs = untilMs;
  }

  #due(untilMs: number): Timer | undefined {
    return this.#timers.filter((timer) => timer.atMs <= untilMs).sort((left, right) => left.atMs - right.atMs)[0];
  }
}
