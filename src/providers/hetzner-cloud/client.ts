import { type Dialect, type RestCall, RestClient, type RestClientOptions } from "../rest-client.ts";
import { providerErrorOf, toError } from "./answer-error.ts";
import { rateOf } from "./rate.ts";

export type HetznerCall = RestCall;

const dialect: Dialect = {
  provider: "Hetzner Cloud",
  event: "hetzner-cloud.call",
  requestOf: ({ headers }) => headers["x-correlation-id"],
  remainingHeader: "ratelimit-remaining",
  version: "version 1",
  toError,
  codeOf: (answer) => providerErrorOf(answer).code,
  absent: "not_found",
  rateOf,
};

/** Calls of one project. Every failure leaves here as an EngineError that keeps the provider's own code and message. */
export class HetznerClient extends RestClient {
  constructor(options: Omit<RestClientOptions, "dialect">) {
    super({ ...options, dialect });
  }
}
