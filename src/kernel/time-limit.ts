import type { Clock } from "../ports/clock.ts";
import { RetryableError } from "./errors.ts";

/** One reason for every timer: making an error with its stack for each call that ended in time would cost more than the call. */
const FINISHED = "finished";

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
  const timer = new AbortController();
  const stop = () => {
    attempt.abort(limit.signal.reason);
    timer.abort(FINISHED);
  };
  limit.signal.addEventListener("abort", stop, { once: true });
  let ended = false;
  const outOfTime = clock.wait(limit.ms, timer.signal).then((): T => {
    // The race is over: nobody reads this, so no error is made for it.
    if (ended) return undefined as T;
    attempt.abort(FINISHED);
    const why = limit.signal.aborted ? "was ended before it answered" : `did not answer within ${limit.ms} ms`;
    throw new RetryableError("TIMED_OUT", `${limit.what} ${why}`, { ambiguous: true });
  });
  try {
    return await Promise.race([work(attempt.signal), outOfTime]);
  } finally {
    ended = true;
    timer.abort(FINISHED);
    outOfTime.catch(() => {});
    limit.signal.removeEventListener("abort", stop);
  }
}
