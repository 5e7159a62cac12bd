import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { LogPoint } from "../../ports/read-store.ts";
import { chainHash } from "../../store/seal-chain.ts";
import { ExportChain, type ExportCheck, readLine } from "./export-chain.ts";
import { EntryReader } from "./export-line.ts";

export function headerHash(line: string): string {
  return createHash("sha256").update(line).digest("hex");
}

/**
 * Checks an export line by line, with nothing but the export: every hash is computed anew, each entry must follow on the
 * one before, and the end must be there and say what came. Given the head of the log, the last entry must be that one.
 */
export class ExportVerifier {
  readonly #head: LogPoint | undefined;
  readonly #reader = new EntryReader();
  readonly #chain = new ExportChain();

  constructor(head?: LogPoint) {
    this.#head = head;
  }

  /** False: it is broken already, and the rest need not be read. */
  take(line: string | Buffer): boolean {
    const chain = this.#chain;
    if (chain.failure !== undefined) return false;
    const bytes = typeof line === "string" ? Buffer.from(line, "utf8") : line;
    const { header } = chain;
    if (header !== undefined) {
      const read = this.#reader.read(bytes, header.scope === "platform" ? "platform" : "organization");
      if (read !== undefined) return chain.takeEntry(read);
    }
    // Bytes that are no text would be read as a letter that is.
    const text = isUtf8(bytes) ? bytes.toString("utf8") : undefined;
    const read = readLine(text, header === undefined);
    if (read.is === "odd") return chain.takeOdd(read.reason);
    if (read.is === "header") return chain.takeHeader(read.header, headerHash(text ?? ""));
    if (read.is === "end") return chain.takeEnd(read.end);
    return chain.takeEntry({ ...read.entry, computedHash: chainHash(read.entry) });
  }

  result(): ExportCheck {
    return this.#chain.result(this.#head);
  }
}
