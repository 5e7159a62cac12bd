import type { HttpAnswer } from "../../ports/http.ts";
import type { RateReading } from "../../ports/provider.ts";

/** What an answer says of the limit: calls in all and left, and when all of them are back (epoch seconds). */
export function rateOf(answer: HttpAnswer, nowMs: number): RateReading | undefined {
  const limit = whole(answer.headers["ratelimit-limit"]);
  const remaining = whole(answer.headers["ratelimit-remaining"]);
  if (limit === undefined || remaining === undefined || limit === 0) return undefined;
  const resetAtSeconds = whole(answer.headers["ratelimit-reset"]);
  const fullInMs = resetAtSeconds === undefined ? 0 : Math.max(0, resetAtSeconds * 1_000 - nowMs);
  return { limit, remaining, fullInMs };
}

function whole(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text.trim()) ? Number(text) : undefined;
}
