import type { SecretRandom } from "../../ports/secret-random.ts";
import { Problem } from "../problem.ts";
import { type Argon2Cost, argon2Form, argon2Text, matchesArgon2, parseArgon2 } from "./argon2-hash.ts";

const saltBytes = 16;
const defaultCost: Argon2Cost = { memoryKiB: 64 * 1024, passes: 3, lanes: 1 };

export interface PasswordOptions {
  readonly random: SecretRandom;
  readonly cost?: Argon2Cost | undefined;
  /** How many are computed at once: each takes its memory. */
  readonly atOnce?: number | undefined;
  /** How many may wait. More are sent away: whoever floods us must not fill the memory. */
  readonly waiting?: number | undefined;
}

/** Hashes and verifies passwords, a few at a time. */
export class Passwords {
  readonly #options: Required<{ readonly [Name in keyof PasswordOptions]: NonNullable<PasswordOptions[Name]> }>;
  readonly #nobody: string;
  #running = 0;
  readonly #queue: (() => void)[] = [];

  constructor(options: PasswordOptions) {
    const { random, cost = defaultCost, atOnce = 2, waiting = 32 } = options;
    this.#options = { random, cost, atOnce, waiting };
    // Nobody's hash: random, so no password matches it, and it takes as long to find that out as any other.
    this.#nobody = argon2Form(random.bytes(saltBytes), random.bytes(32), cost);
  }

  async hash(password: string): Promise<string> {
    const { random, cost } = this.#options;
    return this.#inTurn(() => argon2Text(password, random.bytes(saltBytes), cost));
  }

  /** Takes the same time whether there is a hash or not. */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    const matched = await this.#inTurn(() => matchesArgon2(password, parseArgon2(hash ?? this.#nobody)));
    return matched && hash !== undefined;
  }

  /** Whether a hash was made with other parameters than those of now. */
  isOutdated(hash: string): boolean {
    const { cost } = parseArgon2(hash);
    const now = this.#options.cost;
    return cost.memoryKiB !== now.memoryKiB || cost.passes !== now.passes || cost.lanes !== now.lanes;
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const { atOnce, waiting } = this.#options;
    if (this.#running >= atOnce) {
      if (this.#queue.length >= waiting)
        throw new Problem("UNAVAILABLE", "Too many people are signing in at this moment: try again in a few seconds", {
          retryAfterSeconds: 5,
        });
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      // Whoever waits takes over this place, so that nobody slips in between.
      const next = this.#queue.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
