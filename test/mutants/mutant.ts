/** One exact replacement in a file below `src`. The text must be there exactly once, so that the catalogue cannot rot. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** By its path from the root of the repository. */
export type TestFile = `test/${string}.test.ts`;

/**
 * A way to break the production code that must be noticed. Where two layers stand for the same rule, a mutant of one
 * of them changes nothing anybody could see: then its patches take out both, and `because` says so.
 */
export interface Mutant {
  readonly name: string;
  /** The guard of the design it weakens, `permit: CONDITION`, or `engine`. */
  readonly row: string;
  readonly patches: readonly Patch[];
  /** What goes wrong in the world with this change. */
  readonly because: string;
  /**
   * Who must notice: the simulation's referee, the same history told to PostgreSQL and to the in-memory twin, or, where only one
   * kind has what the rule is about, the tests of that kind.
   */
  readonly foundBy: "simulation" | "differential" | TestFile;
}

/** Tests have no seeds: they run the same way each time. */
export const TESTS_SEED = 1;

export function isTests(foundBy: Mutant["foundBy"]): foundBy is TestFile {
  return foundBy !== "simulation" && foundBy !== "differential";
}
