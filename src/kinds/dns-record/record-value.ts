import { parseCaa } from "./caa-value.ts";
import { type Parsed, parseHost, parseTarget } from "./domain-name.ts";
import { parseIpv4, parseIpv6 } from "./ip-address.ts";
import { parseServiceBinding } from "./service-binding-value.ts";
import { foldPresentation, textToPresentation } from "./text-value.ts";
import { parseTlsa } from "./tlsa-value.ts";

export const recordTypes = [
  "A",
  "AAAA",
  "CAA",
  "CNAME",
  "HTTPS",
  "MX",
  "NS",
  "PTR",
  "SRV",
  "SVCB",
  "TLSA",
  "TXT",
] as const;
export type RecordType = (typeof recordTypes)[number];

/** How each type's declared value becomes the one presentation form that is written and compared. */
const declared: Readonly<Record<RecordType, (value: string) => Parsed<string>>> = {
  A: parseIpv4,
  AAAA: parseIpv6,
  CAA: parseCaa,
  CNAME: (value) => parseTarget(value),
  HTTPS: parseServiceBinding,
  MX: parseMailExchanger,
  NS: (value) => parseHost(value),
  PTR: (value) => parseTarget(value),
  SRV: (value) =>
    parseNumbersAndHost(value, {
      names: ["priority", "weight", "port"],
      example: "0 5 5060 sip.example.com",
      rule: "RFC 2782",
    }),
  SVCB: parseServiceBinding,
  TLSA: parseTlsa,
  TXT: parseText,
};

export function parseDeclaredValue(type: RecordType, value: string): Parsed<string> {
  if (type !== "TXT" && value !== value.trim())
    return { ok: false, message: "leave out the white space around the value" };
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

/** What is wrong with the values of one record set taken together; each of them is right by itself. */
export function valuesProblem(type: RecordType, values: readonly string[]): string | undefined {
  if (type === "CNAME" && values.length > 1) return "a CNAME has exactly one value (RFC 2181 10.1)";
  if (type === "MX" && values.length > 1 && values.includes("0 ."))
    return '"0 ." says that there is no mail here, so it stands alone (RFC 7505 3)';
  const aliases = values.filter((value) => value.startsWith("0 "));
  if ((type === "SVCB" || type === "HTTPS") && aliases.length > 0 && values.length > 1)
    return "an alias (priority 0) stands alone (RFC 9460 2.4.2)";
  return undefined;
}

function parseText(value: string): Parsed<string> {
  if (value.length > 1 && value.startsWith('"') && value.endsWith('"')) {
    return { ok: false, message: "write the text without the surrounding quotes: they are added when it is written" };
  }
  return { ok: true, value: textToPresentation(value) };
}

function parseMailExchanger(value: string): Parsed<string> {
  const parsed = parseNumbersAndHost(value, {
    names: ["preference"],
    example: "10 mail.example.com",
    rule: "RFC 1035 3.3.9",
  });
  if (!parsed.ok || !parsed.value.endsWith(" .") || parsed.value === "0 .") return parsed;
  return { ok: false, message: 'the target "." says that there is no mail here: its preference is 0 (RFC 7505 3)' };
}

function parseNumbersAndHost(
  value: string,
  shape: { readonly names: readonly string[]; readonly example: string; readonly rule: string },
): Parsed<string> {
  const parts = value.split(/\s+/);
  const target = parts.at(-1);
  if (parts.length !== shape.names.length + 1 || target === undefined) {
    return { ok: false, message: `"${value}" must look like "${shape.example}" (${shape.rule})` };
  }
  for (const [index, name] of shape.names.entries()) {
    const number = parts[index] ?? "";
    if (!/^\d{1,5}$/.test(number) || Number(number) > 65_535) {
      return {
        ok: false,
        message: `the ${name} "${number}" must be a number from 0 to 65535, as in "${shape.example}" (${shape.rule})`,
      };
    }
  }
  const parsed = parseHost(target, { root: true });
  if (!parsed.ok) return parsed;
  return { ok: true, value: [...parts.slice(0, -1).map((number) => String(Number(number))), parsed.value].join(" ") };
}
