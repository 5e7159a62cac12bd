import type { Clock } from "../ports/clock.ts";
import { EarlyEnd } from "./early-end.ts";
import { RetryableError } from "./errors.ts";

/**
 * The answer, unless it takes longer. A store that neither answers nor fails must not stop the loops that keep leases;
 * what it says later is ignored, because the next question learns the same.
 */
export async function within<T>(
  clock: Clock,
  limit: { readonly ms: number; readonly what: string },
  work: Promise<T>,
): Promise<T> {
  const answered = new EarlyEnd();
  const late = clock.wait(limit.ms, answered).then((): T => {
    // The race is over: nobody reads this, so no error is made for it.
    if (answered.aborted) return undefined as T;
    throw new RetryableError("TIMED_OUT", `${limit.what} did not answer within ${limit.ms} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    answered.end();
    work.catch(() => {});
  }
}
