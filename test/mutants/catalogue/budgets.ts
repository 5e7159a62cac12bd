import type { Mutant } from "../mutant.ts";

const formula = "Math.min(limit.count, Math.max(limit.atLeast, Math.floor((limit.percent * owned) / 100)))";

export const budgets: readonly Mutant[] = [
  {
    name: "percent-only",
    row: "delete budget",
    because: "only the share counts: a large set may lose more than the count, a small one nothing at all",
    foundBy: "simulation",
    patches: [{ file: "kernel/delete-budget.ts", find: formula, replace: "Math.floor((limit.percent * owned) / 100)" }],
  },
  {
    name: "count-only",
    row: "delete budget",
    because: "only the count counts: a set of nine may lose five",
    foundBy: "simulation",
    patches: [{ file: "kernel/delete-budget.ts", find: formula, replace: "Math.max(limit.count, owned * 0)" }],
  },
  {
    name: "nothing-is-charged",
    row: "delete budget",
    because: "deletes are made without reserving them at the account, the organization and the platform",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "if (charged && reserved === undefined && changes.some((change) => removesItself(scene, change))) {",
        replace: "if (charged && reserved === undefined && changes.some(removes) && changes.length === 0) {",
      },
    ],
  },
  {
    name: "charged-twice",
    row: "delete budget",
    because: "each delete is charged twice, so that others wait for nothing",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "ungranted: weightOf(ungranted),",
        replace: "ungranted: 2 * weightOf(ungranted),",
      },
    ],
  },
  {
    name: "grants-are-not-charged",
    row: "delete budget",
    because: "what a person approved is not charged, so that others go on as if nothing had gone",
    foundBy: "simulation",
    patches: [{ file: "kernel/carry-out.ts", find: "granted: weightOf(granted),", replace: "granted: 0," }],
  },
  {
    name: "replacements-are-free",
    row: "delete budget",
    because: "a replacement does not count as a delete",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/delete-budget.ts",
        find: "=> removes(change) && !isGranted(change, facts);",
        replace: `=> change.action === "delete" && !isGranted(change, facts);`,
      },
      {
        file: "kernel/carry-out.ts",
        find: "const removals = changes.filter((change) => removesItself(scene, change));",
        replace: `const removals = changes.filter((change) => change.action === "delete");`,
      },
    ],
  },
  {
    name: "mass-delete-is-trimmed",
    row: "delete budget",
    because: "above the budget as many deletes as it allows are made, instead of none",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/delete-budget.ts",
        find: "pass: changes.filter((change) => !ungranted.includes(change))",
        replace: "pass: changes.filter((change) => !ungranted.slice(allowed).includes(change))",
      },
    ],
  },
  {
    name: "shared-budgets-are-advice",
    row: "delete budget",
    because: "the refusal of account, organization or platform is recorded, and the deletes are made all the same",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "return { refused: new Set(ungranted), verdicts",
        replace: "return { refused: new Set(), verdicts",
      },
    ],
  },
  {
    name: "no-change-cap",
    row: "change cap",
    because: "one cycle changes everything at once, however much it is",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/change-cap.ts",
        find: "if (ordered.length <= cap) return { pass: ordered };",
        replace: "if (ordered.length >= 0) return { pass: ordered };",
      },
    ],
  },
  {
    name: "change-cap-cuts-nothing",
    row: "change cap",
    because: "the cap is said and not applied",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/change-cap.ts",
        find: "pass: ordered.slice(0, cap)",
        replace: "pass: ordered.slice(0, 2 * cap)",
      },
    ],
  },
  {
    name: "ceiling-raises-the-cap",
    row: "change cap",
    because: "of the limits of several scopes the widest wins instead of the strictest",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/policy.ts",
        find: "Math.min(limits.changesPerCycle, ceiling.changesPerCycle ?? limits.changesPerCycle)",
        replace: "Math.max(limits.changesPerCycle, ceiling.changesPerCycle ?? limits.changesPerCycle)",
      },
    ],
  },
];
