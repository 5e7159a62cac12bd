import { z } from "zod";
import { type EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { HttpAnswer, HttpSilence } from "../../ports/http.ts";
import { silenceError, unavailable } from "../silence.ts";

const longestMessage = 500;
/** A lock ends with the action that has it, which takes seconds; capacity comes back in minutes at best. */
const lockedForMs = 5_000;
const withoutCapacityForMs = 60_000;

const errorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Codes by which something is there, or attached, or gone, just as it was asked for. */
const alreadySo = new Set([
  "uniqueness_error",
  "server_already_attached",
  "server_already_added",
  "firewall_already_applied",
  "firewall_already_removed",
  "target_already_defined",
  "volume_already_attached",
]);
const capacity = new Set(["resource_unavailable", "placement_error", "no_space_left_in_location", "unavailable"]);
const passing = new Set(["conflict", "locked", "maintenance", "service_error", "server_error", "timeout"]);
/** What to do, for the refusals that a person has to do something about. */
const nextStep: Readonly<Record<string, string>> = {
  token_readonly: "The token may only read: make one with read and write access, and store it for acting",
  unauthorized: "Check the account's token: it may have been deleted, or belong to nobody",
  forbidden: "Check what the account's token may do, and whether the project is suspended",
  resource_limit_exceeded: "The project's limit is reached: delete what is not needed, or have the limit raised",
  invalid_input: "Correct what it names: it comes from the spec",
  protected: "It is protected at the provider: take the protection away there, or in the spec",
};

export interface ProviderError {
  readonly code: string;
  readonly message: string;
}

/** What Hetzner Cloud answered, or did not, in our two families of error. Its own code and words are kept. */
export function toError(what: string, answer: HttpAnswer | HttpSilence): EngineError {
  if (!answer.answered) return silenceError("Hetzner Cloud", what, answer);
  const { code, message: words } = providerErrorOf(answer);
  const request = answer.headers["x-correlation-id"];
  const asked = request === undefined ? "" : ` (request ${request})`;
  const message = `Hetzner Cloud answered ${answer.status} to ${what}: ${code}: ${words}${asked}`;
  const next = nextStep[code];
  return errorOf(answer, code, next === undefined ? message : `${message}. ${next}`);
}

function errorOf(answer: HttpAnswer, code: string, message: string): EngineError {
  const { status, retryAfterMs } = answer;
  if (status === 429 || code === "rate_limit_exceeded")
    return new RetryableError("RATE_LIMITED", message, { afterMs: retryAfterMs ?? 1_000, ambiguous: false });
  // Whatever its code says: an error of theirs may come before or after the effect.
  if (status >= 500) return unavailable(message, { afterMs: retryAfterMs, ambiguous: true });
  if (code === "resource_limit_exceeded" || code === "protected") return new TerminalError("PROVIDER_REFUSED", message);
  if (alreadySo.has(code)) return new TerminalError("ALREADY_EXISTS", message);
  if (capacity.has(code)) return unavailable(message, { afterMs: withoutCapacityForMs, ambiguous: false });
  if (status === 401 || status === 403) return new TerminalError("CREDENTIAL_REFUSED", message);
  if (status === 404) return new TerminalError("NOT_FOUND", message);
  if (passing.has(code)) return unavailable(message, { afterMs: retryAfterMs ?? lockedForMs, ambiguous: false });
  return new TerminalError("PROVIDER_REFUSED", message);
}

/** An action that ended in an error said so after the call was accepted: it is over, so nothing is ambiguous. */
export function actionError(what: string, { code, message }: ProviderError): EngineError {
  const words = `Hetzner Cloud could not carry out ${what}: ${code}: ${message}`;
  if (capacity.has(code)) return unavailable(words, { afterMs: withoutCapacityForMs, ambiguous: false });
  return unavailable(words, { afterMs: lockedForMs, ambiguous: false });
}

export function providerErrorOf(answer: HttpAnswer): ProviderError {
  try {
    const parsed = errorBody.safeParse(JSON.parse(answer.text));
    if (parsed.success) return { ...parsed.data.error, message: parsed.data.error.message.slice(0, longestMessage) };
  } catch {
    // A gateway in between answers in plain text.
  }
  const text = answer.text.trim().slice(0, longestMessage);
  return { code: `status ${answer.status}`, message: text === "" ? "no message" : text };
}
