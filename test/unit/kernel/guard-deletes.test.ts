import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admit } from "../../../src/kernel/admit.ts";
import type { Facts } from "../../../src/kernel/facts.ts";
import { reservationVerdict } from "../../../src/kernel/guards/delete-budget.ts";
import type { GuardName } from "../../../src/ports/records.ts";
import { factsOf, foundBefore, grantsFor, losing, policyWith, through } from "../../support/guard-facts.ts";
import { nowMs, ownedItem, seenItem, situationOf, wantedItem } from "../../support/situations.ts";

const said = (facts: Facts, guard: GuardName) => admit(facts).verdicts.find((verdict) => verdict.guard === guard);
const heldBy = (facts: Facts, guard: GuardName) =>
  admit(facts)
    .held.filter((group) => group.guard === guard)
    .flatMap((group) => group.items.map((item) => item.key));
/** Everything a delete needs but what is under test: found before, or declared. */
const lossOf = (count: number, lost: number, parts: Partial<Facts> = {}) => {
  const situation = losing(count, lost);
  return factsOf(situation, { findings: foundBefore(situation), ...parts });
};
const deletesIn = (facts: Facts) => through(facts).filter((change) => change.startsWith("delete")).length;
const wide = policyWith({ deletesPerCycle: { count: 1_000, percent: 100, atLeast: 1_000 }, changesPerCycle: 1_000 });

describe("empty desired", () => {
  test("none or one item of ours may go like any other", () => {
    assert.deepEqual(through(factsOf(losing(0, 0))), []);
    assert.deepEqual(through(lossOf(1, 1)), ["delete item-000"]);
  });

  test("two or more and nobody declared it: the whole plan is refused", () => {
    const facts = lossOf(2, 2, { policy: wide });
    assert.deepEqual(through(facts), []);
    assert.deepEqual(said(facts, "empty-desired")?.numbers, { owned: 2, wanted: 0 });
    assert.equal(said(facts, "empty-desired")?.answer, "refuse");
    assert.deepEqual(admit(facts).held, []);
  });

  test("made of declared deletes it is held with its count, and an approval lets it through", () => {
    const situation = losing(3, 3, { declared: true });
    const facts = factsOf(situation, { policy: wide });
    assert.deepEqual(heldBy(facts, "empty-desired"), ["item-000", "item-001", "item-002"]);
    assert.match(said(facts, "empty-desired")?.reason ?? "", /all 3 items/);
    assert.equal(deletesIn({ ...facts, grants: grantsFor(facts.plan.changes) }), 3);
    assert.equal(deletesIn({ ...facts, confirmed: new Set(["item-000", "item-001", "item-002"]) }), 3);
  });

  test("partly declared is not declared", () => {
    const situation = { ...losing(3, 3, { declared: true }), tombstones: new Set(["source-item-000"]) };
    const facts = factsOf(situation, { policy: wide, findings: foundBefore(situation) });
    assert.equal(said(facts, "empty-desired")?.answer, "refuse");
    assert.deepEqual(through(facts), []);
  });

  test("a spec that says zero is held, not refused", () => {
    const facts = lossOf(4, 4, { policy: wide, zeroDeclared: true });
    assert.equal(said(facts, "empty-desired")?.answer, "hold");
    assert.equal(heldBy(facts, "empty-desired").length, 4);
  });

  test("a subject whose own resource is deleted is leaving, not empty", () => {
    const leaving = { author: { name: "ada", type: "person" as const }, atMs: 0, orphan: false };
    const facts = factsOf({ ...losing(3, 3), leaving }, { policy: wide });
    assert.equal(said(facts, "empty-desired"), undefined);
    assert.equal(deletesIn(facts), 3);
  });

  test("declared deletes of things that had vanished outside are simply forgotten", () => {
    const gone = { ...losing(3, 3, { declared: true }), seen: [] };
    assert.deepEqual(through(factsOf(gone)), ["forget item-000", "forget item-001", "forget item-002"]);
    assert.deepEqual(through(factsOf({ ...losing(3, 3), seen: [] })), []);
  });
});

