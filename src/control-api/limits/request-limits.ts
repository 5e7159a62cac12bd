import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../access/caller.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { jsonBodyParser } from "./json-body.ts";
import { defaultRateLimit, type RateLimit, RateLimiter } from "./rate-limit.ts";
import { registerDeadline } from "./request-deadline.ts";
import { secureReply } from "./security-headers.ts";
import { answerUnreadable } from "./unreadable-request.ts";

/** How much one request may ask of us. */
export interface RequestLimits {
  readonly bodyBytes: number;
  /** A request must have arrived, and be answered, within this. Streams are not bound by it. */
  readonly requestMs: number;
  readonly rate: RateLimit;
}

export const defaultRequestLimits: RequestLimits = Object.freeze({
  bodyBytes: 1024 * 1024,
  requestMs: 30_000,
  rate: defaultRateLimit,
});

/** What a caller may name a request, so that it can be found in both logs. */
const requestIdForm = /^[A-Za-z0-9._~:-]{8,128}$/;

/** What fastify itself enforces. */
export function serverLimits(context: ApiContext, limits: RequestLimits) {
  return {
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    clientErrorHandler: answerUnreadable,
    // A request without a host is refused by us, in the form of every other refusal.
    http: { requireHostHeader: false },
    genReqId: (raw: { readonly headers: Readonly<Record<string, string | string[] | undefined>> }) => {
      const given = raw.headers["x-request-id"];
      return typeof given === "string" && requestIdForm.test(given) ? given : context.ids.next();
    },
  };
}

/** Headers and parsers of every request; the answer charges a request to whoever sends it. */
export function registerLimits(
  app: FastifyInstance,
  context: ApiContext,
  limits: RequestLimits,
): (request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined) => void {
  const limiter = new RateLimiter(limits.rate, context.clock);
  registerDeadline(app, context.clock, limits.requestMs);
  app.addHook("onRequest", async (request, reply) => {
    secureReply(reply, request.protocol === "https");
    if (request.headers.host === undefined)
      throw new Problem("BODY_INVALID", "The request names no host: send the header Host, as HTTP/1.1 asks for");
  });
  // What is expected of us beyond an answer is not for us to refuse.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, jsonBodyParser);
  const { perSecond, burst } = limits.rate;
  const policy = `"credential";q=${burst};w=${Math.max(1, Math.round(burst / perSecond))}`;
  return (request, reply, caller) => {
    // Whoever has not proved anything yet is known by the address alone.
    const key = caller === undefined ? `address/${request.ip}` : `${caller.credential.type}/${caller.credential.id}`;
    const { allowed, remaining, retryAfterSeconds } = limiter.take(key);
    void reply.header("ratelimit-policy", policy);
    const resetSeconds = Math.ceil((burst - remaining) / perSecond);
    void reply.header("ratelimit", `"credential";r=${remaining};t=${resetSeconds}`);
    if (allowed) return;
    throw new Problem(
      "RATE_LIMITED",
      `More than ${perSecond} requests a second, and the ${burst} in reserve are used: wait ${retryAfterSeconds} s, then go on more slowly`,
      { retryAfterSeconds },
    );
  };
}
