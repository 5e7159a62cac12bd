import type { Cursor } from "./cursor.ts";
import { WireError } from "./wire-error.ts";

/** Strings of at most 255 bytes, and their quoted form (RFC 1035 3.3 and 5.1). */

const longestString = 255;
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

export function quoted(bytes: Buffer): string {
  const text = bytes.toString("latin1");
  if (plain.test(text)) return `"${text}"`;
  return `"${Array.from(bytes, escaped).join("")}"`;
}

function escaped(byte: number): string {
  if (byte === 0x22) return '\\"';
  if (byte === 0x5c) return "\\\\";
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, "0")}`;
}

/** Every string that is left of a record. */
export function readStrings(cursor: Cursor): string {
  const strings: string[] = [];
  while (cursor.left > 0) strings.push(quoted(cursor.take(cursor.number(1))));
  return strings.join(" ");
}

/** The bytes of a value that is one quoted string or one bare word. */
export function unquoted(text: string): Buffer {
  const body = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  return Buffer.from(
    body.replaceAll(/\\(\d{3})|\\([\s\S])/g, (_whole, code: string | undefined, character: string | undefined) =>
      code === undefined ? (character ?? "") : String.fromCharCode(Number(code) & 0xff),
    ),
    "latin1",
  );
}

/** Splits a value at white space that is outside quotes. */
export function words(text: string): readonly string[] {
  return text.match(/(?:"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s"\\])+/g) ?? [];
}

export function stringBytes(text: string): Buffer {
  const strings = words(text).map(unquoted);
  if (strings.length === 0) throw new WireError(`"${text}" holds no string`);
  return Buffer.concat(
    strings.flatMap((bytes) => {
      if (bytes.length > longestString)
        throw new WireError(`a string of "${text.slice(0, 40)}…" is longer than 255 bytes`);
      return [Buffer.of(bytes.length), bytes];
    }),
  );
}
