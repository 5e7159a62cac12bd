import type { Clock } from "../ports/clock.ts";

/** A reason of our own: without one, each abort builds an exception with its stack. */
const WOKEN = "woken";

/** A wait that others can end early. A wake-up that comes while nobody waits ends the next wait at once. */
export class Wake {
  readonly #clock: Clock;
  #waiting: AbortController | undefined;
  #woken = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async wait(ms: number): Promise<void> {
    if (!this.#woken) {
      const waiting = new AbortController();
      this.#waiting = waiting;
      await this.#clock.wait(ms, waiting.signal);
      this.#waiting = undefined;
    }
    this.#woken = false;
  }

  wake(): void {
    this.#woken = true;
    this.#waiting?.abort(WOKEN);
  }
}
