import type { Mutant } from "../mutant.ts";

export const evidence: readonly Mutant[] = [
  {
    name: "first-finding-is-enough",
    row: "evidence",
    because: "an inferred delete needs no second look",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/evidence.ts",
        find: "finding !== undefined && facts.observedFromMs >= finding.foundAtMs + facts.policy.limits.confirmAfterMs",
        replace: "finding !== undefined && facts.observedFromMs >= finding.foundAtMs",
      },
    ],
  },
  {
    name: "waiting-confirms",
    row: "evidence",
    because: "both layers gone: the second finding counts from now, on a look that began right after the first",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/evidence.ts",
        find: "finding !== undefined && facts.observedFromMs >= finding.foundAtMs",
        replace: "finding !== undefined && facts.nowMs >= finding.foundAtMs",
      },
      {
        file: "kernel/look.ts",
        find: "if (due.length > 0) return",
        replace: "if (due.length < 0) return",
      },
    ],
  },
  {
    name: "one-tombstone-declares",
    row: "evidence",
    because: "an item of several sources counts as deleted by somebody when one of them has a tombstone",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/plan.ts",
        find: "sources.every((uid) => situation.tombstones.has(uid))",
        replace: "sources.some((uid) => situation.tombstones.has(uid))",
      },
    ],
  },
  {
    name: "no-last-read",
    row: "evidence",
    because: "a thing is deleted without reading it right before",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "if (removes(change)) return scene.loop.removesOnlyAsSeen !== true;",
        replace: "if (removes(change)) return false;",
      },
    ],
  },
  {
    name: "findings-are-lost",
    row: "evidence",
    because: "the first finding is not stored: every look starts over and nothing inferred is ever deleted",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/cycle.ts",
        find: "{ ...memory, findings: admission.findings }",
        replace: "{ ...memory, findings: [] }",
      },
    ],
  },
  {
    name: "changed-since-the-look",
    row: "evidence",
    because: "what somebody changed after the look its delete was decided on is deleted all the same",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/carry-out.ts",
        find: "if (stable(now) !== stable(change.seen))",
        replace: "if (stable(now) !== stable(now))",
      },
    ],
  },
];
