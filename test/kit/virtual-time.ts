import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock, WaitSignal } from "../../src/ports/clock.ts";

interface Timer {
  atMs: number;
  readonly clock: VirtualClock;
  readonly fire: () => void;
}

/**
 * Time that passes only when it is told to. What is due fires in order, and before the next thing fires everything that
 * can go on has gone on: promises are settled and calls that are out have answered. So a day passes in a moment, and a
 * test never waits and never depends on how fast the machine is.
 */
export class VirtualTime {
  nowMs: number;
  readonly #timers: Timer[] = [];
  readonly #flights = new Set<Promise<unknown>>();

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  /** The clock of one process. */
  clock(): VirtualClock {
    return new VirtualClock(this);
  }

  /** A call that may take real time (a file, a local server): virtual time stands still until it has answered. */
  flight<T>(call: Promise<T>): Promise<T> {
    const landed = Promise.allSettled([call]);
    this.#flights.add(landed);
    void landed.then(() => this.#flights.delete(landed));
    return call;
  }

  async pass(forMs: number): Promise<void> {
    const untilMs = this.nowMs + forMs;
    await this.settle();
    for (let timer = this.#next(untilMs); timer !== undefined; timer = this.#next(untilMs)) {
      this.cancel(timer);
      this.nowMs = Math.max(this.nowMs, timer.atMs);
      timer.fire();
      await this.settle();
    }
    this.nowMs = untilMs;
  }

  /** Everything that can go on without time passing goes on. */
  async settle(): Promise<void> {
    await nextTurn();
    while (this.#flights.size > 0) {
      await Promise.race(this.#flights);
      await nextTurn();
    }
  }

  schedule(timer: Timer): void {
    // Kept in the order in which they fire; of two at the same moment the one set first fires first.
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1]?.atMs ?? 0) > timer.atMs) at--;
    this.#timers.splice(at, 0, timer);
  }

  cancel(timer: Timer): void {
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }

  /** The timers of a clock that stood still fire that much later. */
  postpone(clock: VirtualClock, byMs: number): void {
    for (const timer of this.#timers.filter((entry) => entry.clock === clock)) {
      this.cancel(timer);
      timer.atMs += byMs;
      this.schedule(timer);
    }
  }

  #next(untilMs: number): Timer | undefined {
    return this.#timers.find((timer) => timer.atMs <= untilMs && !timer.clock.suspended);
  }
}

/**
 * A process's clock. It can be stopped as a whole machine is: the process hears nothing, and when it goes on it does not know
 * that time has passed, because wall and monotonic time stood still with it.
 */
export class VirtualClock implements Clock {
  readonly #time: VirtualTime;
  #stoppedAtMs: number | undefined;
  #lostMs = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get suspended(): boolean {
    return this.#stoppedAtMs !== undefined;
  }

  suspend(): void {
    this.#stoppedAtMs ??= this.#time.nowMs;
  }

  resume(): void {
    if (this.#stoppedAtMs === undefined) return;
    const stoodMs = this.#time.nowMs - this.#stoppedAtMs;
    this.#stoppedAtMs = undefined;
    this.#lostMs += stoodMs;
    this.#time.postpone(this, stoodMs);
  }

  nowMs(): number {
    return (this.#stoppedAtMs ?? this.#time.nowMs) - this.#lostMs;
  }

  monotonicMs(): number {
    return this.nowMs();
  }

  wait(ms: number, signal?: WaitSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const onAbort = () => {
        this.#time.cancel(timer);
        resolve();
      };
      const fire = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const timer = { atMs: this.#time.nowMs + Math.max(0, Math.ceil(ms)), clock: this, fire };
      this.#time.schedule(timer);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}
