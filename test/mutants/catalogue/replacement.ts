import type { Mutant } from "../mutant.ts";

const foundBy = "test/unit/kinds/host-replace.test.ts";

/** What is replaced by an operation of its own, and only as a person approved it. Hosts alone have that. */
export const replacement: readonly Mutant[] = [
  {
    name: "replacement-needs-nobody",
    row: "replacement",
    because: "both layers gone: a server is destroyed for another one without a person, and in nobody's name",
    foundBy,
    patches: [
      {
        file: "kernel/guards/replacement.ts",
        find: 'change.action === "replace" && !isGranted(change, facts)',
        replace: 'change.action === "replace" && change.key === "" && !isGranted(change, facts)',
      },
      {
        file: "kernel/start-replacement.ts",
        find: "const approver = facts.grants.get(digest)?.approver;",
        replace: 'const approver = facts.grants.get(digest)?.approver ?? "nobody";',
      },
    ],
  },
  {
    name: "replacement-of-another-declaration",
    row: "replacement",
    because: "the operation goes on although something else was declared since it was approved, and nobody is asked",
    foundBy,
    patches: [
      {
        file: "kernel/operation-admit.ts",
        find: "return told.success && told.data.generation === input.resource.generation;",
        replace: "return told.success;",
      },
    ],
  },
  {
    name: "replacement-of-nothing-that-is-gone",
    row: "replacement",
    because:
      "once the old thing is gone another declaration ends the operation, and there is neither the old nor the new",
    foundBy,
    patches: [
      {
        file: "kernel/operation-admit.ts",
        find: "if (input.memory.made?.some(({ externalId }) => externalId === replaces) !== true) return undefined;",
        replace: 'if (replaces === "") return undefined;',
      },
    ],
  },
  {
    name: "replacement-holds-everything-back",
    row: "replacement",
    because: "while a replacement waits for a person, nothing else of the resource is healed",
    foundBy,
    patches: [
      {
        file: "kernel/guards/replacement.ts",
        find: "return { pass: changes.filter((change) => !waiting.includes(change)), verdicts: [said], held };",
        replace: "return { pass: [], verdicts: [said], held };",
      },
    ],
  },
  {
    name: "replacement-started-by-hand",
    row: "replacement",
    because: "whoever may start operations replaces a server without anybody having approved that",
    foundBy: "test/api/host-replace.test.ts",
    patches: [
      {
        file: "control-api/resources/starting.ts",
        find: "if (replaces !== true) return;\n  const message = `${name} is started by approving",
        replace: "if (replaces !== undefined) return;\n  const message = `${name} is started by approving",
      },
    ],
  },
];
