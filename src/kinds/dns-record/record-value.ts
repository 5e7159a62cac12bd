import { type Parsed, parseTarget } from "./domain-name.ts";
import { parseIpv4, parseIpv6 } from "./ip-address.ts";
import { foldPresentation, textToPresentation } from "./text-value.ts";

export const recordTypes = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SRV", "TXT"] as const;
export type RecordType = (typeof recordTypes)[number];

/** How each type's declared value becomes the one presentation form that is written and compared. */
const declared: Readonly<Record<RecordType, (value: string) => Parsed<string>>> = {
  A: parseIpv4,
  AAAA: parseIpv6,
  CAA: parseCaa,
  CNAME: (value) => parseTarget(value),
  MX: (value) => parseNumbersAndTarget(value, { names: ["preference"], example: "10 mail.example.com" }),
  NS: (value) => parseTarget(value),
  PTR: (value) => parseTarget(value),
  SRV: (value) =>
    parseNumbersAndTarget(value, { names: ["priority", "weight", "port"], example: "0 5 5060 sip.example.com" }),
  TXT: parseText,
};

export function parseDeclaredValue(type: RecordType, value: string): Parsed<string> {
  if (value !== value.trim()) return { ok: false, message: "leave out the white space around the value" };
  return declared[type](value);
}

/**
 * A value as a provider shows it, in the same form. What we cannot read is kept as it is: it then differs from everything
 * we would write, which is the truth.
 */
export function foldSeenValue(type: string, value: string): string {
  const trimmed = value.trim();
  if (type === "TXT") return foldPresentation(trimmed) ?? trimmed;
  if (!isRecordType(type)) return trimmed;
  const parsed = declared[type](trimmed);
  return parsed.ok ? parsed.value : trimmed;
}

export function isRecordType(type: string): type is RecordType {
  return (recordTypes as readonly string[]).includes(type);
}

function parseText(value: string): Parsed<string> {
  if (value.length > 1 && value.startsWith('"') && value.endsWith('"')) {
    return { ok: false, message: "write the text without the surrounding quotes: they are added when it is written" };
  }
  return { ok: true, value: textToPresentation(value) };
}

function parseNumbersAndTarget(
  value: string,
  shape: { readonly names: readonly string[]; readonly example: string },
): Parsed<string> {
  const parts = value.split(/\s+/);
  const target = parts.at(-1);
  if (parts.length !== shape.names.length + 1 || target === undefined) {
    return { ok: false, message: `"${value}" must look like "${shape.example}"` };
  }
  for (const [index, name] of shape.names.entries()) {
    const number = parts[index] ?? "";
    if (!/^\d{1,5}$/.test(number) || Number(number) > 65_535) {
      return {
        ok: false,
        message: `the ${name} "${number}" must be a number from 0 to 65535, as in "${shape.example}"`,
      };
    }
  }
  const parsed = parseTarget(target, { root: true });
  if (!parsed.ok) return parsed;
  return { ok: true, value: [...parts.slice(0, -1).map((number) => String(Number(number))), parsed.value].join(" ") };
}

function parseCaa(value: string): Parsed<string> {
  const match = /^(\d{1,3})\s+([a-zA-Z0-9]+)\s+(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))$/.exec(value);
  if (match === null || Number(match[1]) > 255) {
    return { ok: false, message: `"${value}" must look like "0 issue letsencrypt.org"` };
  }
  const [, flags, tag = "", quoted, bare] = match;
  return { ok: true, value: `${Number(flags)} ${tag.toLowerCase()} "${quoted ?? bare ?? ""}"` };
}
