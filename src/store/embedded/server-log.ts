import { closeSync, constants, copyFileSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { makeFolder } from "./folders.ts";
import { giveTo, type RunUser } from "./run-user.ts";

/** Twice this is the most that the log takes: the file and the one before it. */
const ROTATE_AT_BYTES = 8 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;

/**
 * The file PostgreSQL writes to. The server holds the file itself and not a pipe to us: a pipe would fill up and stop
 * the server while this process is suspended, and break when it dies. PostgreSQL's own log collector is not used: it
 * is one more process, and truncates by time only, so it bounds no log by size.
 */
export class ServerLog implements Disposable {
  readonly file: string;
  readonly descriptor: number;
  readonly #rotateAtBytes: number;
  readonly #timer: NodeJS.Timeout;

  constructor(dataDirectory: string, user: RunUser, rotateAtBytes = ROTATE_AT_BYTES) {
    const folder = path.join(dataDirectory, "log");
    makeFolder(folder, 0o700);
    this.file = path.join(folder, "postgres.log");
    // Appending makes truncation safe while the server writes: its next line starts at the new end.
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    this.descriptor = openSync(this.file, flags, 0o600);
    // Root may serve the data directory of an ordinary user, who must be able to open the log again.
    giveTo(this.file, user);
    this.#rotateAtBytes = rotateAtBytes;
    this.rotate();
    this.#timer = setInterval(() => this.rotate(), CHECK_EVERY_MS).unref();
  }

  /** Keeps one earlier file. A line written between the copy and the cut is lost; this is a log and not a record. */
  rotate(): void {
    if (this.sizeBytes() < this.#rotateAtBytes) return;
    try {
      copyFileSync(this.file, `${this.file}.1`);
    } catch {
      // A full disk: bounding the log matters more than keeping it.
    }
    ftruncateSync(this.descriptor, 0);
  }

  sizeBytes(): number {
    return fstatSync(this.descriptor).size;
  }

  /** What the server said since the log had that size, at most the last 64 KiB of it. */
  readSince(sizeBytes: number): string {
    const end = this.sizeBytes();
    const start = Math.max(sizeBytes <= end ? sizeBytes : 0, end - 64 * 1024);
    const buffer = Buffer.alloc(end - start);
    const count = readSync(this.descriptor, buffer, 0, buffer.length, start);
    return buffer.toString("utf8", 0, count);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    closeSync(this.descriptor);
  }
}

/** A sentence or two out of the server's complaints, without times and process ids. */
export function complaintsIn(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => /(?:^|\s)((?:FATAL|PANIC|ERROR|HINT|DETAIL): .*)$/.exec(line)?.[1] ?? "")
    .filter((line) => line !== "");
  const words = lines.length > 0 ? lines : text.trim().split("\n").slice(-3);
  const sentences = words.map((line) => line.trim().replace(/[^.!?]$/, "$&."));
  return sentences.slice(-6).join(" ").replaceAll(/\s+/g, " ");
}
