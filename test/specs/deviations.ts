/** A place where the world does otherwise than a specification says, because the provider says so elsewhere. */
export interface Deviation {
  readonly specification: "hetzner-cloud" | "ionos";
  /** The operation, as METHOD /path. */
  readonly operation: string;
  /** Where in the answer, as the validator names it. */
  readonly where: RegExp;
  readonly what: string;
  /** The line of the provider's documentation that says so. */
  readonly documented: string;
}

export const deviations: readonly Deviation[] = [];
