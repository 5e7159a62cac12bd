import { domainToASCII, domainToUnicode } from "node:url";

/** Domain names in one form: lower case, absolute, with the trailing dot, international labels as A-labels (`xn--…`). */

const plainLabel = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/;
// The printable part of ASCII: anything else is an international character.
const ascii = /^[\x20-\x7e]*$/;
/** Nearly every name there is: in its one form already, but for the last dot. */
const plainName = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+$/;
const longestName = 253;
const longestLabel = 63;

export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string };

/** An absolute name, with or without its trailing dot. `.` alone is the root, which some targets use for "none". */
export function parseAbsoluteName(
  text: string,
  options: { readonly root?: boolean; readonly wildcard?: boolean } = {},
): Parsed<string> {
  if (text === ".") return options.root ? { ok: true, value: "." } : refuse("the root is not allowed here");
  const dotted = text.endsWith(".") ? text : `${text}.`;
  const isPlain = dotted.length <= longestName + 1 && plainName.test(dotted) && !dotted.includes("xn--");
  if (isPlain && (options.wildcard === true || !dotted.startsWith("*"))) return { ok: true, value: dotted };
  const labels = text.toLowerCase().replace(/\.$/, "").split(".");
  const wildcard = options.wildcard === true && labels[0] === "*" && labels.length > 1;
  const parsed: string[] = [];
  for (const label of wildcard ? labels.slice(1) : labels) {
    const one = parseLabel(label);
    if (!one.ok) return refuse(`"${text}" is not a domain name: ${one.message}`);
    parsed.push(one.value);
  }
  const name = (wildcard ? ["*", ...parsed] : parsed).join(".");
  if (name.length > longestName)
    return refuse(`"${text}" is longer than ${longestName} characters, the most a name may have (RFC 1035 3.1)`);
  return { ok: true, value: `${name}.` };
}

/** The one form of a name that a schema let through; what is none stays as it is. */
export function normalName(name: string): string {
  const parsed = parseAbsoluteName(name);
  return parsed.ok ? parsed.value : name;
}

/** A target such as `mail.example.test`. A single word without a dot is refused: it is nearly always a name meant relative to the zone. */
export function parseTarget(text: string, options: { readonly root?: boolean } = {}): Parsed<string> {
  if (text !== "." && !text.includes("."))
    return refuse(`"${text}" must be written in full, such as ${text}.example.com`);
  return parseAbsoluteName(text, options);
}

/** A target that must be the name of a machine: letters, digits and hyphens, and no underscore. */
export function parseHost(text: string, options: { readonly root?: boolean } = {}): Parsed<string> {
  const parsed = parseTarget(text, options);
  if (!parsed.ok || !parsed.value.includes("_")) return parsed;
  return refuse(`"${text}" must name a host: letters, digits and hyphens only, no underscore (RFC 1123 2.1)`);
}

/** The name of a record: `@`, relative to its zone (`www`), or absolute with a trailing dot. */
export function parseRecordName(text: string): Parsed<string> {
  if (text === "@" || text === "*") return { ok: true, value: text };
  const parsed = parseAbsoluteName(text, { wildcard: true });
  if (!parsed.ok) return parsed;
  return { ok: true, value: text.endsWith(".") ? parsed.value : parsed.value.slice(0, -1) };
}

/** The absolute name of a record in a zone, or why it cannot be there. */
export function absoluteIn(zone: string, recordName: string): Parsed<string> {
  const parsed = parseRecordName(recordName);
  if (!parsed.ok) return parsed;
  if (parsed.value === "@") return { ok: true, value: zone };
  if (!parsed.value.endsWith(".")) return parseAbsoluteName(`${parsed.value}.${zone}`, { wildcard: true });
  const inside = parsed.value === zone || parsed.value.endsWith(`.${zone}`);
  return inside ? parsed : refuse(`"${recordName}" lies outside the zone ${zone}`);
}

function parseLabel(label: string): Parsed<string> {
  if (label === "") return refuse("it has an empty label (two dots, or one at its start)");
  const encoded = ascii.test(label) ? parsePlain(label) : parseInternational(label);
  if (!encoded.ok) return encoded;
  if (encoded.value.length > longestLabel)
    return refuse(
      `the label "${label}" is longer than ${longestLabel} characters, the most a label may have (RFC 1035 2.3.4)`,
    );
  return encoded;
}

function parsePlain(label: string): Parsed<string> {
  if (label === "*") return refuse('a "*" stands for names only as the whole first label (RFC 4592 2.1.1)');
  if (!plainLabel.test(label))
    return refuse(
      `the label "${label}" may hold only letters, digits, hyphens inside and underscores (RFC 1035 2.3.1, RFC 8552)`,
    );
  const decodes = !label.startsWith("xn--") || !domainToUnicode(label).startsWith("xn--");
  return decodes ? { ok: true, value: label } : refuse(`the label "${label}" begins with xn-- and encodes nothing`);
}

/** What people write in their own letters goes into DNS as an A-label (RFC 5890 to 5892, UTS 46). */
function parseInternational(label: string): Parsed<string> {
  const encoded = domainToASCII(label);
  const plain = plainLabel.test(encoded) && !encoded.includes("_") && !/^-|-$/.test(label);
  return plain
    ? { ok: true, value: encoded }
    : refuse(`the label "${label}" is not allowed in an international name (RFC 5891 4.2)`);
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
