import { Agent, type Dispatcher, errors, request as send } from "undici";
import type { Clock } from "../ports/clock.ts";
import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../ports/http.ts";
import { systemClock } from "./system-clock.ts";

const defaultBodyLimitBytes = 32 * 1024 * 1024;

/** Failures of connecting: nothing of the request has left, so the other side surely did nothing. */
const beforeSending = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_INVALID_URL",
  "UND_ERR_INVALID_ARG",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

export interface HttpClient extends Http, AsyncDisposable {}

export function createHttpClient(clock: Pick<Clock, "nowMs" | "monotonicMs"> = systemClock): HttpClient {
  const agent = new Agent({ connections: 16, keepAliveTimeout: 10_000, connect: { timeout: 10_000 } });
  const fenced = agent.compose(notTooLate(clock));
  return Object.freeze({
    request: (request: HttpRequest) => exchange(fenced, request),
    [Symbol.asyncDispose]: async () => agent.destroy(),
  });
}

class TooLate extends Error {}

/**
 * A request waits for a connection of its own, and meanwhile the process or its machine may have been suspended. What was allowed
 * that long ago is not sent any more: this is asked at the last moment and by the clock that ran more, because the
 * timer that would end the call may run only after the connection that came in while the process slept.
 */
function notTooLate(clock: Pick<Clock, "nowMs" | "monotonicMs">): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const begunAt = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const limitMs = options.headersTimeout ?? Number.POSITIVE_INFINITY;
    const waitedMs = () => Math.max(clock.nowMs() - begunAt.wallMs, clock.monotonicMs() - begunAt.monotonicMs);
    return dispatch(options, {
      onRequestStart: (controller, context) => {
        handler.onRequestStart?.(controller, context);
        if (waitedMs() >= limitMs) controller.abort(new TooLate());
      },
      onRequestUpgrade: (...values) => handler.onRequestUpgrade?.(...values),
      onResponseStart: (...values) => handler.onResponseStart?.(...values),
      onResponseData: (...values) => handler.onResponseData?.(...values),
      onResponseEnd: (...values) => handler.onResponseEnd?.(...values),
      onResponseError: (...values) => handler.onResponseError?.(...values),
    });
  };
}

async function exchange(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpAnswer | HttpSilence> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
  const limitBytes = request.bodyLimitBytes ?? defaultBodyLimitBytes;
  if (signal.aborted)
    return { answered: false, reason: "aborted", sent: false, message: "the call was ended before it began" };
  try {
    const response = await send(request.url, {
      dispatcher,
      method: request.method,
      headers: request.headers ?? {},
      body: request.body ?? null,
      signal,
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > limitBytes) {
        return {
          answered: false,
          reason: "too-large",
          sent: true,
          message: `the answer is longer than ${limitBytes} bytes`,
        };
      }
      chunks.push(chunk);
    }
    return {
      answered: true,
      status: response.statusCode,
      headers: flatten(response.headers),
      text: Buffer.concat(chunks).toString("utf8"),
      retryAfterMs: retryAfterMs(response.headers["retry-after"]),
    };
  } catch (thrown) {
    return silence(thrown, request, deadline);
  }
}

function silence(thrown: unknown, request: HttpRequest, deadline: AbortSignal): HttpSilence {
  if (thrown instanceof TooLate)
    return { answered: false, reason: "timeout", sent: false, message: `not sent within ${request.timeoutMs} ms` };
  if (request.signal?.aborted)
    return { answered: false, reason: "aborted", sent: true, message: "the call was ended by its caller" };
  const timedOut =
    deadline.aborted || thrown instanceof errors.HeadersTimeoutError || thrown instanceof errors.BodyTimeoutError;
  if (timedOut) {
    return { answered: false, reason: "timeout", sent: true, message: `no answer within ${request.timeoutMs} ms` };
  }
  const code = errorCode(thrown);
  const message = thrown instanceof Error && thrown.message !== "" ? thrown.message : (code ?? "the connection failed");
  return { answered: false, reason: "connection", sent: code === undefined || !beforeSending.has(code), message };
}

/** A failed connection to a name with several addresses arrives as an AggregateError with the codes inside. */
function errorCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  if (thrown instanceof AggregateError) return errorCode(thrown.errors[0]);
  return errorCode(thrown.cause);
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3). */
function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== "string") return undefined;
  if (/^\d{1,7}$/.test(header.trim())) return Number(header) * 1_000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}
