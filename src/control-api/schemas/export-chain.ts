import type { z } from "zod";
import type { LogPoint, SealedEntry } from "../../ports/read-store.ts";
import { exportEndSchema, type ExportHeader, exportHeaderSchema, sealedEntrySchema } from "./audit.ts";

/** How an export was found. Every problem names its line, so that somebody can look. */
export type ExportCheck =
  | {
      readonly holds: true;
      readonly scope: string;
      /** False for a filtered export: what is there is genuine, and whether something is missing cannot be told. */
      readonly complete: boolean;
      readonly entries: number;
      /** What the first entry follows on. */
      readonly after: LogPoint | undefined;
      readonly last: LogPoint | undefined;
    }
  | BrokenExport;

export interface BrokenExport {
  readonly holds: false;
  readonly line: number;
  readonly reason: string;
}

/** As much of an exported entry as its place in the chain needs. */
export interface ChainedEntry {
  readonly position: number;
  readonly previousHash: string;
  readonly organizationId: string;
  readonly tenantLink?: LogPoint | undefined;
  /** What the line says, and what was computed from it. */
  readonly hash: string;
  readonly computedHash: string;
}

/** The point that an entry follows on, in the log as a whole or in its tenant's part. */
export function pointBefore(
  entry: Pick<SealedEntry, "position" | "previousHash"> & { readonly tenantLink?: LogPoint | undefined },
  scope: string,
): LogPoint | undefined {
  if (scope !== "platform") return entry.tenantLink;
  return entry.position === 1 ? undefined : { position: entry.position - 1, hash: entry.previousHash };
}

type ExportEnd = z.output<typeof exportEndSchema>["end"];

/** What a line is. A first line is a header or nothing. */
export type ReadLine =
  | { readonly is: "header"; readonly header: ExportHeader }
  | { readonly is: "entry"; readonly entry: SealedEntry }
  | { readonly is: "end"; readonly end: ExportEnd }
  | { readonly is: "odd"; readonly reason: string };

/** Reads one line; without a text, its bytes were none. */
export function readLine(text: string | undefined, first: boolean): ReadLine {
  const value = text === undefined ? undefined : parsed(text);
  if (value === undefined) return odd("this is not JSON");
  // A line has one spelling: what JSON reads the same way and is written otherwise was not written by us.
  const spelled = JSON.stringify(value) === text;
  if (first) {
    const header = exportHeaderSchema.safeParse(value);
    if (header.success && spelled) return { is: "header", header: header.data };
    return odd("this is not the first line of an export of version 1");
  }
  if (typeof value === "object" && value !== null && "end" in value) {
    const end = exportEndSchema.safeParse(value);
    return end.success && spelled ? { is: "end", end: end.data.end } : odd("the end is not one that was exported");
  }
  const entry = sealedEntrySchema.safeParse(value);
  return entry.success && spelled
    ? { is: "entry", entry: entry.data as SealedEntry }
    : odd("this is not an entry as it was exported");
}

function odd(reason: string): ReadLine {
  return { is: "odd", reason };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * What must be true of the lines of an export together: each entry follows on the one before, and the end is there and says what
 * came. Who computes the hashes is another's business, so that the command line and a browser hold an export to the same rules.
 */
export class ExportChain {
  #line = 0;
  #header: ExportHeader | undefined;
  #headerHash = "";
  #last: LogPoint | undefined;
  #entries = 0;
  #ended = false;
  #failure: BrokenExport | undefined;

  get header(): ExportHeader | undefined {
    return this.#header;
  }

  get entries(): number {
    return this.#entries;
  }

  get last(): LogPoint | undefined {
    return this.#last;
  }

  get failure(): BrokenExport | undefined {
    return this.#failure;
  }

  takeHeader(header: ExportHeader, hash: string): boolean {
    this.#header = header;
    this.#headerHash = hash;
    return this.#next(undefined);
  }

  takeEntry(entry: ChainedEntry): boolean {
    return this.#next(this.#misfitOf(entry));
  }

  takeEnd(end: ExportEnd): boolean {
    const reason = this.#misfitOfEnd(end);
    this.#ended = true;
    return this.#next(reason);
  }

  /** A line that is none of them. False like the others: it is broken, and the rest need not be read. */
  takeOdd(reason: string): boolean {
    return this.#next(this.#ended ? behindTheEnd : reason);
  }

  /** Given the head of the log, the last entry must be that one. */
  result(head: LogPoint | undefined): ExportCheck {
    if (this.#failure !== undefined) return this.#failure;
    const header = this.#header;
    this.#line += 1;
    if (header === undefined) return this.#fail("the file is empty: there is no export in it");
    if (!this.#ended) return this.#fail("the end is missing: the export was cut off");
    if (head !== undefined && header.filtered)
      return this.#fail("a filtered export cannot be compared with the head of the log: export without filters");
    if (head !== undefined && (head.position !== this.#last?.position || head.hash !== this.#last.hash))
      return this.#fail(`the log ends at ${head.position}, and this export at ${this.#last?.position ?? "nothing"}`);
    return {
      holds: true,
      scope: header.scope,
      complete: !header.filtered,
      entries: this.#entries,
      after: header.after ?? undefined,
      last: this.#last,
    };
  }

  #fail(reason: string): BrokenExport {
    this.#failure = { holds: false, line: this.#line, reason };
    return this.#failure;
  }

  #next(reason: string | undefined): boolean {
    if (this.#failure !== undefined) return false;
    this.#line += 1;
    if (reason !== undefined) this.#fail(reason);
    return reason === undefined;
  }

  #misfitOf(entry: ChainedEntry): string | undefined {
    const header = this.#header;
    const { position, hash, computedHash } = entry;
    if (this.#ended || header === undefined) return behindTheEnd;
    if (hash !== computedHash) return `entry ${position} was changed`;
    if (header.scope !== "platform" && header.scope !== `organization/${entry.organizationId}`)
      return `entry ${position} is of another organization`;
    if (this.#last !== undefined && position <= this.#last.position)
      return `entry ${position} stands behind entry ${this.#last.position}`;
    if (!header.filtered) {
      const wanted = this.#last ?? header.after ?? undefined;
      const before = pointBefore(entry, header.scope);
      if (before?.position !== wanted?.position || before?.hash !== wanted?.hash)
        return `entry ${position} follows on entry ${before?.position ?? 0}, and entry ${wanted?.position ?? 0} stands before it: something was removed, put in or put elsewhere`;
    }
    this.#entries += 1;
    this.#last = { position, hash };
    return undefined;
  }

  #misfitOfEnd(end: ExportEnd): string | undefined {
    if (this.#ended) return behindTheEnd;
    if (end.headerHash !== this.#headerHash) return "the first line was changed";
    if (end.entries !== this.#entries || end.position !== (this.#last?.position ?? null))
      return `the end speaks of ${end.entries} entries up to ${end.position ?? "nothing"}; there are ${this.#entries} up to ${this.#last?.position ?? "nothing"}`;
    if (end.hash !== (this.#last?.hash ?? null)) return "the last entry is not the one that the end names";
    return undefined;
  }
}

const behindTheEnd = "there is something behind the end";
