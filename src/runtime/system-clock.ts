import type { Clock, WaitSignal } from "../ports/clock.ts";
import { steadyMs } from "./steady-time.ts";

/** `setTimeout` takes a signed 32-bit number of milliseconds; a longer wait would fire at once. */
const longestTimerMs = 2_147_483_647;

export const systemClock: Clock = Object.freeze({
  nowMs: () => Date.now(),
  // Whole milliseconds: store times are computed from it, and the store keeps whole ones.
  monotonicMs: steadyMs(
    () => Math.floor(performance.now()),
    () => Date.now(),
  ),
  wait: waitMs,
});

function waitMs(ms: number, signal?: WaitSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    // No time to wait, but everybody else's turn: a timer would take a millisecond.
    if (ms <= 0) {
      setImmediate(resolve);
      return;
    }
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(ms, longestTimerMs));
    signal?.addEventListener("abort", finish, { once: true });
  });
}