describe("delete budget", () => {
  test("within the budget deletes pass, above it every one of the plan is held and none trimmed", () => {
    const table: readonly (readonly [owned: number, lost: number, allowed: number])[] = [
      [2, 1, 1],
      [4, 2, 1],
      [9, 1, 1],
      [9, 8, 1],
      [10, 2, 2],
      [10, 3, 2],
      [25, 5, 5],
      [25, 6, 5],
      [100, 5, 5],
      [100, 99, 5],
      [1_000, 6, 5],
    ];
    for (const [owned, lost, allowed] of table) {
      const facts = lossOf(owned, lost);
      assert.equal(deletesIn(facts), lost <= allowed ? lost : 0, `${lost} of ${owned}`);
      assert.equal(heldBy(facts, "delete-budget").length, lost <= allowed ? 0 : lost, `${lost} of ${owned}`);
      const { numbers } = said(facts, "delete-budget") ?? {};
      if (lost > allowed) assert.deepEqual(numbers, { asked: lost, allowed, owned, count: 5, percent: 20, atLeast: 1 });
    }
  });

  test("the three numbers of a limit each do their part", () => {
    const passes = (count: number, percent: number, atLeast: number, lost: number) =>
      deletesIn(lossOf(20, lost, { policy: policyWith({ deletesPerCycle: { count, percent, atLeast } }) })) === lost;
    assert.deepEqual([passes(100, 25, 0, 5), passes(100, 25, 0, 6)], [true, false]);
    assert.deepEqual([passes(100, 0, 3, 3), passes(100, 0, 3, 4)], [true, false]);
    assert.deepEqual([passes(2, 100, 100, 2), passes(2, 100, 100, 3)], [true, false]);
    assert.deepEqual([passes(0, 100, 100, 1), passes(100, 4, 0, 1)], [false, false]);
  });

  test("a replacement counts as a delete and is one item, never split", () => {
    const names = ["k1", "k2", "k3"];
    const facts = factsOf(
      situationOf({
        wanted: names.map((key) => wantedItem(key, { value: "x", size: 2 })),
        seen: names.map((key) => seenItem(key)),
        owned: names.map((key) => ownedItem(key)),
      }),
    );
    assert.deepEqual(through(facts), []);
    const [held] = admit(facts).held;
    assert.deepEqual(
      held?.items.map(({ action, key }) => `${action} ${key}`),
      names.map((key) => `replace ${key}`),
    );
    assert.deepEqual(
      through({ ...facts, grants: grantsFor(facts.plan.changes) }),
      names.map((key) => `replace ${key}`),
    );
  });

  test("a delete that takes contained items with it counts for each of them", () => {
    const situation = losing(100, 1, { contains: 5 });
    const facts = factsOf(situation, { findings: foundBefore(situation) });
    assert.deepEqual([deletesIn(facts), said(facts, "delete-budget")?.numbers.asked], [0, 6]);
    const lighter = losing(100, 1, { contains: 4 });
    assert.equal(deletesIn(factsOf(lighter, { findings: foundBefore(lighter) })), 1);
  });

  test("what is granted passes and leaves the budget to the others", () => {
    const facts = lossOf(100, 8);
    const [first, second, third, ...others] = facts.plan.changes;
    assert.ok(first && second && third);
    assert.equal(deletesIn({ ...facts, grants: grantsFor([first, second, third]) }), 8);
    assert.deepEqual(through({ ...facts, grants: grantsFor([first]) }), [`delete ${first.key}`]);
    const changed = grantsFor(others.map((change) => ({ ...change, digest: `${change.digest} of before` })));
    assert.equal(deletesIn({ ...facts, grants: changed }), 0);
  });

  test("what waits for its second look counts, so that waiting longer frees nothing", () => {
    const situation = losing(100, 8);
    const some = foundBefore(situation).slice(-3);
    const facts = factsOf(situation, { findings: some });
    assert.deepEqual([deletesIn(facts), heldBy(facts, "delete-budget").length], [0, 3]);
  });

  test("creates and updates that depend on no delete go on", () => {
    const situation = losing(9, 8);
    const facts = factsOf(
      { ...situation, wanted: [...situation.wanted, wantedItem("new")] },
      { findings: foundBefore(situation) },
    );
    assert.deepEqual(through(facts), ["create new"]);
  });

  test("the shared budgets name the level that refuses, with its numbers", () => {
    const { changes } = lossOf(10, 2).plan;
    const levels = [
      { level: "account" as const, used: 1, owned: 100, allowed: 20 },
      { level: "organization" as const, used: 4, owned: 25, allowed: 5 },
      { level: "platform" as const, used: 10, owned: 25, allowed: 10 },
    ];
    const refused = reservationVerdict(changes, { current: true, ungrantedPass: false, levels });
    assert.equal(refused?.held.level, "organization");
    assert.deepEqual(refused?.verdict.numbers, { asked: 2, used: 4, allowed: 5, owned: 25 });
    assert.deepEqual(
      refused?.held.items.map(({ key }) => key),
      ["item-008", "item-009"],
    );
    assert.equal(reservationVerdict(changes, { current: true, ungrantedPass: true, levels }), undefined);
  });
});

