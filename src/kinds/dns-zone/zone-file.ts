/** Master files (RFC 1035 5.1): entries with their lines, names made absolute, TTLs filled in. Values stay as they are written. */

export interface ZoneFileEntry {
  readonly line: number;
  readonly name: string;
  readonly type: string;
  /** Undefined: the entry has none, and no $TTL came before it. */
  readonly ttlSeconds: number | undefined;
  readonly words: readonly string[];
}

export interface ZoneFileProblem {
  readonly line: number;
  readonly message: string;
}

export interface ZoneFile {
  readonly entries: readonly ZoneFileEntry[];
  readonly problems: readonly ZoneFileProblem[];
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const type = /^([A-Z][A-Z0-9-]*|TYPE\d+)$/i;

interface State {
  origin: string;
  ttlSeconds: number | undefined;
  name: string | undefined;
}

export function parseZoneFile(text: string, zone: string): ZoneFile {
  const entries: ZoneFileEntry[] = [];
  const problems: ZoneFileProblem[] = [];
  const state: State = { origin: zone, ttlSeconds: undefined, name: undefined };
  for (const line of logicalLines(text, problems)) {
    const found =
      line.words[0]?.startsWith("$") === true && !line.indented ? directive(state, line) : entryOf(state, line);
    if (found === undefined) continue;
    if ("message" in found) problems.push(found);
    else entries.push(found);
  }
  return { entries, problems };
}

interface LogicalLine {
  readonly line: number;
  /** Begins with white space: the name of the entry before it holds. */
  readonly indented: boolean;
  readonly words: readonly string[];
}

const token = /;[^\n]*|"(?:[^"\\]|\\[\s\S])*"|[()]|\n|[^\S\n]+|(?:\\\d{3}|\\[\s\S]|[^\s"();\\])+|["\\]/g;

/** Parentheses carry an entry over several lines; a semicolon ends what counts of a line. */
function logicalLines(text: string, problems: ZoneFileProblem[]): readonly LogicalLine[] {
  const lines: LogicalLine[] = [];
  let line = 1;
  let depth = 0;
  let start = { line: 1, indented: false, words: [] as string[] };
  let isFirst = true;
  let joins = false;
  const finish = () => {
    if (start.words.length > 0) lines.push(start);
    start = { line, indented: false, words: [] };
    isFirst = true;
  };
  for (const [piece] of `${text.replaceAll("\r\n", "\n")}\n`.matchAll(token)) {
    const isSpace = /^[^\S\n]+$/.test(piece);
    if (piece === "\n") {
      line++;
      if (depth === 0) finish();
    } else if (piece === "(") depth++;
    else if (piece === ")") depth = Math.max(0, depth - 1);
    else if (piece === '"' || piece === "\\") problems.push({ line, message: "a quote or an escape is not ended" });
    else if (isSpace && isFirst) start.indented = true;
    else if (!isSpace && !piece.startsWith(";")) {
      // A quoted part belongs to the word it stands against, as in key="a b".
      if (joins && start.words.length > 0) start.words.push(`${start.words.pop() ?? ""}${piece}`);
      else start.words.push(piece);
    }
    isFirst = isFirst && piece === "\n";
    joins = !isSpace && piece !== "\n" && !/^[();]/.test(piece) && !piece.endsWith('"');
  }
  if (depth > 0) problems.push({ line: start.line, message: "a parenthesis is not closed" });
  finish();
  return lines;
}

function directive(state: State, { line, words }: LogicalLine): ZoneFileProblem | undefined {
  const [name = "", value = ""] = words;
  if (name.toUpperCase() === "$ORIGIN" && value !== "") {
    state.origin = absolute(value, state.origin);
    return undefined;
  }
  if (name.toUpperCase() === "$TTL") {
    state.ttlSeconds = seconds(value);
    return state.ttlSeconds === undefined ? { line, message: `"${value}" is no TTL (RFC 2308 4)` } : undefined;
  }
  return { line, message: `${name} is not understood here: write what it stands for into the file` };
}

function entryOf(state: State, { line, indented, words }: LogicalLine): ZoneFileEntry | ZoneFileProblem {
  const rest = [...words];
  if (!indented) state.name = absolute(rest.shift() ?? "", state.origin);
  if (state.name === undefined) return { line, message: "the first entry has no name (RFC 1035 5.1)" };
  let ttlSeconds = state.ttlSeconds;
  // TTL and class stand in either order, and both may be missing.
  for (let word = rest[0]; word !== undefined; word = rest[0]) {
    const upper = word.toUpperCase();
    const given = /^\d/.test(word) ? seconds(word) : undefined;
    if (upper === "CH" || upper === "HS") return { line, message: `the class ${upper} is not served here: only IN is` };
    if (given === undefined && upper !== "IN") break;
    if (given !== undefined) ttlSeconds = given;
    rest.shift();
  }
  const [word = "", ...values] = rest;
  if (!type.test(word)) return { line, message: `"${word}" is no type of record (RFC 1035 5.1)` };
  if (values.length === 0) return { line, message: `the ${word.toUpperCase()} entry has no value` };
  const made = {
    line,
    name: state.name,
    type: word.toUpperCase(),
    ttlSeconds,
    words: completed(word, values, state.origin),
  };
  if (made.type === "SOA" && state.ttlSeconds === undefined) state.ttlSeconds = seconds(values.at(-1) ?? "");
  return made;
}

/** Where names stand in a value: they may be relative to the origin there too. */
const namePlaces: Readonly<Record<string, readonly number[]>> = {
  CNAME: [0],
  DNAME: [0],
  NS: [0],
  PTR: [0],
  MX: [1],
  SRV: [3],
  SVCB: [1],
  HTTPS: [1],
  SOA: [0, 1],
};

function completed(word: string, values: readonly string[], origin: string): readonly string[] {
  const places = namePlaces[word.toUpperCase()] ?? [];
  return values.map((value, index) => (places.includes(index) ? absolute(value, origin) : value));
}

function absolute(name: string, origin: string): string {
  if (name === "@") return origin;
  if (name.endsWith(".")) return name;
  return origin === "." ? `${name}.` : `${name}.${origin}`;
}

/** Plain seconds, or parts with units as in 1h30m. */
function seconds(text: string): number | undefined {
  if (!/^(\d+[smhdw]?)+$/i.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit = "s"] of text.matchAll(/(\d+)([smhdw]?)/gi))
    sum += Number(number) * (units[unit.toLowerCase() || "s"] ?? 1);
  return sum;
}
