import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { LogPoint, SealedEntry } from "../../ports/read-store.ts";
import { chainHash } from "../../store/seal-chain.ts";
import { EntryReader, type ReadEntry } from "./export-line.ts";
import { type ExportHeader, exportEndSchema, exportHeaderSchema, sealedEntrySchema } from "./audit.ts";

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
  | { readonly holds: false; readonly line: number; readonly reason: string };

export function headerHash(line: string): string {
  return createHash("sha256").update(line).digest("hex");
}

/** The point that an entry follows on, in the log as a whole or in its tenant's part. */
export function pointBefore(
  entry: Pick<SealedEntry, "position" | "previousHash" | "tenantLink">,
  scope: string,
): LogPoint | undefined {
  if (scope !== "platform") return entry.tenantLink;
  return entry.position === 1 ? undefined : { position: entry.position - 1, hash: entry.previousHash };
}

/**
 * Checks an export line by line, with nothing but the export: every hash is computed anew, each entry must follow on the
 * one before, and the end must be there and say what came. Given the head of the log, the last entry must be that one.
 */
export class ExportVerifier {
  readonly #head: LogPoint | undefined;
  readonly #reader = new EntryReader();
  #line = 0;
  #header: ExportHeader | undefined;
  #headerHash = "";
  #last: LogPoint | undefined;
  #entries = 0;
  #ended = false;
  #failure: Extract<ExportCheck, { readonly holds: false }> | undefined;

  constructor(head?: LogPoint) {
    this.#head = head;
  }

  /** False: it is broken already, and the rest need not be read. */
  take(line: string | Buffer): boolean {
    this.#line += 1;
    if (this.#failure !== undefined) return false;
    const reason = this.#check(typeof line === "string" ? Buffer.from(line, "utf8") : line);
    if (reason !== undefined) this.#fail(reason);
    return this.#failure === undefined;
  }

  result(): ExportCheck {
    if (this.#failure !== undefined) return this.#failure;
    const header = this.#header;
    this.#line += 1;
    if (header === undefined) return this.#fail("the file is empty: there is no export in it");
    if (!this.#ended) return this.#fail("the end is missing: the export was cut off");
    const head = this.#head;
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

  #check(line: Buffer): string | undefined {
    if (this.#ended) return "there is something behind the end";
    const header = this.#header;
    if (header !== undefined) {
      const read = this.#reader.read(line, header.scope === "platform" ? "platform" : "organization");
      if (read !== undefined) return this.#follow(read, header);
    }
    // Bytes that are no text would be read as a letter that is.
    const text = isUtf8(line) ? line.toString("utf8") : "";
    const value = parsed(text);
    if (value === undefined) return "this is not JSON";
    if (header === undefined) return this.#takeHeader(text, value);
    if (typeof value === "object" && value !== null && "end" in value) return this.#takeEnd(text, value);
    return this.#takeEntry(text, value, header);
  }

  #takeHeader(text: string, value: unknown): string | undefined {
    const header = exportHeaderSchema.safeParse(value);
    if (!header.success || JSON.stringify(value) !== text)
      return "this is not the first line of an export of version 1";
    this.#header = header.data;
    this.#headerHash = headerHash(text);
    return undefined;
  }

  #takeEntry(text: string, value: unknown, header: ExportHeader): string | undefined {
    const read = sealedEntrySchema.safeParse(value);
    // A line has one spelling: what JSON reads the same way and is written otherwise was not written by us.
    if (!read.success || JSON.stringify(value) !== text) return "this is not an entry as it was exported";
    const entry = read.data as SealedEntry;
    return this.#follow({ ...entry, computedHash: chainHash(entry) }, header);
  }

  #follow(entry: ReadEntry, header: ExportHeader): string | undefined {
    const { position, hash, computedHash } = entry;
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

  #takeEnd(text: string, value: unknown): string | undefined {
    const read = exportEndSchema.safeParse(value);
    if (!read.success || JSON.stringify(value) !== text) return "the end is not one that was exported";
    const { end } = read.data;
    this.#ended = true;
    if (end.headerHash !== this.#headerHash) return "the first line was changed";
    if (end.entries !== this.#entries || end.position !== (this.#last?.position ?? null))
      return `the end speaks of ${end.entries} entries up to ${end.position ?? "nothing"}; there are ${this.#entries} up to ${this.#last?.position ?? "nothing"}`;
    if (end.hash !== (this.#last?.hash ?? null)) return "the last entry is not the one that the end names";
    return undefined;
  }

  #fail(reason: string): Extract<ExportCheck, { readonly holds: false }> {
    this.#failure = { holds: false, line: this.#line, reason };
    return this.#failure;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
