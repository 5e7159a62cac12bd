/** Standard output belongs to the document alone, so progress goes to standard error. */
export class Progress {
  readonly #startedMs = performance.now();

  say(text: string): void {
    const seconds = ((performance.now() - this.#startedMs) / 1_000).toFixed(1);
    process.stderr.write(`[${seconds.padStart(6)} s] ${text}\n`);
  }
}
