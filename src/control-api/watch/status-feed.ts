import type { ChangedStatus } from "../../ports/read-store.ts";

const everyMs = 1_000;
const widelyEveryMs = 30_000;
/** Transactions that commit out of order are this far apart at most in nearly all cases, and in all cases. */
const usualLagMs = 3_000;
export const longestLagMs = 120_000;
const pageSize = 1_000;

/** Where a feed looks: what changed behind a time, oldest first, and what time it is there. */
export interface ChangeSource<Row extends ChangedStatus> {
  since(after: { readonly changedAtMs: number; readonly subjectId: number }, limit: number): Promise<readonly Row[]>;
  nowMs(): Promise<number>;
}

/**
 * Finds the resources whose status changed. Status is not in the log, because most of it is nobody's business after
 * a minute; it is looked for by its time instead. Times are given before a commit, so every look goes back a little, and now
 * and then as far as any transaction can last; what was told already is known by its version.
 */
export class StatusFeed<Row extends ChangedStatus> {
  readonly #source: ChangeSource<Row>;
  readonly #told = new Map<number, { readonly version: number; readonly changedAtMs: number }>();
  #lookedAtMs: number | undefined;
  #widelyAtMs = 0;
  /** Store time up to which everything was found, but for stragglers. */
  #untilMs: number | undefined;

  /** From now on, or from a time of the store on. */
  constructor(source: ChangeSource<Row>, fromMs?: number) {
    this.#source = source;
    this.#untilMs = fromMs;
  }

  /** Resources with news, each once; nothing while it is too early to look again. */
  async changed(nowMs: number): Promise<readonly Row[]> {
    if (this.#lookedAtMs !== undefined && nowMs - this.#lookedAtMs < everyMs) return [];
    this.#lookedAtMs = nowMs;
    // Before the first look: whoever watches reads the state of then by himself.
    this.#untilMs ??= (await this.#source.nowMs()) - usualLagMs;
    const widely = nowMs - this.#widelyAtMs >= widelyEveryMs;
    if (widely) this.#widelyAtMs = nowMs;
    return await this.#since(this.#untilMs - (widely ? longestLagMs : usualLagMs));
  }

  async #since(sinceMs: number): Promise<readonly Row[]> {
    const found = new Map<string, Row>();
    let after = { changedAtMs: sinceMs, subjectId: 0 };
    for (let more = true; more; ) {
      const rows = await this.#source.since(after, pageSize);
      for (const row of rows) {
        const { uid, subjectId, version, changedAtMs } = row;
        // At version 0 nobody has looked yet, and that it exists is in the log.
        if (version > 0 && this.#told.get(subjectId)?.version !== version) found.set(uid, row);
        this.#told.set(subjectId, { version, changedAtMs });
        this.#untilMs = Math.max(this.#untilMs ?? 0, changedAtMs);
      }
      const last = rows.at(-1);
      if (last !== undefined) after = { changedAtMs: last.changedAtMs, subjectId: last.subjectId };
      more = rows.length === pageSize;
    }
    this.#forget();
    return [...found.values()];
  }

  #forget(): void {
    const beforeMs = (this.#untilMs ?? 0) - 2 * longestLagMs;
    for (const [subjectId, { changedAtMs }] of this.#told) if (changedAtMs < beforeMs) this.#told.delete(subjectId);
  }
}
