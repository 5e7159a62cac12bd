import type { Mutant } from "../mutant.ts";

export const writes: readonly Mutant[] = [
  {
    name: "rights-are-not-asked",
    row: "all or nothing check",
    because: "a plan is begun with a credential that may only read",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/gathered-facts.ts",
        find: "return rights.write ? undefined :",
        replace: "return rights.write || !rights.write ? undefined :",
      },
    ],
  },
  {
    name: "refused-for-good-is-tried-again",
    row: "all or nothing check",
    because: "what the provider refused for good is tried again every cycle with the same inputs",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/all-or-nothing.ts",
        find: "(change) => facts.stoppedKeys.has(change.key)",
        replace: `(change) => facts.stoppedKeys.has(change.key) && change.key === ""`,
      },
    ],
  },
  {
    name: "fights-never-end",
    row: "fights",
    because: "a field that somebody keeps changing back is written forever",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/fights.ts",
        find: "export const FIGHT_ROUNDS = 3;",
        replace: "export const FIGHT_ROUNDS = 3_000;",
      },
    ],
  },
  {
    name: "fight-rounds-are-not-counted",
    row: "fights",
    because: "each write of a fought field starts the count again",
    foundBy: "simulation",
    patches: [{ file: "kernel/act.ts", find: "(before?.count ?? 0) + 1)", replace: "(before === undefined ? 0 : 1))" }],
  },
  {
    name: "suspect-observer-is-trusted",
    row: "too many at once",
    because: "when many subjects of an account go bad together, remediation goes on",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/too-many-at-once.ts",
        find: "if (suspect === undefined) return { pass: changes };",
        replace: "if (suspect === undefined || facts.nowMs > 0) return { pass: changes };",
      },
    ],
  },
  {
    name: "vanished-is-no-remediation",
    row: "too many at once",
    because: "making again what vanished everywhere at once does not count as remediation",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/too-many-at-once.ts",
        find: `return change.missing || removes(change) || change.action === "forget";`,
        replace: `return removes(change) || change.action === "forget";`,
      },
    ],
  },
  {
    name: "site-that-is-out-is-trusted",
    row: "too many at once",
    because: "everything of one site that goes bad together is made again, because the rest of the account is well",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/too-many-at-once.ts",
        find: "...(atSite === undefined ? [] :",
        replace: "...(atSite === undefined || atSite.bad > 0 ? [] :",
      },
    ],
  },
  {
    name: "site-counts-the-bad-alone",
    row: "too many at once",
    because: "whoever is well at a site is not counted, so that any three that went bad are the whole site",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/subjects.ts",
        find: "and s.site is not null group by 1",
        replace: "and s.site is not null and s.bad_since_ms is not null group by 1",
      },
    ],
  },
  {
    name: "one-bad-subject-is-too-many",
    row: "too many at once",
    because: "one subject that went bad alone makes the observer suspect, and nothing is ever healed",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/too-many-at-once.ts",
        find: "bad >= suspectAtLeast && bad",
        replace: "bad + suspectAtLeast >= suspectAtLeast && bad",
      },
    ],
  },
  {
    name: "act-under-a-hold",
    row: "holds",
    because: "the loop heals what an operation is in the middle of making, in that operation's name",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/hold.ts",
        find: "if (facts.hold === undefined) return",
        replace: `if (facts.hold?.operationId !== "") return`,
      },
      {
        file: "kernel/fence.ts",
        find: "actor: claim.actor,",
        replace: "actor: { ...claim.actor, operationId: (input as CycleInput).hold?.operationId },",
      },
    ],
  },
  {
    name: "hold-is-left-to-the-permit",
    row: "holds",
    because: "the guard does not see the hold and leaves it to the permit to refuse, call after call",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/hold.ts",
        find: "if (facts.hold === undefined) return",
        replace: `if (facts.hold?.operationId !== "") return`,
      },
    ],
  },
  {
    name: "digest-without-what-was-seen",
    row: "held changes",
    because: "an approval stands although the thing has changed since",
    foundBy: "simulation",
    patches: [{ file: "kernel/held-change.ts", find: `item.seenHash ?? "",`, replace: `"",` }],
  },
  {
    name: "digest-without-what-is-wanted",
    row: "held changes",
    because: "an approval stands although something else is wanted by now",
    foundBy: "simulation",
    patches: [{ file: "kernel/held-change.ts", find: `item.wantedHash ?? "",`, replace: `"",` }],
  },
  {
    name: "grant-by-key",
    row: "held changes",
    because: "an approval of one item passes whatever is planned under its key",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/held-change.ts",
        find: 'item.action,\n    item.key,\n    item.externalId ?? "",\n    item.wantedHash ?? "",\n    item.seenHash ?? "",',
        replace: "item.key,",
      },
    ],
  },
  {
    name: "split-replacement",
    row: "held changes",
    because: "a replacement is planned as a delete and a create of its own, which may happen one without the other",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/plan.ts",
        find: `found.changes.push(leaving(change(situation, { ...at, wanted }, replace ? "replace" : "update", differences)));`,
        replace: `found.changes.push(leaving(change(situation, { ...at, wanted: replace ? undefined : wanted }, replace ? "delete" : "update", differences)));`,
      },
    ],
  },
];
