import { z } from "zod";
import { accountCredential } from "../../kernel/account-credential.ts";
import { RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { Credentials } from "../../ports/credentials.ts";
import type { Http, HttpAnswer, HttpRequest } from "../../ports/http.ts";
import { toError } from "./answer-error.ts";
import type { AccountRecord } from "../../ports/records.ts";
import type { PowerDnsSettings } from "./settings.ts";

/** The shapes we rely on (API of 4.7); fields we do not use may come and go. */
export const zoneSchema = z.object({
  name: z.string(),
  kind: z.string(),
  serial: z.number().optional(),
  dnssec: z.boolean().optional(),
  rrsets: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      ttl: z.int(),
      records: z.array(z.object({ content: z.string(), disabled: z.boolean().default(false) })),
    }),
  ),
});
/** A zone without its records. */
export const zoneHeadSchema = z.object({ serial: z.number().optional(), soa_edit_api: z.string().optional() });
export const serverSchema = z.object({ id: z.string(), daemon_type: z.string(), url: z.string() });
export const configSchema = z.array(z.object({ name: z.string(), value: z.string() }));
export const tsigKeysSchema = z.array(z.object({ id: z.string(), name: z.string() }));

export interface PowerDnsCall {
  readonly method: HttpRequest["method"];
  /** Path segments below the server; an empty one is refused, because `zones/` with nothing behind it means every zone. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** What the call is, for messages. */
  readonly what: string;
}

export interface PowerDnsClientOptions {
  readonly http: Http;
  readonly credentials: Credentials;
  readonly account: AccountRecord;
  readonly settings: PowerDnsSettings;
  readonly timeoutMs: number;
}

/** Calls of one server. Every failure leaves here as an EngineError that keeps PowerDNS's own message. */
export class PowerDnsClient {
  readonly #options: PowerDnsClientOptions;

  constructor(options: PowerDnsClientOptions) {
    this.#options = options;
  }

  async get<Shape>(schema: z.ZodType<Shape>, call: Omit<PowerDnsCall, "method">, signal: AbortSignal): Promise<Shape> {
    const answer = await this.send({ ...call, method: "GET" }, signal);
    if (answer.status !== 200) throw toError(call.what, answer);
    return parseBody(schema, call.what, answer);
  }

  /** The answer as it came, to be read with `parseBody`; undefined for 404. */
  async findText(call: Omit<PowerDnsCall, "method">, signal: AbortSignal): Promise<HttpAnswer | undefined> {
    const answer = await this.send({ ...call, method: "GET" }, signal);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw toError(call.what, answer);
    return answer;
  }

  /** Like `get`, with undefined for 404. */
  async find<Shape>(
    schema: z.ZodType<Shape>,
    call: Omit<PowerDnsCall, "method">,
    signal: AbortSignal,
  ): Promise<Shape | undefined> {
    const answer = await this.findText(call, signal);
    return answer === undefined ? undefined : parseBody(schema, call.what, answer);
  }

  /** Any answer with a success status, and those listed in `accept`. */
  async write(call: PowerDnsCall, signal: AbortSignal, accept: readonly number[] = []): Promise<void> {
    const answer = await this.send(call, signal);
    const success = answer.status >= 200 && answer.status < 300;
    if (!success && !accept.includes(answer.status)) throw toError(call.what, answer);
  }

  async send(call: PowerDnsCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { http, timeoutMs, credentials, account } = this.#options;
    const url = this.#url(call);
    const key = await accountCredential(credentials, account, call.method === "GET" ? "read" : "write");
    const answer = await http.request({
      method: call.method,
      url,
      headers: { "x-api-key": key.reveal(), accept: "application/json", "content-type": "application/json" },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      timeoutMs,
      signal,
    });
    if (!answer.answered) throw toError(call.what, { ...answer, message: key.hideIn(answer.message) });
    // A refusal is kept and shown to people; whoever wrote it was told the key, and may repeat it.
    return answer.status < 300 ? answer : { ...answer, text: key.hideIn(answer.text) };
  }

  #url(call: PowerDnsCall): string {
    const { settings } = this.#options;
    if (call.path.includes("")) {
      throw new TerminalError(
        "WILDCARD_REFUSED",
        `PowerDNS: ${call.what} names nothing; an empty name would mean everything`,
      );
    }
    const segments = ["api", "v1", "servers", settings.server, ...call.path].map(encodeURIComponent);
    const query = call.query === undefined ? "" : `?${new URLSearchParams(call.query).toString()}`;
    return `${settings.url.replace(/\/+$/, "")}/${segments.join("/")}${query}`;
  }
}

export function parseBody<Shape>(schema: z.ZodType<Shape>, what: string, answer: HttpAnswer): Shape {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    throw new RetryableError(
      "PROVIDER_UNAVAILABLE",
      `PowerDNS answered ${what} with something that is not JSON: is this its API?`,
      { ambiguous: false },
    );
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TerminalError(
    "PROVIDER_REFUSED",
    `PowerDNS answered ${what} in a shape we do not know: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unknown"}. Setpoint knows its API of version 4.7`,
  );
}
