import type { Clock } from "../ports/clock.ts";

/** Few are in use at a time; whoever walks through very many begins anew now and then. */
const KEPT_AT_MOST = 1_000;

/**
 * What was found stays known for a moment, and those who ask for the same at the same time share one answer. That something is not
 * there is never remembered: the next request may have made it.
 */
export class ForAMoment<Value> {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #keptForMs: number;
  readonly #kept = new Map<string, { readonly untilMs: number; readonly value: Promise<Value | undefined> }>();

  constructor(clock: Pick<Clock, "monotonicMs">, keptForMs: number) {
    this.#clock = clock;
    this.#keptForMs = keptForMs;
  }

  async get(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#kept.get(key);
    if (known !== undefined && known.untilMs > nowMs) return await known.value;
    if (this.#kept.size >= KEPT_AT_MOST) this.#kept.clear();
    const entry = { untilMs: nowMs + this.#keptForMs, value: read() };
    this.#kept.set(key, entry);
    try {
      const value = await entry.value;
      if (value === undefined) this.#forget(key, entry);
      return value;
    } catch (thrown) {
      this.#forget(key, entry);
      throw thrown;
    }
  }

  #forget(key: string, entry: unknown): void {
    if (this.#kept.get(key) === entry) this.#kept.delete(key);
  }
}
