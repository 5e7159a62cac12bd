import { fnv1a } from "../../src/kernel/hash.ts";
import type { Random } from "../../src/ports/random.ts";

/**
 * xoshiro128**: small, fast, and the same everywhere. Each component forks its own generator by name, so that one more
 * draw in one place does not shift the others.
 */
export class SeededRandom implements Random {
  readonly #seed: number;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    let mixed = this.#seed;
    // SplitMix32 spreads even small seeds over the whole state.
    const next = () => {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      let word = mixed;
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      return (word ^ (word >>> 15)) >>> 0;
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next() | 1;
  }

  fork(name: string): SeededRandom {
    return new SeededRandom((Math.imul(this.#seed, 0x85ebca6b) ^ fnv1a(name)) >>> 0);
  }

  /** A whole number in [0, 2^32). */
  bits(): number {
    const scrambled = Math.imul(this.#b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  next(): number {
    return this.bits() / 4_294_967_296;
  }

  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item | undefined {
    return items.length === 0 ? undefined : items[this.int(0, items.length - 1)];
  }

  /** A choice among at least one. */
  choose<Item>(first: Item, ...others: readonly Item[]): Item {
    const at = this.int(0, others.length);
    return at === 0 ? first : (others[at - 1] as Item);
  }
}
