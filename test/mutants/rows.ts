/** The guards, by the names of their rules. Each has two mutants at least. */
export const guards: readonly string[] = [
  "mode",
  "freeze and pauses",
  "evidence",
  "quiet start",
  "complete reads only",
  "account identity",
  "empty desired",
  "derived emptiness",
  "delete budget",
  "change cap",
  "ownership",
  "protection",
  "all or nothing check",
  "fights",
  "too many at once",
  "replacement",
  "no wildcards",
  "holds",
  "held changes",
];

/** What must be true for a permit to be given. Each condition has one mutant at least. */
export const conditions: readonly string[] = [
  "subject is there",
  "lease holder",
  "lease epoch",
  "lease expiry",
  "inputs version",
  "source generations",
  "policy version",
  "pause levels",
  "hold",
  "other permit alive",
  "grant once",
].map((condition) => `permit: ${condition}`);

/** What neither a guard nor the permit stands for. */
export const engineRow = "engine";
