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
  const attempt = new AbortController();
  const timer = new AbortController();
  const stop = () => {
    attempt.abort(limit.signal.reason);
    timer.abort(FINISHED);
  };
  if (limit.signal.aborted) stop();
  limit.signal.addEventListener("abort", stop, { once: true });
  const outOfTime = clock.wait(limit.ms, timer.signal).then((): never => {
    attempt.abort(FINISHED);
    throw new RetryableError("TIMED_OUT", `${limit.what} did not answer within ${limit.ms} ms`, { ambiguous: true });
  });
  try {
    return await Promise.race([work(attempt.signal), outOfTime]);
  } finally {
    timer.abort(FINISHED);
    outOfTime.catch(() => {});
    limit.signal.removeEventListener("abort", stop);
  }
}
