import { thrownMessage } from "../../kernel/errors.ts";

export type EmbeddedServerErrorCode =
  | "PLATFORM_PACKAGE_MISSING"
  | "BINARIES_UNUSABLE"
  | "RUN_USER_UNAVAILABLE"
  | "DATA_DIRECTORY_FOREIGN"
  | "DATA_DIRECTORY_IN_USE"
  | "DATA_DIRECTORY_UNUSABLE"
  | "DATA_DIRECTORY_MOVED"
  | "DATA_VERSION_MISMATCH"
  | "PASSWORD_LOST"
  | "PREVIOUS_SERVER_STUCK"
  | "INITDB_FAILED"
  | "START_FAILED"
  | "START_TIMED_OUT"
  | "DISK_FULL";

/** What a person can always do instead: it closes every message about a server that cannot run here at all. */
export const USE_EXTERNAL_SERVER = "or set DATABASE_URL to an external PostgreSQL 15 or newer";

/** A failure of the embedded server, worded for the person who started Setpoint: the message alone says what to do. */
export class EmbeddedServerError extends Error {
  readonly code: EmbeddedServerErrorCode;

  constructor(code: EmbeddedServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EmbeddedServerError";
    this.code = code;
  }
}

/** The `errno` name of a thrown file system or spawn error, such as `ENOENT`. */
export function errnoOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}

export function diskFullError(directory: string, cause?: unknown): EmbeddedServerError {
  return new EmbeddedServerError(
    "DISK_FULL",
    `No space is left on the disk that holds ${directory}. Free some space (the database needs at least 200 MB) or ` +
      "choose a data directory on another disk, then start again. Nothing stored so far is lost.",
    { cause },
  );
}

/** Converts what the file system threw while we prepared `directory`; our own errors pass through. */
export function toDirectoryError(directory: string, thrown: unknown): EmbeddedServerError {
  if (thrown instanceof EmbeddedServerError) return thrown;
  const errno = errnoOf(thrown);
  if (errno === "ENOSPC" || errno === "EDQUOT") return diskFullError(directory, thrown);
  return new EmbeddedServerError(
    "DATA_DIRECTORY_UNUSABLE",
    `The data directory ${directory} cannot be used (${thrownMessage(thrown)}). Make it writable for this user or choose ` +
      `another one, ${USE_EXTERNAL_SERVER}.`,
    { cause: thrown },
  );
}
