import { type EngineError, RetryableError } from "../kernel/errors.ts";
import type { HttpSilence } from "../ports/http.ts";

/** No whole answer came: whether the other side acted is unknown, unless nothing was sent. */
export function silenceError(provider: string, what: string, silence: HttpSilence): EngineError {
  const message = `${provider} did not answer ${what}: ${silence.message}`;
  if (silence.reason === "timeout") return new RetryableError("TIMED_OUT", message, { ambiguous: silence.sent });
  return unavailable(message, { afterMs: undefined, ambiguous: silence.sent });
}

export function unavailable(
  message: string,
  options: { readonly afterMs: number | undefined; readonly ambiguous: boolean },
): EngineError {
  const { afterMs, ambiguous } = options;
  return new RetryableError(
    "PROVIDER_UNAVAILABLE",
    message,
    afterMs === undefined ? { ambiguous } : { afterMs, ambiguous },
  );
}
