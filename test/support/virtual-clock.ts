import type { Clock, WaitSignal } from "../../src/ports/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
}

/**
 * Time that moves only when told. `advance` fires timers in order and lets everything they set off come to rest before it goes on,
 * so that a test reads as if each moment had happened alone. The wall clock can be set apart from the monotonic one.
 */
export class VirtualClock implements Clock {
  #monotonicMs = 0;
  #wallMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_700_000_000_000) {
    this.#wallMs = startMs;
  }

  nowMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  wait(ms: number, signal?: WaitSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const finish = () => {
        this.#timers.delete(timer);
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      const timer = { atMs: this.#monotonicMs + Math.max(0, ms), order: this.#order++, fire: finish };
      this.#timers.add(timer);
      signal?.addEventListener("abort", finish, { once: true });
    });
  }

  /** Moves both clocks, firing every timer on the way. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#monotonicMs + ms;
    await settled();
    for (let timer = this.#next(targetMs); timer !== undefined; timer = this.#next(targetMs)) {
      this.#move(timer.atMs - this.#monotonicMs);
      timer.fire();
      await settled();
    }
    this.#move(targetMs - this.#monotonicMs);
    await settled();
  }

  /** Somebody sets the wall clock; no time passes. */
  jumpWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** The machine stands still: no timer fires, and the monotonic clock does not notice. */
  sleep(ms: number): void {
    this.#wallMs += ms;
  }

  get waiting(): number {
    return this.#timers.size;
  }

  #move(ms: number): void {
    if (ms <= 0) return;
    this.#monotonicMs += ms;
    this.#wallMs += ms;
  }

  #next(targetMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs > targetMs) continue;
      if (next === undefined || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer;
    }
    return next;
  }
}

/** Everything that can go on without time passing has gone on: promises first, then what they handed to the event loop. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
