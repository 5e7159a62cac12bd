import type { Clock } from "../ports/clock.ts";
import { RetryableError } from "./errors.ts";

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
  const stop = () => attempt.abort(limit.signal.reason);
  if (limit.signal.aborted) stop();
  limit.signal.addEventListener("abort", stop, { once: true });
  const timer = new AbortController();
  const outOfTime = clock.wait(limit.ms, AbortSignal.any([timer.signal, limit.signal])).then((): never => {
    attempt.abort();
    throw new RetryableError("TIMED_OUT", `${limit.what} did not answer within ${limit.ms} ms`, { ambiguous: true });
  });
  try {
    return await Promise.race([work(attempt.signal), outOfTime]);
  } finally {
    timer.abort();
    outOfTime.catch(() => {});
    limit.signal.removeEventListener("abort", stop);
  }
}
