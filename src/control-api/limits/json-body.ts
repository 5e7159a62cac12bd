import type { FastifyRequest } from "fastify";
import { Problem } from "../problem.ts";

const deepest = 64;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses a body as JSON and refuses what two readers would understand differently: a key that is given twice, bytes that
 * are not UTF-8, a key that changes the prototype of what is read; and nesting that only costs.
 */
function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new Problem("BODY_INVALID", "The body is not UTF-8: JSON is always written in it");
  }
  requirePlain(text);
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw new Problem("BODY_INVALID", `The body is not JSON: ${placeOf(thrown)}`);
  }
}

/** Where the parser stopped. Its own words quote what was sent, which may be a secret. */
function placeOf(thrown: unknown): string {
  const why = thrown instanceof Error ? thrown.message : "";
  const [, place] = /at position \d+ \((line \d+ column \d+)\)/.exec(why) ?? [];
  if (place !== undefined) return `it cannot be read from ${place} on`;
  return why.startsWith("Unexpected end") ? "it ends too soon" : "it has something that no JSON value begins with";
}

/** In the form fastify asks for. */
export async function jsonBodyParser(_request: FastifyRequest, body: Buffer): Promise<unknown> {
  return await Promise.resolve(parseJsonBody(body));
}

interface Level {
  /** Undefined in a list. */
  readonly keys: Set<string> | undefined;
  expectsKey: boolean;
}

/** One pass over the text. Text that is not JSON may pass: the parser behind it refuses that. */
function requirePlain(text: string): void {
  const levels: Level[] = [];
  let level: Level | undefined;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      const end = endOfString(text, at);
      if (level?.keys !== undefined && level.expectsKey) noteKey(level.keys, text.slice(at, end + 1));
      if (level !== undefined) level.expectsKey = false;
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      const keys = code === 0x7b ? new Set<string>() : undefined;
      level = { keys, expectsKey: true };
      levels.push(level);
      if (levels.length > deepest)
        throw new Problem("BODY_INVALID", `The body is nested deeper than ${deepest} levels: nothing here needs that`);
    } else if (code === 0x7d || code === 0x5d) {
      levels.pop();
      level = levels.at(-1);
    } else if (code === 0x2c && level !== undefined) level.expectsKey = true;
  }
}

/** The position of the closing quote; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code === 0x5c) at++;
  }
  return text.length;
}

function noteKey(keys: Set<string>, quoted: string): void {
  const key = keyOf(quoted);
  if (key === "__proto__") throw new Problem("BODY_INVALID", 'The body has a key "__proto__": no field is called that');
  if (keys.has(key))
    throw new Problem(
      "BODY_INVALID",
      `The body has the key ${JSON.stringify(key.slice(0, 100))} twice in one object: say which of them you mean`,
    );
  keys.add(key);
}

/** Two spellings of one key are one key. */
function keyOf(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
