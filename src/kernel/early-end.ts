import type { WaitSignal } from "../ports/clock.ts";

/**
 * Ends waits before their time. Nearly every wait of ours is the limit of something that answers long before it, and an
 * `AbortController` makes an event and sends it round for each: several times what the wait itself costs.
 */
export class EarlyEnd implements WaitSignal {
  #listeners: (() => void)[] = [];
  #ended = false;

  get aborted(): boolean {
    return this.#ended;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** Those who wait go on. A second time does nothing. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
