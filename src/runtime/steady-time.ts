/** Shorter differences are the two clocks' rounding and slewing, not a stop. */
const STOP_MS = 250;

/**
 * A monotonic clock that also counts the time while the machine stood still: a paused virtual machine's monotonic clock stops and
 * only the wall clock shows it. Whatever moved the wall clock forward counts as time that passed, because what is taken for older
 * than it is costs another look, and what is taken for younger could cost a thing. A wall clock that is set back changes nothing.
 */
export function steadyMs(monotonicMs: () => number, wallMs: () => number): () => number {
  let aheadMs = wallMs() - monotonicMs();
  let stoppedMs = 0;
  return () => {
    const nowMs = monotonicMs();
    const nowAheadMs = wallMs() - nowMs;
    if (nowAheadMs - aheadMs > STOP_MS) stoppedMs += nowAheadMs - aheadMs;
    aheadMs = nowAheadMs;
    return nowMs + stoppedMs;
  };
}
