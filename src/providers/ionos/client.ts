import type { HttpAnswer } from "../../ports/http.ts";
import type { RateReading } from "../../ports/provider.ts";
import { type Dialect, RestClient, type RestClientOptions } from "../rest-client.ts";
import { absentCode, providerErrorOf, toError } from "./answer-error.ts";
import { requestIdOf } from "./requests.ts";

/** A bucket of so many calls, filled again by so many a minute. */
function rateOf({ headers }: HttpAnswer): RateReading | undefined {
  const [perMinute, remaining, burst] = ["limit", "remaining", "burst"].map((name) =>
    Number(headers[`x-ratelimit-${name}`] ?? Number.NaN),
  );
  if (perMinute === undefined || remaining === undefined || burst === undefined) return undefined;
  if (!(perMinute > 0 && remaining >= 0 && burst > 0)) return undefined;
  return { limit: burst, remaining, fullInMs: Math.max(0, ((burst - remaining) / perMinute) * 60_000) };
}

const dialect: Dialect = {
  provider: "IONOS",
  event: "ionos.call",
  // A change is told by the request that it began; nothing else is sure to have a number.
  requestOf: (answer) => requestIdOf(answer) ?? answer.headers["x-request-id"],
  remainingHeader: "x-ratelimit-remaining",
  version: "version 6",
  toError,
  codeOf: (answer) => providerErrorOf(answer).code,
  absent: absentCode,
  rateOf,
};

/** Calls of one contract. Every failure leaves here as an EngineError that keeps the provider's own code and message. */
export class IonosClient extends RestClient {
  constructor(options: Omit<RestClientOptions, "dialect">) {
    super({ ...options, dialect });
  }
}
