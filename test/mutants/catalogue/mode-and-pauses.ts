import type { Mutant } from "../mutant.ts";

export const modeAndPauses: readonly Mutant[] = [
  {
    name: "observe-acts",
    row: "mode",
    because: "observe mode writes like enforce",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/mode.ts",
        find: `if (mode === "enforce" || changes.length === 0)`,
        replace: `if (mode === "enforce" || facts.policy.mode === "observe" || changes.length === 0)`,
      },
    ],
  },
  {
    name: "propose-lets-updates-through",
    row: "mode",
    because: "in propose mode updates do not wait for a person",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/mode.ts",
        find: "(change) => !isBookkeeping(change) && !isGranted(change, facts)",
        replace: `(change) => change.action !== "update" && !isBookkeeping(change) && !isGranted(change, facts)`,
      },
    ],
  },
  {
    name: "lower-scope-loosens-the-mode",
    row: "mode",
    because: "the lowest scope decides the mode, also when it is looser than the one above",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/policy.ts",
        find: "policy.mode !== undefined && STRICTNESS[policy.mode] < STRICTNESS[mode]",
        replace: "policy.mode !== undefined",
      },
    ],
  },
  {
    name: "forget-the-pause",
    row: "freeze and pauses",
    because: "the guard lets paused changes through and leaves it to the permit to refuse them, call after call",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/pause.ts",
        find: "if (covering.length === 0) return { pass: changes };",
        replace: "if (covering.length >= 0) return { pass: changes };",
      },
    ],
  },
  {
    name: "pause-of-deletes-is-nothing",
    row: "freeze and pauses",
    because: "a pause of deletes stops no delete: neither the guard nor the permit is told that something goes",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/pause.ts",
        find: "(change) => whole !== undefined || removes(change)",
        replace: "(_change) => whole !== undefined",
      },
      { file: "kernel/act.ts", find: "deletes: changes.some(removes)", replace: "deletes: false" },
    ],
  },
  {
    name: "paused-refusal-is-ignored",
    row: "freeze and pauses",
    because: "a pause that came after the look is refused by the permit, and the call is made all the same",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/fence.ts",
        find: "if (!answer.granted) return answer;",
        replace: `if (!answer.granted && answer.refusal !== "paused") return answer;`,
      },
    ],
  },
  {
    name: "pause-of-everything-still-looks",
    row: "freeze and pauses",
    because: "a pause of everything stops writes only: looks go on and their results are recorded",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/cycle.ts",
        find: `loaded.pauses.find((entry) => entry.level === "all")`,
        replace: `loaded.pauses.find((entry) => entry.level === "all" && entry.scope === "")`,
      },
    ],
  },
];
