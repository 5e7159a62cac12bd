import type { Clock, WaitSignal } from "../../src/ports/clock.ts";
import type { Ids } from "../../src/ports/ids.ts";
import type { Log } from "../../src/ports/log.ts";
import { steadyMs } from "../../src/runtime/steady-time.ts";
import type { SeededRandom } from "./random.ts";
import type { Owner, World } from "./world.ts";

/**
 * One simulated process: its own skewed clock, its own randomness, and a life that may end at any await. A restart is a
 * new process with a new name, as a restarted program has a new holder id.
 */
export class SimProcess implements Owner {
  readonly name: string;
  readonly number: number;
  readonly world: World;
  readonly random: SeededRandom;
  readonly clock: Clock;
  readonly ids: Ids;
  alive = true;
  suspendedUntilMs = 0;
  /** Until then the store cannot be reached from here. */
  cutOffUntilMs = 0;
  /** How far this machine's wall clock is from the truth; jumps change it. */
  skewMs: number;
  /** When its wall clock was last set. */
  jumpedAtMs = 0;
  /** What its monotonic clock missed while the whole machine was stopped. */
  frozenMs = 0;
  #ids = 0;

  constructor(options: {
    readonly world: World;
    readonly name: string;
    readonly number: number;
    readonly random: SeededRandom;
    readonly skewMs: number;
    /** How the machine's two clocks become one; as the code under test does it. */
    readonly steady?: typeof steadyMs | undefined;
  }) {
    this.world = options.world;
    this.name = options.name;
    this.number = options.number;
    this.random = options.random;
    this.skewMs = options.skewMs;
    this.ids = { next: () => `${this.name}-${++this.#ids}` };
    const startedAtMs = this.world.nowMs;
    const nowMs = () => this.world.nowMs + this.skewMs;
    this.clock = {
      nowMs,
      // As the real adapter makes it out of the machine's two clocks.
      monotonicMs: (options.steady ?? steadyMs)(() => this.world.nowMs - startedAtMs - this.frozenMs, nowMs),
      wait: (ms, signal) => this.#wait(ms, signal),
    };
  }

  /** Ends the process here. What it sent may still arrive; what it waits for never does. */
  crash(dropped: () => boolean): void {
    this.alive = false;
    this.world.note(this, "crash");
    this.world.dropMessagesOf(this, dropped);
  }

  /** Nothing reaches the process for a while. A stopped machine's monotonic clock does not count that time. */
  suspend(forMs: number, freezesMonotonic: boolean): void {
    this.world.note(this, "suspend", forMs);
    this.suspendedUntilMs = Math.max(this.suspendedUntilMs, this.world.nowMs + forMs);
    if (freezesMonotonic) this.frozenMs += forMs;
  }

  /** The network between this process and the store is gone for a while. */
  cutOff(forMs: number): void {
    this.world.note(this, "cut off", forMs);
    this.cutOffUntilMs = Math.max(this.cutOffUntilMs, this.world.nowMs + forMs);
  }

  jumpClock(byMs: number): void {
    this.world.note(this, "clock jump", byMs);
    this.skewMs += byMs;
    this.jumpedAtMs = this.world.nowMs;
  }

  #wait(ms: number, signal: WaitSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const onAbort = () => {
        this.world.cancel(timer);
        resolve();
      };
      const onTime = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const timer = this.world.schedule(ms, "timer", onTime, { owner: this });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}

/** Logs are part of a read-along trace and otherwise go nowhere. */
export function logTo(write: ((line: string) => void) | undefined, name: string): Log {
  const at =
    (level: string): Log["info"] =>
    (event, fields) =>
      write?.(`  ${name} ${level} ${event} ${JSON.stringify(fields ?? {})}`);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
