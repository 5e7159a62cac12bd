import type { Mutant } from "../mutant.ts";

export const desired: readonly Mutant[] = [
  {
    name: "empty-desired-is-a-wish",
    row: "empty desired",
    because: "a desired set that arrives empty deletes what there is",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/empty-desired.ts",
        find: "if (facts.wanted > 0 || facts.owned < 2 || facts.leaving !== undefined)",
        replace: "if (facts.wanted >= 0 || facts.owned < 2 || facts.leaving !== undefined)",
      },
    ],
  },
  {
    name: "inferred-emptiness-can-be-approved",
    row: "empty desired",
    because: "emptiness that nobody declared waits for approval instead of being refused",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/empty-desired.ts",
        find: "if (!declared) {",
        replace: "if (!declared && facts.owned < 0) {",
      },
    ],
  },
  {
    name: "declared-emptiness-needs-nobody",
    row: "empty desired",
    because: "emptiness made of declared deletes goes through without a person",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/empty-desired.ts",
        find: "deletes.filter((change) => !isGranted(change, facts))",
        replace: "deletes.filter((change) => !declared && !isGranted(change, facts))",
      },
    ],
  },
  {
    name: "unknown-is-empty",
    row: "derived emptiness",
    because: "a desired set that cannot be known counts as known and empty instead of as the last good one",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/desired-set.ts",
        find: "...revived([...lastGood.values()], input),\n      known: false,\n      whole: false,",
        replace: "...revived([], input),\n      known: true,\n      whole: true,",
      },
    ],
  },
  {
    name: "unknown-wipes-the-last-good-set",
    row: "derived emptiness",
    because: "while the desired set is unknown the last good one is forgotten, and what is missing of it stays missing",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/desired-set.ts",
        find: "verdicts: [said],\n      remember: undefined,",
        replace: "verdicts: [said],\n      remember: [],",
      },
      { file: "kernel/desired-set.ts", find: "      whole: false,", replace: "      whole: true," },
      { file: "kernel/desired-set.ts", find: "      known: false,", replace: "      known: true," },
    ],
  },
  {
    name: "broken-source-withdraws-its-item",
    row: "derived emptiness",
    because:
      "the item of a source that stopped parsing is no longer wanted, and that a source is missing keeps nothing from being deleted",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/desired-set.ts",
        find: "(stale.has(stored.key) && !declared.has(stored.key)) || isBroken(stored)",
        replace: "stale.has(stored.key) && !declared.has(stored.key) && !isBroken(stored)",
      },
      {
        file: "kernel/desired-set.ts",
        find: "whole: broken.every((resource) => hasLastGood(resource, lastGood))",
        replace: "whole: broken.every((resource) => hasLastGood(resource, lastGood)) || lastGood.size >= 0",
      },
    ],
  },
  {
    name: "stale-value-withdraws-its-item",
    row: "derived emptiness",
    because:
      "both layers gone: the item whose value comes from another system's status and went empty is no longer wanted",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/desired-set.ts",
        find: "(stale.has(stored.key) && !declared.has(stored.key)) || isBroken(stored)",
        replace: "isBroken(stored)",
      },
      {
        file: "kernel/desired-set.ts",
        find: "...staleWithoutValue(answer, lastGood)",
        replace: "...staleWithoutValue(answer, lastGood).slice(0, 0)",
      },
    ],
  },
  {
    name: "empty-key-is-an-item",
    row: "no wildcards",
    because: "an item without a name is wanted, made and deleted: to the provider an empty name means all",
    foundBy: "simulation",
    patches: [
      { file: "kernel/desired-set.ts", find: `if (key === "")`, replace: `if (key === "*")` },
      {
        file: "kernel/act.ts",
        find: `change.key === "" || change.seen?.externalId === ""`,
        replace: `change.key === "*"`,
      },
      { file: "kernel/look.ts", find: `if (item.key === "")`, replace: `if (item.key === "*")` },
    ],
  },
  {
    name: "empty-id-is-a-thing",
    row: "no wildcards",
    because: "an outside thing without an id is changed by that id: to the provider an empty id means all",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/act.ts",
        find: `change.key === "" || change.seen?.externalId === ""`,
        replace: `change.key === ""`,
      },
    ],
  },
];
