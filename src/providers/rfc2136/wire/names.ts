import { WireError } from "./wire-error.ts";

/** Domain names between text and bytes. The text is absolute and in lower case; what is not plain is written as \DDD. */

const longestLabel = 63;
const longestName = 255;
const dot = 0x2e;
const backslash = 0x5c;

export interface NameRead {
  readonly name: string;
  /** Where the bytes after the name begin. */
  readonly next: number;
}

/** Reads a name that may end in a pointer to an earlier one (RFC 1035 4.1.4). `known` keeps what was read at an offset. */
export function readName(message: Buffer, start: number, known?: Map<number, string>): NameRead {
  const labels: string[] = [];
  const offsets: number[] = [];
  let at = start;
  let next = -1;
  let rest = "";
  let bytes = 0;
  for (;;) {
    const length = message[at];
    if (length === undefined) throw new WireError("a name ends behind the message");
    if (length === 0) {
      if (next < 0) next = at + 1;
      break;
    }
    if ((length & 0xc0) === 0xc0) {
      const low = message[at + 1];
      if (low === undefined) throw new WireError("a name ends behind the message");
      const target = ((length & 0x3f) << 8) | low;
      // Only backwards: a pointer to itself or ahead could be followed for ever.
      if (target >= at) throw new WireError("a name points ahead of itself");
      if (next < 0) next = at + 2;
      const seen = known?.get(target);
      if (seen !== undefined) {
        rest = seen;
        break;
      }
      at = target;
      continue;
    }
    if (length > longestLabel) throw new WireError("a label has a length that is not allowed");
    const end = at + 1 + length;
    if (end > message.length) throw new WireError("a name ends behind the message");
    bytes += length + 1;
    if (bytes > longestName) throw new WireError("a name is too long");
    offsets.push(at);
    labels.push(labelText(message, at + 1, end));
    at = end;
  }
  let name = rest;
  for (let index = labels.length - 1; index >= 0; index--) {
    name = `${labels[index]}.${name}`;
    known?.set(offsets[index] ?? 0, name);
  }
  return { name: name === "" ? "." : name, next };
}

const plain = /^[a-z0-9_*/-]*$/;

function labelText(message: Buffer, start: number, end: number): string {
  const text = message.toString("latin1", start, end).toLowerCase();
  if (plain.test(text)) return text;
  let escaped = "";
  for (let at = start; at < end; at++) {
    const byte = message[at] ?? 0;
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== dot && byte !== backslash;
    escaped += isPlain ? String.fromCharCode(byte).toLowerCase() : `\\${String(byte).padStart(3, "0")}`;
  }
  return escaped;
}

/** The bytes of an absolute name, without compression. */
export function nameBytes(name: string): Buffer {
  if (name === ".") return Buffer.of(0);
  if (!name.endsWith(".")) throw new WireError(`"${name}" is not absolute`);
  const parts: Buffer[] = [];
  for (const label of labelsOf(name)) {
    const bytes = labelBytes(label);
    if (bytes.length === 0 || bytes.length > longestLabel)
      throw new WireError(`"${name}" has a label of ${bytes.length} bytes`);
    parts.push(Buffer.of(bytes.length), bytes);
  }
  const all = Buffer.concat([...parts, Buffer.of(0)]);
  if (all.length > longestName) throw new WireError(`"${name}" is longer than ${longestName} bytes`);
  return all;
}

/** Splits at the dots that are not escaped. */
function labelsOf(name: string): readonly string[] {
  const absolute = name.slice(0, -1);
  return absolute.includes("\\") ? (absolute.match(/(?:\\\d{3}|\\.|[^.\\])+/g) ?? []) : absolute.split(".");
}

function labelBytes(label: string): Buffer {
  const text = label.replaceAll(
    /\\(\d{3})|\\(.)/g,
    (_whole, code: string | undefined, character: string | undefined) =>
      code === undefined ? (character ?? "") : String.fromCharCode(Number(code) & 0xff),
  );
  return Buffer.from(text.toLowerCase(), "latin1");
}
