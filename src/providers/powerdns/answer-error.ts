import { type EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { HttpAnswer, HttpSilence } from "../../ports/http.ts";
import { silenceError, unavailable } from "../silence.ts";

const longestMessage = 500;

/** What PowerDNS answered, or did not, in our two families of error. Its own words are kept: they name the record. */
export function toError(what: string, answer: HttpAnswer | HttpSilence): EngineError {
  if (!answer.answered) return silenceError("PowerDNS", what, answer);
  const message = `PowerDNS answered ${answer.status} to ${what}: ${messageOf(answer)}`;
  switch (answer.status) {
    case 401:
    case 403:
      return new TerminalError(
        "CREDENTIAL_REFUSED",
        `${message}. Check the account's API key and the server's webserver-allow-from`,
      );
    case 404:
      return new TerminalError("NOT_FOUND", message);
    case 409:
      return new TerminalError("ALREADY_EXISTS", message);
    case 412:
      return new RetryableError("PRECONDITION_FAILED", message, { ambiguous: false });
    case 429:
      return new RetryableError("RATE_LIMITED", message, {
        afterMs: answer.retryAfterMs ?? 1_000,
        ambiguous: false,
      });
  }
  if (answer.status >= 500) return unavailable(message, { afterMs: answer.retryAfterMs, ambiguous: true });
  return new TerminalError("PROVIDER_REFUSED", message);
}

/** Errors of the API are `{"error": "…"}`; those of its web server are plain text. */
function messageOf(answer: HttpAnswer): string {
  let message = answer.text.trim();
  try {
    const body: unknown = JSON.parse(answer.text);
    if (typeof body === "object" && body !== null && "error" in body && typeof body.error === "string")
      message = body.error;
  } catch {
    // Plain text is its own message.
  }
  return message === "" ? "no message" : message.slice(0, longestMessage);
}
