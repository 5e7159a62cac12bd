import type { Mutant } from "../mutant.ts";

const starting = "kernel/operation-start.ts";

/** What must hold for operations that the guards did not let run: declared intent is done later, once, and never against a person. */
export const undone: readonly Mutant[] = [
  {
    name: "not-run-for-good",
    row: "mode",
    because: "what did not run in observe mode is not remembered, and stays undone when the mode is enforce",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/operation.ts",
        find: "const undone = pipeline.startsWith === undefined ? undefined : outcome.judgedBy;",
        replace: "const undone = pipeline.startsWith !== undefined ? undefined : outcome.judgedBy;",
      },
    ],
  },
  {
    name: "started-again-while-only-looking",
    row: "mode",
    because: "the loop starts what did not run without looking at the mode first",
    foundBy: "simulation",
    patches: [
      {
        file: starting,
        find: '.mode === "observe") return undefined;',
        replace: '.mode === "observe" && ids === undefined) return undefined;',
      },
    ],
  },
  {
    name: "started-again-though-nothing-changed",
    row: "engine",
    because: "what a guard refused is started again and again, although it can only be refused",
    foundBy: "simulation",
    patches: [
      {
        file: starting,
        find: "if (undone.generation === resource.generation && undone.policyVersion === policyVersion) return undefined;",
        replace:
          "if (undone.generation > resource.generation || undone.policyVersion > policyVersion) return undefined;",
      },
    ],
  },
  {
    name: "mode-that-changed-meanwhile-is-missed",
    row: "engine",
    because: "a mode that changed while the guards looked counts as the one they judged by",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/operations.ts",
        find: "case when s.policy_version = (d.undone ->> 'policyVersion')::bigint then s.policy_version + 1",
        replace: "case when s.policy_version >= (d.undone ->> 'policyVersion')::bigint then s.policy_version + 1",
      },
    ],
  },
  {
    name: "started-again-twice",
    row: "engine",
    because: "a cycle starts again what somebody has started meanwhile",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/settle.ts",
        find: "coalesce(s.undone ->> 'operationId' = q.instead, false)",
        replace: "coalesce(q.instead is not null, false)",
      },
    ],
  },
  {
    name: "started-again-after-a-cancel",
    row: "engine",
    because:
      "an operation that was cancelled is left undone like one that did not run, and the loop overrules the person",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/operations.ts",
        find: "case when m.state = 'not-run' and d.undone is not null",
        replace: "case when d.undone is not null",
      },
    ],
  },
  {
    name: "started-by-a-person-and-again",
    row: "engine",
    because:
      "what a person starts himself, and cancels, is still on record as undone, and the loop starts it once more",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/operation-intents.ts",
        find: "undone = case when s.undone ->> 'pipeline' = m.pipeline then null else s.undone end",
        replace: "undone = s.undone",
      },
    ],
  },
];
