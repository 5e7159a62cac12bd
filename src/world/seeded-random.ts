import type { Random } from "../ports/random.ts";

/** Chance that can be saved: the same state gives the same draws (mulberry32). */
export class SeededRandom implements Random {
  #state: number;

  constructor(state: number) {
    this.#state = state | 0;
  }

  get state(): number {
    return this.#state;
  }

  set state(state: number) {
    this.#state = state | 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** That many letters and digits. */
  text(length: number, letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"): string {
    return Array.from({ length }, () => letters.charAt(Math.floor(this.next() * letters.length))).join("");
  }
}
