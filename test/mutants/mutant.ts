/** One exact replacement in a file below `src`. The text must be there exactly once, so that the catalogue cannot rot. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

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
  /** Who must notice: the simulation's referee, or the same history told to PostgreSQL and to the in-memory twin. */
  readonly foundBy: "simulation" | "differential";
}
