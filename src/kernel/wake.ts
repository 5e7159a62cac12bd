import type { Clock } from "../ports/clock.ts";
import { EarlyEnd } from "./early-end.ts";

/** A wait that others can end early. A wake-up that comes while nobody waits ends the next wait at once. */
export class Wake {
  readonly #clock: Clock;
  #waiting: EarlyEnd | undefined;
  #woken = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async wait(ms: number): Promise<void> {
    if (!this.#woken) {
      const waiting = new EarlyEnd();
      this.#waiting = waiting;
      await this.#clock.wait(ms, waiting);
      this.#waiting = undefined;
    }
    this.#woken = false;
  }

  wake(): void {
    this.#woken = true;
    this.#waiting?.end();
  }
}