describe("evidence", () => {
  const situation = losing(10, 1);
  const at = (foundAgoMs: number | undefined, parts: Partial<Facts> = {}) =>
    factsOf(situation, { findings: foundAgoMs === undefined ? [] : foundBefore(situation, foundAgoMs), ...parts });

  test("a declared delete needs one complete look", () => {
    assert.equal(deletesIn(factsOf(losing(10, 1, { declared: true }))), 1);
  });

  test("an inferred one needs two, at least the wait apart; the first finding is remembered", () => {
    const first = admit(at(undefined));
    assert.deepEqual(first.admitted, []);
    assert.deepEqual(first.findings, [{ key: "item-009", externalId: "id-item-009", foundAtMs: nowMs }]);
    assert.equal(first.waitMs, 60_000);
    const tooSoon = admit(at(59_999));
    assert.deepEqual([tooSoon.admitted, tooSoon.waitMs], [[], 1]);
    assert.equal(tooSoon.findings[0]?.foundAtMs, nowMs - 59_999);
    assert.equal(deletesIn(at(60_000)), 1);
    assert.equal(deletesIn(at(60_000, { policy: policyWith({ confirmAfterMs: 60_001 }) })), 0);
  });

  test("the second look must have begun after the wait, however late it is judged", () => {
    assert.equal(deletesIn(at(60_000, { observedFromMs: nowMs - 1 })), 0);
  });

  test("a finding speaks of one outside thing, not of whatever has its name", () => {
    const other = foundBefore(situation).map((finding) => ({ ...finding, externalId: "an earlier thing" }));
    assert.equal(deletesIn(factsOf(situation, { findings: other })), 0);
  });

  test("while the desired set is not known, nothing is deleted: another source may declare the item by now", () => {
    const facts = at(90_000, { desiredKnown: false });
    assert.equal(deletesIn(facts), 0);
    assert.equal(admit(facts).findings[0]?.foundAtMs, nowMs - 90_000);
    assert.equal(deletesIn(factsOf(losing(10, 1, { declared: true }), { desiredKnown: false })), 0);
    assert.equal(deletesIn(factsOf(losing(10, 1, { declared: true }), { desiredKnown: true })), 1);
  });

  test("a look that shows less than everything takes nothing back of what was found before", () => {
    for (const parts of [{ completeness: "partial" as const }, { quietSinceMs: nowMs + 1 }]) {
      const { findings, admitted } = admit(at(90_000, parts));
      assert.deepEqual(admitted, []);
      assert.deepEqual(
        findings.map(({ key, foundAtMs }) => [key, foundAtMs]),
        [["item-009", nowMs - 90_000]],
      );
      assert.deepEqual(admit(at(undefined, parts)).findings, []);
    }
    const wantedAgain = admit(factsOf(losing(10, 0), { findings: foundBefore(situation, 90_000) }));
    assert.deepEqual(wantedAgain.findings, []);
  });
});

test("quiet start: no delete, replacement or remediation rests on a look older than the lease", () => {
  const situation = losing(10, 1);
  const missing = { ...situation, seen: situation.seen.slice(1), wanted: [...situation.wanted, wantedItem("new")] };
  const quiet = factsOf(missing, { findings: foundBefore(situation), quietSinceMs: nowMs + 1 });
  assert.deepEqual(through(quiet), ["create new"]);
  assert.deepEqual(said(quiet, "quiet-start")?.numbers, { observedFromMs: nowMs, leaseFromMs: nowMs + 1 });
  const looked = ["create item-000", "create new", "delete item-009"];
  assert.deepEqual(through({ ...quiet, quietSinceMs: nowMs }), looked);
  assert.deepEqual(through({ ...quiet, quietSinceMs: undefined }), looked);
});

test("protection: by policy, by the record of the last look, by a lock at the provider", () => {
  const situation = losing(10, 1);
  const findings = foundBefore(situation);
  const [last] = situation.seen.slice(-1);
  const locked = {
    ...situation,
    seen: [...situation.seen.slice(0, -1), { ...(last ?? seenItem("x")), lockedBy: "protect" }],
  };
  const remembered = { ...situation, owned: situation.owned.map((item) => ({ ...item, protect: true })) };
  const byPolicy = factsOf(situation, { findings, policy: { ...wide, protectedBy: "project/p" } });
  for (const [facts, reason] of [
    [factsOf(locked, { findings }), /provider lock \(protect\)/],
    [factsOf(remembered, { findings }), /record of its last look/],
    [byPolicy, /policy of project\/p/],
  ] as const) {
    assert.deepEqual(through(facts), []);
    assert.match(said(facts, "protection")?.reason ?? "", reason);
  }
  const asked = { ...byPolicy, grants: grantsFor(byPolicy.plan.changes) };
  assert.deepEqual(through(asked), [], "an approval does not lift a protection");
});
