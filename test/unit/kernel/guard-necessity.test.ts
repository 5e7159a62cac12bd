import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admit, GUARDS } from "../../../src/kernel/admit.ts";
import type { Facts, Guard } from "../../../src/kernel/facts.ts";
import { accountIdentityGuard } from "../../../src/kernel/guards/account-identity.ts";
import { allOrNothingGuard } from "../../../src/kernel/guards/all-or-nothing.ts";
import { changeCapGuard } from "../../../src/kernel/guards/change-cap.ts";
import { completeReadsGuard } from "../../../src/kernel/guards/complete-reads.ts";
import { deleteBudgetGuard } from "../../../src/kernel/guards/delete-budget.ts";
import { emptyDesiredGuard } from "../../../src/kernel/guards/empty-desired.ts";
import { evidenceGuard } from "../../../src/kernel/guards/evidence.ts";
import { fightsGuard } from "../../../src/kernel/guards/fights.ts";
import { holdGuard } from "../../../src/kernel/guards/hold.ts";
import { modeGuard } from "../../../src/kernel/guards/mode.ts";
import { ownershipGuard } from "../../../src/kernel/guards/ownership.ts";
import { pauseGuard } from "../../../src/kernel/guards/pause.ts";
import { protectionGuard } from "../../../src/kernel/guards/protection.ts";
import { quietStartGuard } from "../../../src/kernel/guards/quiet-start.ts";
import { replacementGuard } from "../../../src/kernel/guards/replacement.ts";
import { tooManyAtOnceGuard } from "../../../src/kernel/guards/too-many-at-once.ts";
import { digestOf } from "../../../src/kernel/hash.ts";
import type { GuardName } from "../../../src/ports/records.ts";
import { factsOf, foundBefore, losing, pauseOf, policyWith, through } from "../../support/guard-facts.ts";
import { nowMs, ownedItem, seenItem, situationOf, wantedItem } from "../../support/situations.ts";

/** One of ten items is wanted no more, and that was found long enough ago. */
const oneLess = losing(10, 1);
const deleting = factsOf(oneLess, { findings: foundBefore(oneLess) });
const updating = factsOf(
  situationOf({
    wanted: [wantedItem("k1", { value: "y", size: 1 })],
    seen: [seenItem("k1")],
    owned: [ownedItem("k1")],
  }),
);
const wide = policyWith({ deletesPerCycle: { count: 100, percent: 100, atLeast: 100 } });
const allGone = losing(3, 3);
const fought = [{ key: "k1", field: "/value", wantedHash: digestOf("y"), seenHash: digestOf("x"), count: 3 }];

interface Case {
  readonly name: GuardName;
  readonly guard: Guard;
  readonly facts: Facts;
  /** What this guard alone keeps back. */
  readonly keeps: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: "account-identity",
    guard: accountIdentityGuard,
    facts: { ...updating, accountProblem: { reason: "answers as another account", reclaim: undefined, numbers: {} } },
    keeps: ["update k1"],
  },
  {
    name: "hold",
    guard: holdGuard,
    facts: { ...updating, hold: { operationId: "operation-1", sinceMs: 1, reason: "creates a host" } },
    keeps: ["update k1"],
  },
  {
    name: "complete-reads",
    guard: completeReadsGuard,
    facts: { ...deleting, completeness: "partial" },
    keeps: ["delete item-009"],
  },
  {
    name: "empty-desired",
    guard: emptyDesiredGuard,
    facts: factsOf(allGone, { policy: wide, findings: foundBefore(allGone) }),
    keeps: ["delete item-000", "delete item-001", "delete item-002"],
  },
  {
    name: "quiet-start",
    guard: quietStartGuard,
    facts: { ...deleting, quietSinceMs: nowMs + 1 },
    keeps: ["delete item-009"],
  },
  {
    name: "ownership",
    guard: ownershipGuard,
    facts: factsOf(situationOf({ wanted: [wantedItem("k1")], seen: [seenItem("k1")] })),
    keeps: ["takeover k1"],
  },
  {
    name: "replacement",
    guard: replacementGuard,
    facts: {
      ...factsOf(
        situationOf({
          wanted: [wantedItem("k1", { value: "x", size: 2 })],
          seen: [seenItem("k1")],
          owned: [ownedItem("k1")],
        }),
      ),
      replacement: { pipeline: "thing.replace", loses: "its disk" },
    },
    keeps: ["replace k1"],
  },
  {
    name: "protection",
    guard: protectionGuard,
    facts: { ...deleting, policy: { ...deleting.policy, protectedBy: "project/p" } },
    keeps: ["delete item-009"],
  },
  { name: "evidence", guard: evidenceGuard, facts: factsOf(oneLess), keeps: ["delete item-009"] },
  {
    name: "all-or-nothing",
    guard: allOrNothingGuard,
    facts: { ...updating, rightsProblem: "the credential may only read" },
    keeps: ["update k1"],
  },
  { name: "fights", guard: fightsGuard, facts: { ...updating, fights: fought }, keeps: ["update k1"] },
  {
    name: "too-many-at-once",
    guard: tooManyAtOnceGuard,
    facts: { ...deleting, health: { subjects: 5, bad: 3 } },
    keeps: ["delete item-009"],
  },
  {
    name: "delete-budget",
    guard: deleteBudgetGuard,
    facts: factsOf(losing(9, 2), { findings: foundBefore(losing(9, 2)) }),
    keeps: ["delete item-007", "delete item-008"],
  },
  {
    name: "mode",
    guard: modeGuard,
    facts: { ...updating, policy: { ...updating.policy, mode: "propose", modeFrom: "platform" } },
    keeps: ["update k1"],
  },
  { name: "pause", guard: pauseGuard, facts: { ...updating, pauses: [pauseOf("writes")] }, keeps: ["update k1"] },
  {
    name: "change-cap",
    guard: changeCapGuard,
    facts: factsOf(situationOf({ wanted: [wantedItem("k1"), wantedItem("k2")] }), {
      policy: policyWith({ changesPerCycle: 1 }),
    }),
    keeps: ["create k2"],
  },
];

describe("each guard keeps back what no other one would", () => {
  for (const { name, guard, facts, keeps } of cases) {
    test(name, () => {
      const without = through(
        facts,
        GUARDS.filter((other) => other !== guard),
      );
      assert.deepEqual(
        without.filter((change) => keeps.includes(change)),
        keeps,
      );
      assert.deepEqual(
        through(facts).filter((change) => keeps.includes(change)),
        [],
      );
      const said = admit(facts).verdicts.find((verdict) => verdict.guard === name);
      assert.ok(said !== undefined && said.answer !== "pass");
      assert.deepEqual(
        said.keys.toSorted(),
        keeps.map((change) => change.split(" ").at(-1) ?? ""),
      );
    });
  }

  test("every guard of the list has its case", () => {
    assert.deepEqual(new Set(cases.map(({ guard }) => guard)), new Set(GUARDS));
  });
});
