import type { Clock } from "../ports/clock.ts";
import { EarlyEnd } from "./early-end.ts";
import { RetryableError } from "./errors.ts";

/** A reason of our own: without one, each abort builds an exception with its stack. */
const LATE = "late";

/**
 * Runs one attempt with its own abort signal and a limit. A call that does not stop when told is left behind:
 * its answer is unknown, which is what the error says.
 */
export async function withTimeLimit<T>(
  clock: Clock,
  limit: { readonly ms: number; readonly signal: AbortSignal; readonly what: string },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Whoever was ended before the call began starts none: then it surely had no effect.
  if (limit.signal.aborted)
    throw new RetryableError("TIMED_OUT", `${limit.what} was ended before it began`, { ambiguous: false });
  const attempt = new AbortController();
  const timer = new EarlyEnd();
  const stop = () => {
    attempt.abort(limit.signal.reason);
    timer.end();
  };
  limit.signal.addEventListener("abort", stop, { once: true });
  let ended = false;
  const outOfTime = clock.wait(limit.ms, timer).then((): T => {
    // The race is over: nobody reads this, so no error is made for it.
    if (ended) return undefined as T;
    attempt.abort(LATE);
    const why = limit.signal.aborted ? "was ended before it answered" : `did not answer within ${limit.ms} ms`;
    throw new RetryableError("TIMED_OUT", `${limit.what} ${why}`, { ambiguous: true });
  });
  try {
    return await Promise.race([work(attempt.signal), outOfTime]);
  } finally {
    ended = true;
    timer.end();
    outOfTime.catch(() => {});
    limit.signal.removeEventListener("abort", stop);
  }
}
