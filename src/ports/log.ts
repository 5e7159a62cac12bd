import type { Json } from "./json.ts";

/** Structured log: a dotted event name and its fields. Writing a line can never break work. */
export interface Log {
  debug(event: string, fields?: Readonly<Record<string, Json | undefined>>): void;
  info(event: string, fields?: Readonly<Record<string, Json | undefined>>): void;
  warn(event: string, fields?: Readonly<Record<string, Json | undefined>>): void;
  error(event: string, fields?: Readonly<Record<string, Json | undefined>>): void;
}
