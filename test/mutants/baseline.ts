import { huntOn } from "./hunt.ts";
import type { Mutant } from "./mutant.ts";

type Run = Pick<Mutant, "foundBy"> & { readonly seed: number };

/** The unchanged source on the same seeds: what is found there too says nothing about a mutant. */
export class Baseline {
  readonly #src: string;
  readonly #steps: number;
  readonly #clean = new Set<string>();

  constructor(src: string, steps: number) {
    this.#src = src;
    this.#steps = steps;
  }

  async clear(runs: readonly Run[]): Promise<void> {
    await Promise.all([...new Set(runs.map(({ foundBy }) => foundBy))].map((foundBy) => this.#clear(foundBy, runs)));
  }

  async #clear(foundBy: Mutant["foundBy"], runs: readonly Run[]): Promise<void> {
    const asked = runs.filter((run) => run.foundBy === foundBy).map(({ seed }) => seed);
    const seeds = [...new Set(asked)].filter((seed) => !this.#clean.has(`${foundBy} ${seed}`));
    if (seeds.length === 0) return;
    const { hit } = await huntOn(foundBy, this.#src, this.#steps, seeds);
    if (hit !== undefined) {
      throw new Error(`The unchanged source breaks a rule too, at seed ${hit.seed} of ${foundBy}:\n${hit.message}`);
    }
    for (const seed of seeds) this.#clean.add(`${foundBy} ${seed}`);
  }
}
