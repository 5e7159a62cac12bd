/** Domain names in one form: lower case, absolute, with the trailing dot. */

const label = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/;
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
  const name = text.toLowerCase().replace(/\.$/, "");
  const labels = name.split(".");
  const checked = options.wildcard && labels[0] === "*" && labels.length > 1 ? labels.slice(1) : labels;
  const problem = labelProblem(checked);
  if (problem !== undefined) return refuse(`"${text}" is not a domain name: ${problem}`);
  if (name.length > longestName) return refuse(`"${text}" is longer than ${longestName} characters`);
  return { ok: true, value: `${name}.` };
}

/** A target such as `mail.example.test`. A single word without a dot is refused: it is nearly always a name meant relative to the zone. */
export function parseTarget(text: string, options: { readonly root?: boolean } = {}): Parsed<string> {
  if (text !== "." && !text.includes("."))
    return refuse(`"${text}" must be written in full, such as ${text}.example.com`);
  return parseAbsoluteName(text, options);
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

function labelProblem(labels: readonly string[]): string | undefined {
  for (const part of labels) {
    if (part === "") return "it has an empty label";
    if (part.length > longestLabel) return `the label "${part}" is longer than ${longestLabel} characters`;
    if (!label.test(part))
      return `the label "${part}" may hold only letters, digits, hyphens and underscores (write international names as xn--…)`;
  }
  return undefined;
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
