import pino from "pino";
import type { Log } from "../ports/log.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Field names whose values never reach a log, whatever they hold. */
const secretName = /secret|token|passw|api[-_]?key|authorization|credential|cookie|private[-_]?key/i;
const deepest = 6;

/** Structured lines of JSON through pino. Writing a line never throws: a log that breaks work is worse than no log. */
export function createJsonLog(options: {
  readonly level: LogLevel;
  readonly base: Readonly<Record<string, string | number>>;
  readonly write: (line: string) => void;
}): Log {
  const logger = pino(
    { level: options.level, base: options.base, timestamp: pino.stdTimeFunctions.isoTime, messageKey: "event" },
    { write: (line: string) => quietly(() => options.write(line)) },
  );
  const line =
    (level: LogLevel): Log["info"] =>
    (event, fields = {}) =>
      quietly(() => logger[level](withoutSecrets(fields, 0), event));
  return Object.freeze({ debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") });
}

function quietly(write: () => void): void {
  try {
    write();
  } catch {
    // There is nowhere left to report a log that cannot be written.
  }
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= deepest) return "[deep]";
  if (Array.isArray(value)) return value.map((entry) => withoutSecrets(entry, depth + 1));
  if ("toJSON" in value && typeof value.toJSON === "function") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      secretName.test(name) ? "[redacted]" : withoutSecrets(field, depth + 1),
    ]),
  );
}
