import { z } from "zod";
import { type EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { HttpAnswer, HttpSilence } from "../../ports/http.ts";
import { silenceError, unavailable } from "../silence.ts";

const longestMessage = 500;
/** What is locked is locked by a request, and those take seconds to minutes. */
const lockedForMs = 10_000;
const withoutCapacityForMs = 60_000;

const errorBody = z.object({ messages: z.array(z.object({ errorCode: z.string(), message: z.string() })).min(1) });

/** By this the API itself says that there is no such thing; a gateway's 404 has another body. */
export const absentCode = "309";
const overLimit = /VDC-14-|limit .*exceeded|exceeds .*limit/i;

/** What to do, for the refusals that a person has to do something about. */
const nextStep: Readonly<Record<number, string>> = {
  401: "Check the account's token: it may have expired, or belong to nobody",
  403: "Check what the token's user may do, and whether the contract is locked",
};

export function providerErrorOf(answer: HttpAnswer): { readonly code: string; readonly message: string } {
  try {
    const parsed = errorBody.safeParse(JSON.parse(answer.text));
    if (parsed.success) {
      const [first] = parsed.data.messages;
      const words = parsed.data.messages.map(({ message }) => message).join("; ");
      return { code: first?.errorCode ?? String(answer.status), message: words.slice(0, longestMessage) };
    }
  } catch {
    // A gateway in between answers in plain text.
  }
  const text = answer.text.trim().slice(0, longestMessage);
  return { code: `status ${answer.status}`, message: text === "" ? "no message" : text };
}

/** What IONOS answered, or did not, in our two families of error. Its own code and words are kept. */
export function toError(what: string, answer: HttpAnswer | HttpSilence): EngineError {
  if (!answer.answered) return silenceError("IONOS", what, answer);
  const { code, message: words } = providerErrorOf(answer);
  const request = answer.headers["x-request-id"];
  const asked = request === undefined ? "" : ` (request ${request})`;
  const said = `IONOS answered ${answer.status} to ${what}: ${code}: ${words}${asked}`;
  const next = overLimit.test(words)
    ? "The contract's limit is reached: delete what is not needed, or have the limit raised"
    : nextStep[answer.status];
  return errorOf(answer, words, next === undefined ? said : `${said}. ${next}`);
}

function errorOf({ status, retryAfterMs }: HttpAnswer, words: string, message: string): EngineError {
  if (status === 429)
    return new RetryableError("RATE_LIMITED", message, { afterMs: retryAfterMs ?? 5_000, ambiguous: false });
  // It says so before anything is made: resources of a region that are not available now.
  if (status === 503 && /not available/i.test(words))
    return unavailable(message, { afterMs: retryAfterMs ?? withoutCapacityForMs, ambiguous: true });
  if (status >= 500) return unavailable(message, { afterMs: retryAfterMs, ambiguous: true });
  if (status === 401 || status === 403) return new TerminalError("CREDENTIAL_REFUSED", message);
  if (status === 404) return new TerminalError("NOT_FOUND", message);
  if (status === 409 || status === 423) return unavailable(message, { afterMs: lockedForMs, ambiguous: false });
  return new TerminalError("PROVIDER_REFUSED", message);
}
