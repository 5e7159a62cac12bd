import { resolve } from "node:path";
import { z } from "zod";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Config {
  readonly dataDirectory: string;
  /** Undefined: the embedded PostgreSQL in the data directory. */
  readonly databaseUrl: string | undefined;
  readonly port: number;
  /** Where a scheduler that runs apart serves its own metrics and health; undefined: nowhere. */
  readonly schedulerPort: number | undefined;
  /** The same for a worker that runs apart. */
  readonly workerPort: number | undefined;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** Given instead of the token file, for an API that runs apart. */
  readonly operatorToken: string | undefined;
  /** 32 bytes as base64, given instead of the root key file; after a rotation several, separated by commas. */
  readonly rootKey: string | undefined;
  /** The same in place of the engine key file, for schedulers and workers that run apart. */
  readonly engineKey: string | undefined;
  /** Whether strangers may make themselves a person here. */
  readonly signUp: boolean;
  /** Whether an organization that somebody makes for themselves waits for an operator to verify it. */
  readonly verifyOrganizations: boolean;
  /** Where mail is handed in, and whom it is from; undefined: no mail is sent. */
  readonly smtp: { readonly url: string; readonly from: string } | undefined;
  /** The address people reach the API under, where it is not the one it listens on. */
  readonly publicUrl: string | undefined;
  /** Ranges of addresses that are not public and that webhooks may be sent to all the same. */
  readonly webhookAllowPrivate: readonly string[];
  /** Requests of one credential: a second, and in reserve. */
  readonly rateLimit: { readonly perSecond: number; readonly burst: number };
  /** Where spans are sent (OTLP over HTTP); undefined: none are made. */
  readonly otlpEndpoint: string | undefined;
  /** Whether a demo organization and its simulated provider run beside everything else. */
  readonly demo: boolean;
  /** Modules of the operator's own that bring further kinds. */
  readonly kindModules: readonly string[];
}

/** Settings that cannot be used. The message names every one of them and what was expected. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`These settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

const portSchema = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port number from 1 to 65535")
  .transform(Number)
  .refine((port) => port >= 1 && port <= 65_535, "must be a port number from 1 to 65535");

const keysSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9+/]{43}=(,[A-Za-z0-9+/]{43}=)*$/,
    "must be 32 random bytes as base64 (openssl rand -base64 32); after a rotation the new one, a comma and the old one",
  );

const rateSchema = z
  .string()
  .regex(/^[1-9]\d{0,6}$/, "must be a whole number from 1 to 9999999")
  .transform(Number);

const schema = z.object({
  SETPOINT_DATA: z.string().default(".setpoint"),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/, "must be a PostgreSQL URL such as postgresql://user:password@host:5432/setpoint")
    .optional(),
  SETPOINT_PORT: portSchema.default(7780),
  SETPOINT_SCHEDULER_PORT: portSchema.optional(),
  SETPOINT_WORKER_PORT: portSchema.optional(),
  SETPOINT_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"], "must be debug, info, warn or error").default("info"),
  SETPOINT_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{24,512}$/, "must be at least 24 visible characters without spaces")
    .optional(),
  SETPOINT_ROOT_KEY: keysSchema.optional(),
  SETPOINT_ENGINE_KEY: keysSchema.optional(),
  SETPOINT_SIGN_UP: z.enum(["on", "off"], "must be on or off").default("on"),
  SETPOINT_VERIFY_ORGANIZATIONS: z.enum(["on", "off"], "must be on or off").default("off"),
  SETPOINT_SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/\S+$/, "must be a mail server's URL such as smtp://user:password@mail.example:587")
    .optional(),
  SETPOINT_SMTP_FROM: z
    .string()
    .regex(/^[^\s<>@]+@[^\s<>@]+$/, "must be an e-mail address")
    .default("setpoint@localhost"),
  SETPOINT_PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\/[^/\s?#]+$/, "must be an address such as https://setpoint.example, without a path")
    .optional(),
  SETPOINT_WEBHOOK_ALLOW_PRIVATE: z
    .string()
    .regex(
      /^([0-9A-Fa-f.:]+\/\d{1,3}(\s*,\s*(?=\S)|\s*$))*$/,
      "must be address ranges such as 10.0.0.0/8, separated by commas",
    )
    .default(""),
  SETPOINT_RATE_PER_SECOND: rateSchema.default(200),
  SETPOINT_RATE_BURST: rateSchema.default(1_000),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .regex(/^https?:\/\/[^\s?#]+$/, "must be the base address of a collector such as http://127.0.0.1:4318")
    .optional(),
  SETPOINT_DEMO: z.enum(["on", "off"], "must be on or off").default("off"),
  SETPOINT_KINDS: z.string().default(""),
});

/** Parses all settings at once: every problem in one message, no setting replaced by a default because it was wrong. */
export function parseConfig(environment: Environment): Config {
  // An empty variable is how shells and compose files spell "not set".
  const given = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => name in schema.shape && value !== ""),
  );
  const parsed = schema.safeParse(given);
  if (!parsed.success)
    throw new ConfigError(
      parsed.error.issues.map(
        (issue) => `${issue.path.join(".")} ${issue.message}; it is ${shown(issue.path, environment)}`,
      ),
    );
  const { data } = parsed;
  if (data.SETPOINT_SCHEDULER_PORT === data.SETPOINT_PORT)
    throw new ConfigError([`SETPOINT_SCHEDULER_PORT must differ from SETPOINT_PORT; both are ${data.SETPOINT_PORT}`]);
  return Object.freeze({
    dataDirectory: resolve(data.SETPOINT_DATA),
    databaseUrl: data.DATABASE_URL,
    port: data.SETPOINT_PORT,
    schedulerPort: data.SETPOINT_SCHEDULER_PORT,
    workerPort: data.SETPOINT_WORKER_PORT,
    logLevel: data.SETPOINT_LOG_LEVEL,
    operatorToken: data.SETPOINT_TOKEN,
    rootKey: data.SETPOINT_ROOT_KEY,
    engineKey: data.SETPOINT_ENGINE_KEY,
    signUp: data.SETPOINT_SIGN_UP === "on",
    verifyOrganizations: data.SETPOINT_VERIFY_ORGANIZATIONS === "on",
    smtp:
      data.SETPOINT_SMTP_URL === undefined
        ? undefined
        : Object.freeze({ url: data.SETPOINT_SMTP_URL, from: data.SETPOINT_SMTP_FROM }),
    publicUrl: data.SETPOINT_PUBLIC_URL,
    webhookAllowPrivate: Object.freeze(listOf(data.SETPOINT_WEBHOOK_ALLOW_PRIVATE)),
    rateLimit: Object.freeze({ perSecond: data.SETPOINT_RATE_PER_SECOND, burst: data.SETPOINT_RATE_BURST }),
    otlpEndpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, ""),
    demo: data.SETPOINT_DEMO === "on",
    kindModules: Object.freeze(listOf(data.SETPOINT_KINDS).map((path) => resolve(path))),
  });
}

function listOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

const secretSettings = [
  "SETPOINT_TOKEN",
  "DATABASE_URL",
  "SETPOINT_ROOT_KEY",
  "SETPOINT_ENGINE_KEY",
  "SETPOINT_SMTP_URL",
];

/** What was given, unless it may hold a secret. */
function shown(path: readonly PropertyKey[], environment: Environment): string {
  const name = String(path[0]);
  return secretSettings.includes(name) ? "something else (not shown)" : JSON.stringify(environment[name]);
}
