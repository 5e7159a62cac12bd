import { type BrokenExport, ExportChain, readLine } from "../../../../src/control-api/schemas/export-chain.ts";
import type { LogPoint, SealedEntry } from "../../../../src/ports/read-store.ts";

/** One end of what was checked, as the record has it. */
export interface CheckedEntry extends LogPoint {
  readonly atMs: number;
  readonly type: string;
  readonly actor: string;
}

export interface ChainProgress {
  readonly entries: number;
  readonly position: number;
}

export type ChainResult =
  | {
      readonly holds: true;
      readonly entries: number;
      /** What was before was removed when it had been kept for long enough. */
      readonly after: LogPoint | undefined;
      readonly first: CheckedEntry | undefined;
      readonly last: CheckedEntry | undefined;
      /** Whether the point that was noted earlier is one that could be compared. */
      readonly compared: boolean;
    }
  | {
      readonly holds: false;
      readonly reason: string;
      /** How much of it, from the beginning, is as it was sealed. */
      readonly entries: number;
      readonly upTo: CheckedEntry | undefined;
      /** The first entry that does not fit, as the record has it now. */
      readonly entry: CheckedEntry | undefined;
    };

/**
 * Checks the whole record of an organization as it arrives. Nobody is believed: every hash is computed here, each entry must
 * follow on the one before, and a point that was noted earlier must still be in it.
 */
export async function checkChain(
  parts: AsyncIterable<Uint8Array>,
  noted: LogPoint | undefined,
  progress: (progress: ChainProgress) => void,
): Promise<ChainResult> {
  const check = new ChainCheck(noted);
  for await (const lines of linesOf(parts)) {
    if (!(await check.take(lines))) break;
    progress({ entries: check.entries, position: check.position });
  }
  return check.result();
}

class ChainCheck {
  readonly #chain = new ExportChain();
  readonly #noted: LogPoint | undefined;
  #begun = false;
  #first: CheckedEntry | undefined;
  #last: CheckedEntry | undefined;
  #odd: CheckedEntry | undefined;
  #found = false;
  #moved: string | undefined;

  constructor(noted: LogPoint | undefined) {
    this.#noted = noted;
  }

  get entries(): number {
    return this.#chain.entries;
  }

  get position(): number {
    return this.#last?.position ?? 0;
  }

  /** The hashes of many lines at once; then line by line. False: it is broken, and the rest need not be read. */
  async take(lines: readonly (string | undefined)[]): Promise<boolean> {
    const read = lines.map((text, index) => readLine(text, index === 0 && !this.#begun));
    this.#begun = true;
    const hashes = await Promise.all(
      read.map(async (line, index) => {
        if (line.is === "header") return await sha256(lines[index] ?? "");
        return line.is === "entry" ? await entryHash(line.entry) : "";
      }),
    );
    return read.every((line, index) => this.#takeOne(line, hashes[index] ?? ""));
  }

  #takeOne(line: ReturnType<typeof readLine>, hash: string): boolean {
    const chain = this.#chain;
    if (line.is === "header") return chain.takeHeader(line.header, hash);
    if (line.is === "end") return chain.takeEnd(line.end);
    if (line.is === "odd") return chain.takeOdd(line.reason);
    const checked = checkedEntry(line.entry);
    if (!this.#isAsNoted(checked) || !chain.takeEntry({ ...line.entry, computedHash: hash })) {
      this.#odd = checked;
      return false;
    }
    this.#first ??= checked;
    this.#last = checked;
    return true;
  }

  #isAsNoted({ position, hash }: CheckedEntry): boolean {
    if (position !== this.#noted?.position) return true;
    this.#found = true;
    if (hash === this.#noted.hash) return true;
    this.#moved = `entry ${position} is another one than when its hash was noted: the record was written anew`;
    return false;
  }

  result(): ChainResult {
    const check = this.#moved === undefined ? this.#chain.result(undefined) : undefined;
    if (check?.holds !== true) return this.#broken(check);
    const noted = this.#noted;
    const compared = noted !== undefined && noted.position > (check.after?.position ?? 0);
    if (compared && !this.#found) {
      const end = this.#last === undefined ? "has no entry" : `ends at entry ${this.#last.position}`;
      this.#moved =
        (this.#last?.position ?? 0) < noted.position
          ? `the record ${end}, and when an end was noted it went up to ${noted.position}: its newest entries were cut off`
          : `entry ${noted.position}, whose hash was noted, is not in the record any more`;
      return this.#broken(undefined);
    }
    const { entries, after } = check;
    return { holds: true, entries, after, first: this.#first, last: this.#last, compared };
  }

  #broken(check: BrokenExport | undefined): ChainResult {
    const reason = this.#moved ?? check?.reason ?? "the export was cut off";
    return { holds: false, reason, entries: this.#chain.entries, upTo: this.#last, entry: this.#odd };
  }
}

function checkedEntry({ position, hash, atMs, type, actor }: SealedEntry): CheckedEntry {
  return { position, hash, atMs, type, actor };
}

/** As the one who seals computes it: the hash before, and everything else in the entry with its keys in order. */
function entryHash({ hash: _, previousHash, ...entry }: SealedEntry): Promise<string> {
  return sha256(`${previousHash}\n${sortedJson(entry)}`);
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What was parsed from JSON, with the keys of its objects in order. */
export function sortedJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${sortedJson(field)}`).join(",")}}`;
}

/** The lines of each part that came, and no more of them in memory. What is no text is undefined. */
async function* linesOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<readonly (string | undefined)[]> {
  let rest = new Uint8Array();
  for await (const part of parts) {
    const bytes = new Uint8Array(rest.length + part.length);
    bytes.set(rest);
    bytes.set(part, rest.length);
    const lines: (string | undefined)[] = [];
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      lines.push(textOf(bytes.subarray(start, end)));
      start = end + 1;
    }
    rest = bytes.slice(start);
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [textOf(rest)];
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
