/** A backup that cannot be made, read or restored. The message says what to do. */
export class BackupError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "BackupError";
  }
}
