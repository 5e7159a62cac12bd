import type { Clock } from "../../ports/clock.ts";
import { groupBounds } from "./group-declarations.ts";

/** What visitors ask for, in percent of one server, on an ordinary day. */
const usualPercent = 45 * groupBounds.min;
/** More than the most members there may be carry in peace, so that the group is seen to stop at its bound. */
const spikePercent = 90 * groupBounds.max;

/** Visitors of the shop. However many servers there are, they share what is asked for. */
export class Traffic {
  /** A spike ends by itself, and with the process. */
  spikeUntilMs = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How busy each of so many servers is, in percent. */
  cpuOfEach(servers: number): number {
    const asked = this.#clock.monotonicMs() < this.spikeUntilMs ? spikePercent : usualPercent;
    return servers === 0 ? 0 : Math.min(100, Math.round(asked / servers));
  }
}
