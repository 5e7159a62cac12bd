/**
 * TXT in one presentation form: UTF-8 bytes in quoted strings of at most 255 bytes, `"` and `\` escaped, everything that
 * is not printable ASCII as \DDD. How a text was cut into strings, or which of its characters were escaped, means nothing
 * to those who read it, so both are folded away.
 */
const longestString = 255;
/** Nearly every value there is: one string of plain characters, as it will be written. */
const plain = /^"[\x20\x21\x23-\x5b\x5d-\x7e]{0,255}"$/;

export function textToPresentation(text: string): string {
  return bytesToPresentation(Buffer.from(text, "utf8"));
}

/** Undefined when it is not TXT in presentation form. */
export function foldPresentation(presentation: string): string | undefined {
  if (plain.test(presentation)) return presentation;
  const bytes = presentationToBytes(presentation);
  return bytes === undefined ? undefined : bytesToPresentation(bytes);
}

/** The text behind a presentation form, for people. */
export function presentationToText(presentation: string): string | undefined {
  return presentationToBytes(presentation)?.toString("utf8");
}

/** Bytes as one quoted string, however long: for values that are not cut into strings. */
export function quotedBytes(bytes: Buffer): string {
  return `"${Array.from(bytes, escapedByte).join("")}"`;
}

/** The bytes of quoted strings, or of one bare word; undefined when it is neither. */
export function presentationToBytes(presentation: string): Buffer | undefined {
  const trimmed = presentation.trim();
  if (trimmed !== "" && !/["\s]/.test(trimmed)) return unescaped(trimmed);
  const strings = trimmed.match(/"(?:[^"\\]|\\[\s\S])*"/g);
  if (strings === null || strings.join("") !== withoutGaps(trimmed, strings)) return undefined;
  return Buffer.concat(strings.map((quoted) => unescaped(quoted.slice(1, -1))));
}

function bytesToPresentation(bytes: Buffer): string {
  const strings: string[] = [];
  for (let start = 0; start < Math.max(bytes.length, 1); start += longestString)
    strings.push(quotedBytes(bytes.subarray(start, start + longestString)));
  return strings.join(" ");
}

function escapedByte(byte: number): string {
  if (byte === 0x22) return '\\"';
  if (byte === 0x5c) return "\\\\";
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, "0")}`;
}

/** The text without the white space between its quoted strings; equal to the strings joined only when nothing else is there. */
function withoutGaps(text: string, strings: readonly string[]): string {
  let rest = text;
  let kept = "";
  for (const quoted of strings) {
    const at = rest.indexOf(quoted);
    kept += rest.slice(0, at).trim() + quoted;
    rest = rest.slice(at + quoted.length);
  }
  return kept + rest.trim();
}

function unescaped(body: string): Buffer {
  const parts: Buffer[] = [];
  for (const [piece] of body.matchAll(/\\[0-9]{3}|\\[\s\S]|[^\\]+/g)) {
    if (/^\\[0-9]{3}$/.test(piece)) parts.push(Buffer.from([Number(piece.slice(1)) & 0xff]));
    else parts.push(Buffer.from(piece.startsWith("\\") ? piece.slice(1) : piece, "utf8"));
  }
  return Buffer.concat(parts);
}
