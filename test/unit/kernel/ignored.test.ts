import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type IgnoreRuleFrom, ignoring } from "../../../src/kernel/ignored.ts";
import { makePlan, type Plan } from "../../../src/kernel/plan.ts";
import type { IgnoreRule } from "../../../src/ports/records.ts";
import { items, Lab } from "../../support/lab.ts";
import { holds } from "../../support/properties.ts";
import { mixedSituation, ownedItem, seenItem, situationOf, wantedItem } from "../../support/situations.ts";

const nowMs = 1_800_000_000_000;
const own = { uid: "subject", kind: "Shelf", name: "s" };
const rule = (change: Partial<IgnoreRuleFrom> = {}): IgnoreRuleFrom => ({
  kind: "Shelf",
  field: "/value",
  reason: "people paint it",
  from: "project/p",
  ...change,
});
const byRules = (...rules: readonly IgnoreRuleFrom[]) => ignoring(rules, own, [], nowMs);
const actions = (plan: Plan) => plan.changes.map(({ action, key }) => `${action} ${key}`);
const differing = situationOf({
  wanted: [wantedItem("a", { value: "x", size: 1 })],
  seen: [seenItem("a", { item: { value: "y", size: 1 } })],
  owned: [ownedItem("a")],
});

describe("what a rule leaves alone", () => {
  test("the field that it covers, with the rule that says so, and nothing is changed", () => {
    const plan = makePlan({ ...differing, ignoring: byRules(rule()) });
    assert.deepEqual(actions(plan), []);
    assert.deepEqual(plan.ignored, [{ key: "a", field: "/value", wanted: "x", seen: "y", rule: rule() }]);
  });

  test("only until the end of the rule, if it has one", () => {
    const ending = (ms: number) => rule({ until: new Date(nowMs + ms).toISOString() });
    assert.deepEqual(actions(makePlan({ ...differing, ignoring: byRules(ending(1)) })), []);
    for (const past of [0, -1])
      assert.deepEqual(actions(makePlan({ ...differing, ignoring: byRules(ending(past)) })), ["update a"]);
  });

  test("not what another kind, resource, item or field is named for", () => {
    for (const other of [{ kind: "Ledger" }, { name: "t" }, { item: "b" }, { field: "/size" }]) {
      const plan = makePlan({ ...differing, ignoring: byRules(rule(other)) });
      assert.deepEqual(actions(plan), ["update a"], JSON.stringify(other));
      assert.deepEqual(plan.ignored, []);
    }
    for (const same of [{ name: "s" }, { item: "a" }, { field: "/*" }])
      assert.deepEqual(actions(makePlan({ ...differing, ignoring: byRules(rule(same)) })), [], JSON.stringify(same));
  });

  test("is written as it was seen when another field of the same item is changed", () => {
    const seen = [seenItem("a", { item: { value: "y", size: 2 } })];
    const [change] = makePlan({ ...differing, seen, ignoring: byRules(rule({ field: "/size" })) }).changes;
    assert.deepEqual(change?.differences, [{ field: "/value", wanted: "x", seen: "y" }]);
    assert.deepEqual(change?.wanted?.item, { value: "x", size: 2 });
    assert.equal(change?.action, "update", "what would have been replaced for the ignored field alone is not");
  });

  test("a rule for what declares a part of an item holds only where nobody else declares it as well", () => {
    const named = [
      { uid: "one", kind: "Part", name: "one" },
      { uid: "two", kind: "Part", name: "two" },
    ];
    const ignore = ignoring([rule({ kind: "Part", name: "one" })], own, named, nowMs);
    const differences = [{ field: "/value", wanted: "x", seen: "y" }];
    const declared = (...uids: readonly string[]) => ({
      ...wantedItem("a"),
      sources: uids.map((uid) => ({ uid, generation: 1 })),
    });
    assert.equal(ignore(declared("one"), differences).ignored.length, 1);
    assert.equal(ignore(declared("one", "two"), differences).ignored.length, 0);
    assert.equal(ignore(declared("unknown"), differences).ignored.length, 0);
  });

  test("rules never change what is made, removed, adopted or forgotten, and only ever take updates away", () => {
    holds(
      fc.property(mixedSituation, (situation) => {
        const before = makePlan(situation);
        const after = makePlan({ ...situation, ignoring: byRules(rule({ field: "/*" })) });
        const kept = (plan: Plan) => actions(plan).filter((text) => !/^(update|replace) /.test(text));
        assert.deepEqual(kept(after), kept(before));
        assert.ok(
          actions(after).every((text) => actions(before).some((was) => was.split(" ")[1] === text.split(" ")[1])),
        );
        for (const change of after.changes)
          if (change.action === "update")
            assert.deepEqual(
              change.differences.map(({ field }) => field),
              ["/marker"],
            );
      }),
    );
  });
});

describe("a cycle with a rule", () => {
  const ignore = (change: Partial<IgnoreRule> = {}): IgnoreRule => ({
    kind: "Shelf",
    field: "/value",
    reason: "people paint it",
    ...change,
  });

  test("leaves the difference there, says so in the status, and heals it once the rule is gone", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") });
    await lab.rest("Shelf/s");
    await lab.policy({ ignore: [ignore({ name: "s", item: "a" })] });
    for (const key of ["a", "b"]) lab.main.edit(key, { value: "pink" });
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual([lab.main.valueOf("a"), lab.main.valueOf("b")], ["pink", "x"]);
    const { conditions = [] } = lab.subject("Shelf/s").status ?? {};
    assert.match(
      conditions.find(({ type }) => type === "Guard/ignored")?.message ?? "",
      /\/value of a \(wanted "x", seen "pink"\).*people paint it/,
    );
    assert.equal(conditions.find(({ type }) => type === "Synced")?.status, "True");

    lab.clock.advance(600_000);
    lab.writes.length = 0;
    assert.equal((await lab.cycle("Shelf/s", { trigger: "resync" })).idle, true);
    assert.deepEqual(lab.writes, [], "what stays ignored is not written down again");

    await lab.policy({});
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("a"), "x");
    assert.equal(
      lab.subject("Shelf/s").status?.conditions.some(({ type }) => type === "Guard/ignored"),
      false,
    );
  });

  test("makes again what is gone, and removes what nobody wants any more", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") });
    await lab.rest("Shelf/s");
    await lab.policy({ ignore: [ignore({ field: "/*" })] });
    lab.main.drop("a");
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["a", "b"]);
    await lab.remove("Shelf/s", { confirmedCount: 2 });
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), []);
  });
});
