import type { z } from "zod";
import { accountCredential } from "../kernel/account-credential.ts";
import { type EngineError, RetryableError, TerminalError } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Credentials } from "../ports/credentials.ts";
import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../ports/http.ts";
import type { Log } from "../ports/log.ts";
import type { RateReading } from "../ports/provider.ts";
import type { AccountRecord } from "../ports/records.ts";

export interface RestCall {
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

/** What a provider over HTTP is given of the world. */
export interface RestWorld {
  readonly http: Http;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RestClientOptions extends RestWorld {
  readonly account: AccountRecord;
  readonly url: string;
  readonly timeoutMs: number;
  readonly dialect: Dialect;
}

/** What one provider's API says in its own way. */
export interface Dialect {
  /** What it is called in messages. */
  readonly provider: string;
  /** What its calls are called in the log. */
  readonly event: string;
  /** What the provider's support asks for, who is told of a call. */
  requestOf(answer: HttpAnswer): string | undefined;
  readonly remainingHeader: string;
  /** Which version of the API is known here, for whoever is answered by another. */
  readonly version: string;
  toError(what: string, answer: HttpAnswer | HttpSilence): EngineError;
  /** The code of a refusal. */
  codeOf(answer: HttpAnswer): string;
  /** Any gateway can answer 404; by this code the API itself says that there is no such thing. */
  readonly absent: string;
  rateOf(answer: HttpAnswer, nowMs: number): RateReading | undefined;
}

/** Calls of one account, as JSON over HTTP. Every failure leaves here as an EngineError that keeps the provider's own code and message. */
export class RestClient {
  readonly clock: Clock;
  readonly #options: RestClientOptions;
  #rate: RateReading | undefined;

  constructor(options: RestClientOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** What the last answer said about the limit of calls. */
  get rate(): RateReading | undefined {
    return this.#rate;
  }

  async get<Shape>(schema: z.ZodType<Shape>, call: Omit<RestCall, "method">, signal: AbortSignal): Promise<Shape> {
    return this.parse(schema, call.what, await this.succeed({ ...call, method: "GET" }, signal));
  }

  /** Like `get`, with "absent" where the provider itself says that there is no such thing. */
  async find<Shape>(
    schema: z.ZodType<Shape>,
    call: Omit<RestCall, "method">,
    signal: AbortSignal,
  ): Promise<Shape | "absent"> {
    const answer = await this.send({ ...call, method: "GET" }, signal);
    const { dialect } = this.#options;
    if (answer.status === 404 && dialect.codeOf(answer) === dialect.absent) return "absent";
    if (answer.status === 404)
      throw new RetryableError("PROVIDER_UNAVAILABLE", dialect.toError(call.what, answer).message, {
        ambiguous: false,
      });
    if (!isSuccess(answer)) throw dialect.toError(call.what, answer);
    return this.parse(schema, call.what, answer);
  }

  async write<Shape>(schema: z.ZodType<Shape>, call: RestCall, signal: AbortSignal): Promise<Shape> {
    return this.parse(schema, call.what, await this.succeed(call, signal));
  }

  /** A write whose answer says nothing further; errors with one of the accepted codes count as done. */
  async change(call: RestCall, signal: AbortSignal, accept: readonly string[] = []): Promise<HttpAnswer | undefined> {
    const answer = await this.send(call, signal);
    if (isSuccess(answer)) return answer;
    if (accept.includes(this.#options.dialect.codeOf(answer))) return undefined;
    throw this.#options.dialect.toError(call.what, answer);
  }

  /** The answer of a call that was carried out. */
  async succeed(call: RestCall, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await this.send(call, signal);
    if (!isSuccess(answer)) throw this.#options.dialect.toError(call.what, answer);
    return answer;
  }

  async send(call: RestCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { http, timeoutMs, credentials, account, clock, dialect } = this.#options;
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
    if (!answer.answered) throw dialect.toError(call.what, { ...answer, message: token.hideIn(answer.message) });
    this.#rate = dialect.rateOf(answer, clock.nowMs()) ?? this.#rate;
    // A refusal is kept and shown to people; whoever wrote it was told the token, and may repeat it.
    return isSuccess(answer) ? answer : { ...answer, text: token.hideIn(answer.text) };
  }

  /** The provider's support asks for its request id; paths name tenants' things and are left out. */
  #note(call: RestCall, answer: HttpAnswer | undefined, tookMs: number): void {
    const { log, account, dialect } = this.#options;
    const fields = {
      account: account.id,
      method: call.method,
      collection: call.path[0],
      status: answer?.status,
      request: answer === undefined ? undefined : dialect.requestOf(answer),
      remaining: answer?.headers[dialect.remainingHeader],
      tookMs: Math.round(tookMs),
    };
    if (answer !== undefined && answer.status < 500 && answer.status !== 429) log.debug(dialect.event, fields);
    else log.warn(dialect.event, fields);
  }

  #url(call: RestCall): string {
    if (call.path.includes("") || Object.values(call.query ?? {}).includes("")) {
      throw new TerminalError(
        "WILDCARD_REFUSED",
        `${this.#options.dialect.provider}: ${call.what} names nothing; an empty name would mean everything`,
      );
    }
    const query = call.query === undefined ? "" : `?${new URLSearchParams(call.query).toString()}`;
    const base = this.#options.url.replace(/\/+$/, "");
    return `${base}/${call.path.map(encodeURIComponent).join("/")}${query}`;
  }

  parse<Shape>(schema: z.ZodType<Shape>, what: string, answer: HttpAnswer): Shape {
    const { provider, version } = this.#options.dialect;
    const unknown = (how: string) =>
      new RetryableError("PROVIDER_UNAVAILABLE", `${provider} answered ${what} ${how}`, { ambiguous: true });
    let body: unknown;
    try {
      body = JSON.parse(answer.text);
    } catch {
      throw unknown("with something that is not JSON: is this its API?");
    }
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw unknown(
      `in a shape we do not know: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unknown"}. Setpoint knows ${version} of its API`,
    );
  }
}

function isSuccess(answer: HttpAnswer): boolean {
  return answer.status >= 200 && answer.status < 300;
}
