import type { Mutant } from "../mutant.ts";

export const ownership: readonly Mutant[] = [
  {
    name: "adopt-strangers",
    row: "ownership",
    because: "what somebody else made under a name we want is taken for ours without asking",
    foundBy: "simulation",
    patches: [
      { file: "kernel/plan.ts", find: `  return { is: "stranger" };\n}`, replace: `  return { is: "adoptable" };\n}` },
    ],
  },
  {
    name: "delete-strangers",
    row: "ownership",
    because: "things nobody declared and we do not own are deleted",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/plan.ts",
        find: "for (const key of claimed) if",
        replace: "for (const key of winners.keys()) if",
      },
      {
        file: "kernel/plan.ts",
        find: `else found.changes.push(change(situation, at, "forget"));
    return;`,
        replace: `else found.changes.push(change(situation, at, "delete"));
    return;`,
      },
      {
        file: "kernel/carry-out.ts",
        find: `if (scene.loop.marks === true && marker === "none")`,
        replace: `if (scene.loop.marks === true && marker === undefined)`,
      },
    ],
  },
  {
    name: "takeover-without-asking",
    row: "ownership",
    because: "what exists already and is not ours is taken over without approval",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/ownership.ts",
        find: `change.action === "takeover" && !isGranted(change, facts)`,
        replace: `change.action === "takeover" && facts.nowMs < 0`,
      },
    ],
  },
  {
    name: "unmarked-is-deleted",
    row: "ownership",
    because: "all three layers gone: what lost our marker is deleted before the marker was put back and seen again",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/plan.ts",
        find: "if (at.wanted === undefined && (!unmarked || orphaned)) {",
        replace: "if (at.wanted === undefined) {",
      },
      {
        file: "kernel/guards/ownership.ts",
        find: `change.action === "delete" && markerMissing.includes(change.key)`,
        replace: `change.action === "create" && markerMissing.includes(change.key)`,
      },
      {
        file: "kernel/carry-out.ts",
        find: `if (scene.loop.marks === true && marker === "none")`,
        replace: `if (scene.loop.marks === true && marker === undefined)`,
      },
    ],
  },
  {
    name: "foreign-marker-is-ours",
    row: "ownership",
    because: "another tool's marker on a thing we recorded is ignored, in the plan and in the read before its delete",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/plan.ts",
        find: `if (typeof marker === "object" && "foreign" in marker) return`,
        replace: `if (typeof marker === "object" && "foreign" in marker && at.owned === undefined) return`,
      },
      {
        file: "kernel/plan.ts",
        find: `if (typeof marker === "object" && !isOurs(marker, situation.marker)) {`,
        replace: `if (typeof marker === "object" && !("foreign" in marker) && !isOurs(marker, situation.marker)) {`,
      },
      {
        file: "kernel/carry-out.ts",
        find: `if (foreign) return verdict(`,
        replace: `if (foreign && now.key === "") return verdict(`,
      },
    ],
  },
  {
    name: "nobody-claims",
    row: "ownership",
    because: "what is made or adopted is not claimed, so that two resources own one thing and take turns",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/act.ts",
        find: "const claims = called.ok ? changes.flatMap((change) => claimOf(change, externalIdsOf(called))) : [];",
        replace: "const claims: ReturnType<typeof claimOf> = [];",
      },
    ],
  },
  {
    name: "protected-by-policy-goes",
    row: "protection",
    because: "the protection of a scope or a resource stops no delete",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/protection.ts",
        find: "if (facts.policy.protectedBy !== undefined) return",
        replace: `if (facts.policy.protectedBy === "") return`,
      },
      {
        file: "kernel/guards/protection.ts",
        find: "if (change.owned?.protect === true) return",
        replace: `if (change.key === "") return`,
      },
    ],
  },
  {
    name: "locked-goes",
    row: "protection",
    because: "both layers gone: a provider-side lock stops neither the plan nor the delete right before it is made",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/guards/protection.ts",
        find: "if (change.seen?.lockedBy !== undefined) return",
        replace: `if (change.seen?.lockedBy === "") return`,
      },
      { file: "kernel/carry-out.ts", find: "if (now.lockedBy !== undefined)", replace: `if (now.lockedBy === "")` },
    ],
  },
  {
    name: "only-the-resource-protects",
    row: "protection",
    because: "the protection that a scope above asks for is not heard",
    foundBy: "simulation",
    patches: [
      {
        file: "kernel/policy.ts",
        find: "protectedBy: policies.find((policy) => policy.protect === true)?.scope",
        replace: "protectedBy: policies.slice(-1).find((policy) => policy.protect === true)?.scope",
      },
    ],
  },
];
