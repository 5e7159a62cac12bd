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
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** Given instead of the token file, for an API that runs apart. */
  readonly operatorToken: string | undefined;
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

const schema = z.object({
  SETPOINT_DATA: z.string().default(".setpoint"),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/, "must be a PostgreSQL URL such as postgresql://user:password@host:5432/setpoint")
    .optional(),
  SETPOINT_PORT: portSchema.default(7780),
  SETPOINT_SCHEDULER_PORT: portSchema.optional(),
  SETPOINT_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"], "must be debug, info, warn or error").default("info"),
  SETPOINT_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{24,512}$/, "must be at least 24 visible characters without spaces")
    .optional(),
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
    logLevel: data.SETPOINT_LOG_LEVEL,
    operatorToken: data.SETPOINT_TOKEN,
    kindModules: Object.freeze(
      data.SETPOINT_KINDS.split(",")
        .map((path) => path.trim())
        .filter((path) => path !== "")
        .map((path) => resolve(path)),
    ),
  });
}

/** What was given, unless it may hold a secret. */
function shown(path: readonly PropertyKey[], environment: Environment): string {
  const name = String(path[0]);
  return name === "SETPOINT_TOKEN" || name === "DATABASE_URL"
    ? "something else (not shown)"
    : JSON.stringify(environment[name]);
}
