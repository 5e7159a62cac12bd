import type { z } from "zod";
import { accountCredential } from "../../kernel/account-credential.ts";
import { RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Credentials } from "../../ports/credentials.ts";
import type { Http, HttpAnswer, HttpRequest } from "../../ports/http.ts";
import type { Log } from "../../ports/log.ts";
import type { RateReading } from "../../ports/provider.ts";
import type { AccountRecord } from "../../ports/records.ts";
import { providerErrorOf, toError } from "./answer-error.ts";
import { rateOf } from "./rate.ts";
import type { HetznerCloudSettings } from "./settings.ts";

export interface HetznerCall {
  readonly method: HttpRequest["method"];
  /** Path segments below the version; an empty one is refused, because `servers/` with nothing behind it means every server. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The credential that is used; looking has its own unless said otherwise. */
  readonly as?: "read" | "write";
  /** What the call is, for messages. */
  readonly what: string;
}

export interface HetznerClientOptions {
  readonly http: Http;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly log: Log;
  readonly account: AccountRecord;
  readonly settings: HetznerCloudSettings;
  readonly timeoutMs: number;
}

/** Calls of one project. Every failure leaves here as an EngineError that keeps the provider's own code and message. */
export class HetznerClient {
  readonly clock: Clock;
  readonly #options: HetznerClientOptions;
  #rate: RateReading | undefined;

  constructor(options: HetznerClientOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** What the last answer said about the limit of calls. */
  get rate(): RateReading | undefined {
    return this.#rate;
  }

  async get<Shape>(schema: z.ZodType<Shape>, call: Omit<HetznerCall, "method">, signal: AbortSignal): Promise<Shape> {
    return parseBody(schema, call.what, await this.#succeed({ ...call, method: "GET" }, signal));
  }

  /** Like `get`, with "absent" where the provider itself says that there is no such thing. */
  async find<Shape>(
    schema: z.ZodType<Shape>,
    call: Omit<HetznerCall, "method">,
    signal: AbortSignal,
  ): Promise<Shape | "absent"> {
    const answer = await this.send({ ...call, method: "GET" }, signal);
    // Any gateway can answer 404; only the API says `not_found`, and only that is absence.
    if (answer.status === 404 && providerErrorOf(answer).code === "not_found") return "absent";
    if (answer.status === 404)
      throw new RetryableError("PROVIDER_UNAVAILABLE", toError(call.what, answer).message, { ambiguous: false });
    if (!isSuccess(answer)) throw toError(call.what, answer);
    return parseBody(schema, call.what, answer);
  }

  async write<Shape>(schema: z.ZodType<Shape>, call: HetznerCall, signal: AbortSignal): Promise<Shape> {
    return parseBody(schema, call.what, await this.#succeed(call, signal));
  }

  /** A write whose answer says nothing further; errors with one of the accepted codes count as done. */
  async change(
    call: HetznerCall,
    signal: AbortSignal,
    accept: readonly string[] = [],
  ): Promise<HttpAnswer | undefined> {
    const answer = await this.send(call, signal);
    if (isSuccess(answer)) return answer;
    if (accept.includes(providerErrorOf(answer).code)) return undefined;
    throw toError(call.what, answer);
  }

  async #succeed(call: HetznerCall, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await this.send(call, signal);
    if (!isSuccess(answer)) throw toError(call.what, answer);
    return answer;
  }

  async send(call: HetznerCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { http, timeoutMs, credentials, account, clock } = this.#options;
    const url = this.#url(call);
    const token = await accountCredential(credentials, account, call.as ?? (call.method === "GET" ? "read" : "write"));
    const startedMs = clock.monotonicMs();
    const answer = await http.request({
      method: call.method,
      url,
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        accept: "application/json",
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      timeoutMs,
      signal,
    });
    this.#note(call, answer.answered ? answer : undefined, clock.monotonicMs() - startedMs);
    if (!answer.answered) throw toError(call.what, { ...answer, message: token.hideIn(answer.message) });
    this.#rate = rateOf(answer, clock.nowMs()) ?? this.#rate;
    // A refusal is kept and shown to people; whoever wrote it was told the token, and may repeat it.
    return isSuccess(answer) ? answer : { ...answer, text: token.hideIn(answer.text) };
  }

  /** The provider's support asks for its request id; paths name tenants' things and are left out. */
  #note(call: HetznerCall, answer: HttpAnswer | undefined, tookMs: number): void {
    const { log, account } = this.#options;
    const fields = {
      account: account.id,
      method: call.method,
      collection: call.path[0],
      status: answer?.status,
      request: answer?.headers["x-correlation-id"],
      remaining: answer?.headers["ratelimit-remaining"],
      tookMs: Math.round(tookMs),
    };
    if (answer !== undefined && answer.status < 500 && answer.status !== 429) log.debug("hetzner-cloud.call", fields);
    else log.warn("hetzner-cloud.call", fields);
  }

  #url(call: HetznerCall): string {
    if (call.path.includes("") || Object.values(call.query ?? {}).includes("")) {
      throw new TerminalError(
        "WILDCARD_REFUSED",
        `Hetzner Cloud: ${call.what} names nothing; an empty name would mean everything`,
      );
    }
    const query = call.query === undefined ? "" : `?${new URLSearchParams(call.query).toString()}`;
    const base = this.#options.settings.url.replace(/\/+$/, "");
    return `${base}/${call.path.map(encodeURIComponent).join("/")}${query}`;
  }
}

function isSuccess(answer: HttpAnswer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

export function parseBody<Shape>(schema: z.ZodType<Shape>, what: string, answer: HttpAnswer): Shape {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    throw new RetryableError(
      "PROVIDER_UNAVAILABLE",
      `Hetzner Cloud answered ${what} with something that is not JSON: is this its API?`,
      { ambiguous: true },
    );
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RetryableError(
    "PROVIDER_UNAVAILABLE",
    `Hetzner Cloud answered ${what} in a shape we do not know: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unknown"}. Setpoint knows version 1 of its API`,
    { ambiguous: true },
  );
}
