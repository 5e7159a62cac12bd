import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RetryableError } from "../../../src/kernel/errors.ts";
import { items, Lab, names, verdictOf } from "../../support/lab.ts";

/** A set of this many items, as declared. */
async function labWith(count: number, kind = "Shelf"): Promise<Lab> {
  const lab = await Lab.open();
  await lab.declare(`${kind}/s`, { account: "main", items: items(...names(count)) });
  await lab.rest(`${kind}/s`);
  assert.equal(lab.main.keys().length, count);
  return lab;
}
const keep = (lab: Lab, count: number, kind = "Shelf") =>
  lab.declare(`${kind}/s`, { account: "main", items: items(...names(count)) });
const part = (lab: Lab, name: string, key: string, value = "x") =>
  lab.declare(`Part/${name}`, { of: "s", kind: "Shelf", key, value });

describe("an inferred delete", () => {
  test("waits for a second look, long enough after the first and begun after the wait", async () => {
    const lab = await labWith(5);
    await keep(lab, 4);
    lab.clock.advance(15_000);
    const first = await lab.cycle("Shelf/s");
    assert.deepEqual([first.result, first.nextInMs], ["waiting", 60_000]);
    assert.match(verdictOf(first, "evidence")?.reason ?? "", /a second look confirms it/);
    lab.clock.advance(59_000);
    assert.equal((await lab.cycle("Shelf/s")).written, 0);
    lab.clock.advance(1_000);
    assert.equal((await lab.cycle("Shelf/s")).written, 1);
    assert.deepEqual(lab.main.keys(), names(4));
  });

  test("does not start over after a restart", async () => {
    const lab = await labWith(5);
    await keep(lab, 4);
    await lab.cycle("Shelf/s");
    await lab.restart();
    lab.clock.advance(60_001);
    lab.quietSinceMonotonicMs = lab.clock.monotonicMs();
    assert.equal((await lab.cycle("Shelf/s")).written, 1);
    assert.deepEqual(lab.main.keys(), names(4));
  });

  test("never rests on a listing from before its wait, whoever made that listing, and does not spin meanwhile", async () => {
    const lab = await labWith(5);
    await lab.declare("Shelf/other", { account: "main", items: items("z") });
    await lab.rest("Shelf/other");
    await keep(lab, 4);
    lab.clock.advance(15_000);
    await lab.cycle("Shelf/s", { trigger: "resync" });
    lab.clock.advance(30_000);
    await lab.cycle("Shelf/other");
    lab.clock.advance(30_000);
    const second = await lab.cycle("Shelf/s", { trigger: "resync" });
    assert.equal(second.written, 1, `${second.message}, next in ${second.nextInMs}`);
  });

  test("is forgotten when somebody wants the item again", async () => {
    const lab = await labWith(5);
    await keep(lab, 4);
    await lab.cycle("Shelf/s");
    await keep(lab, 5);
    await lab.rest("Shelf/s");
    lab.clock.advance(120_000);
    await keep(lab, 4);
    lab.clock.advance(15_000);
    assert.equal((await lab.cycle("Shelf/s")).written, 0);
    assert.deepEqual(lab.main.keys(), names(5));
  });

  test("waits for the provider's settle time where that is longer", async () => {
    const lab = await Lab.open({ settleMs: 200_000 });
    await lab.declare("Shelf/s", { account: "main", items: items(...names(5)) });
    await lab.rest("Shelf/s");
    await keep(lab, 4);
    lab.clock.advance(15_000);
    assert.equal((await lab.cycle("Shelf/s")).nextInMs, 200_000);
  });
});

describe("a declared delete", () => {
  test("of an input resource needs one look, and names who deleted it", async () => {
    const lab = await labWith(3);
    await part(lab, "one", "p1");
    await lab.rest("Shelf/s");
    await lab.remove("Part/one");
    lab.clock.advance(15_000);
    assert.equal((await lab.cycle("Shelf/s")).written, 1);
    assert.deepEqual(lab.main.keys(), names(3));
    await lab.rest("Shelf/s");
    assert.equal(lab.isDeclared("Part/one"), false);
    const [deleted] = [...lab.store.state.tables.changes.values()].filter(({ record }) => record.action === "delete");
    assert.deepEqual(
      deleted?.record.declaredBy.map(({ author }) => author),
      ["ada"],
    );
    assert.match(deleted?.record.verdicts[0]?.reason ?? "", /declared delete on a complete look/);
  });

  test("of one of several sources is an update; of all of them a delete", async () => {
    const lab = await labWith(3);
    await part(lab, "one", "p1", "a");
    await part(lab, "two", "p1", "b");
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("p1"), "a+b");
    await lab.remove("Part/one");
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("p1"), "b");
    await lab.remove("Part/two");
    lab.clock.advance(15_000);
    assert.equal((await lab.cycle("Shelf/s")).written, 1);
    assert.deepEqual(lab.main.keys(), names(3));
  });

  test("of everything is held with its count, and an approval lets it through", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main" });
    await part(lab, "one", "p1");
    await part(lab, "two", "p2");
    await lab.rest("Shelf/s");
    await lab.remove("Part/one");
    await lab.remove("Part/two");
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    assert.deepEqual(lab.main.keys(), ["p1", "p2"]);
    assert.equal(lab.held()[0]?.guard, "empty-desired");
    await lab.approve(lab.held()[0]);
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), []);
  });

  test("of everything that had vanished outside is simply forgotten", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main" });
    for (const name of ["one", "two", "three"]) await part(lab, name, name);
    await lab.rest("Shelf/s");
    lab.main.things = [];
    for (const name of ["one", "two", "three"]) await lab.remove(`Part/${name}`);
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual(lab.owned("Shelf/s"), []);
  });
});

describe("the budget", () => {
  test("holds a set of nine that loses eight, and approval by digest executes it", async () => {
    const lab = await labWith(9);
    await keep(lab, 1);
    const report = await lab.rest("Shelf/s");
    assert.equal(report.result, "held");
    assert.deepEqual(lab.main.keys(), names(9));
    const [held] = lab.held();
    assert.equal(held?.items.length, 8);
    assert.equal(held?.verdict.numbers.allowed, 1);
    assert.equal(await lab.approve(held, `${held?.digest}!`), "moved");
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    assert.equal(await lab.approve(held), "approved");
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual(lab.main.keys(), names(1));
  });

  test("of the account holds what its subjects' own budgets would let through", async () => {
    const lab = await Lab.open();
    for (const name of ["a", "b", "c", "d"]) {
      await lab.declare(`Ledger/${name}`, { account: "main", items: items(`${name}1`, `${name}2`) });
      await lab.rest(`Ledger/${name}`);
    }
    for (const name of ["a", "b", "c", "d"]) {
      await lab.declare(`Ledger/${name}`, { account: "main", items: items(`${name}1`) });
      await lab.rest(`Ledger/${name}`);
    }
    // The account allows three deletes an hour.
    assert.deepEqual(lab.main.keys(), ["a1", "b1", "c1", "d1", "d2"]);
    const [held] = lab.held();
    assert.deepEqual([held?.level, held?.verdict.numbers], ["account", { asked: 1, used: 3, allowed: 3, owned: 5 }]);
    await lab.approve(held);
    await lab.rest("Ledger/d");
    assert.deepEqual(lab.main.keys(), ["a1", "b1", "c1", "d1"]);
  });

  test("lists also what the change cap leaves for later, so that nothing waits behind a refusal unasked", async () => {
    const lab = await Lab.open();
    const none = { count: 0, percent: 0, atLeast: 0 };
    await lab.policy({ limits: { changesPerCycle: 2, deletesPerHour: { account: none } } });
    await lab.declare("Shelf/s", { account: "main", items: items(...names(20)) });
    await lab.rest("Shelf/s");
    await keep(lab, 16);
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    const [held] = lab.held();
    assert.deepEqual(
      held?.items.map(({ key }) => key),
      ["k17", "k18", "k19", "k20"],
    );
    await lab.approve(held);
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), names(16));
  });

  test("keeps what waits under it open while a cycle ends before it comes to the deletes", async () => {
    const lab = await Lab.open();
    await lab.policy({ limits: { deletesPerHour: { account: { count: 0, percent: 0, atLeast: 0 } } } });
    await lab.declare("Shelf/s", { account: "main", items: items(...names(5)) });
    await lab.rest("Shelf/s");
    await keep(lab, 4);
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    const [held] = lab.held();
    lab.main.edit("k01", { value: "by hand" });
    lab.main.fail("update", new RetryableError("PROVIDER_UNAVAILABLE", "503", { ambiguous: false }));
    lab.clock.advance(15_000);
    assert.equal((await lab.cycle("Shelf/s")).result, "failed");
    assert.deepEqual(
      lab.held().map(({ id, digest }) => [id, digest]),
      [[held?.id, held?.digest]],
    );
    await lab.approve(held);
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), names(4));
  });

  test("is charged for what goes, not again and again for what cannot go", async () => {
    const lab = await labWith(5, "Ledger");
    lab.main.change("k05", { lock: "held for audit" });
    await lab.declare("Ledger/s", { account: "main", items: items(...names(4)) });
    // A provider whose list does not show the lock: only the read right before the delete does.
    lab.main.listsLocks = false;
    for (let cycle = 0; cycle < 30; cycle++) {
      lab.clock.advance(61_000);
      await lab.cycle("Ledger/s");
    }
    const charged = [...lab.store.state.tables.budgets.values()].flatMap((row) => [...row.buckets.values()]);
    assert.deepEqual(
      charged.filter((count) => count > 0),
      [],
    );
  });
});

describe("right before the call", () => {
  test("a lock at the provider refuses, and trying again slows down", async () => {
    const lab = await labWith(5, "Ledger");
    lab.main.listsLocks = false;
    lab.main.change("k05", { lock: "held for audit" });
    await keep(lab, 4, "Ledger");
    lab.clock.advance(1);
    await lab.cycle("Ledger/s");
    lab.clock.advance(60_000);
    const waits: number[] = [];
    for (let cycle = 0; cycle < 6; cycle++) {
      const report = await lab.cycle("Ledger/s");
      assert.match(verdictOf(report, "protection")?.reason ?? "", /provider lock \(held for audit\)/);
      waits.push(report.nextInMs ?? 0);
      lab.clock.advance(report.nextInMs ?? 0);
    }
    assert.deepEqual(lab.main.keys(), names(5));
    assert.ok((waits.at(-1) ?? 0) >= 10_000, `the waits are ${waits.join(", ")}`);
  });

  test("what changed since the look is looked at again, and what somebody else took is left alone", async () => {
    const lab = await labWith(5);
    await keep(lab, 4);
    await lab.cycle("Shelf/s");
    lab.clock.advance(60_001);
    lab.main.meanwhile("read", () => lab.main.edit("k05", { value: "in use" }));
    const changed = await lab.cycle("Shelf/s");
    assert.match(verdictOf(changed, "evidence")?.reason ?? "", /changed since the look/);
    assert.deepEqual(lab.main.keys(), names(5));
    lab.clock.advance(15_000);
    lab.main.meanwhile("read", () => lab.main.change("k05", { marker: { foreign: "another tool" } }));
    const taken = await lab.cycle("Shelf/s");
    assert.match(verdictOf(taken, "ownership")?.reason ?? "", /another owner's marker/);
    assert.deepEqual(lab.main.keys(), names(5));
  });

  test("what is gone already is not deleted again", async () => {
    const lab = await labWith(5);
    await keep(lab, 4);
    await lab.cycle("Shelf/s");
    lab.clock.advance(60_001);
    lab.main.meanwhile("read", () => lab.main.drop("k05"));
    assert.match(verdictOf(await lab.cycle("Shelf/s"), "evidence")?.reason ?? "", /already gone when read/);
    await lab.rest("Shelf/s");
    assert.equal(lab.main.count("remove"), 0);
    assert.deepEqual(lab.owned("Shelf/s"), names(4));
  });

  test("a marker that is missing is put back and seen again, and a declared delete stays declared", async () => {
    const lab = await labWith(3);
    await part(lab, "one", "p1");
    await lab.rest("Shelf/s");
    lab.main.change("p1", { marker: "none" });
    await lab.remove("Part/one");
    lab.clock.advance(15_000);
    const first = await lab.cycle("Shelf/s");
    assert.deepEqual([first.written, lab.main.count("remove")], [1, 0]);
    assert.notEqual(lab.main.things.find(({ key }) => key === "p1")?.marker, "none");
    assert.equal(lab.isDeclared("Part/one"), true, "the tombstone is what makes the delete a declared one");
    lab.clock.advance(1_000);
    assert.equal((await lab.cycle("Shelf/s")).written, 1);
    assert.deepEqual(lab.main.keys(), names(3));
  });
});

describe("leaving", () => {
  test("deletes everything within the confirmed count, then the resource is gone", async () => {
    const lab = await labWith(9);
    await lab.remove("Shelf/s", { confirmedCount: 9 });
    assert.equal((await lab.rest("Shelf/s")).result, "gone");
    assert.deepEqual([lab.main.keys(), lab.isDeclared("Shelf/s")], [[], false]);
  });

  test("more than was confirmed waits for a person", async () => {
    const lab = await labWith(9);
    await lab.remove("Shelf/s", { confirmedCount: 8 });
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    assert.deepEqual(lab.main.keys(), names(9));
    await lab.approve(lab.held()[0]);
    assert.equal((await lab.rest("Shelf/s")).result, "gone");
    assert.deepEqual([lab.main.keys(), lab.held()], [[], []]);
  });

  test("a count somebody confirmed is no approval where four eyes are asked for", async () => {
    const lab = await labWith(9);
    await lab.policy({ fourEyes: true });
    await lab.remove("Shelf/s", { confirmedCount: 9 });
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    assert.deepEqual(lab.main.keys(), names(9));
  });

  test("what only looks, or is protected, leaves when its own mode and protection are changed", async () => {
    const lab = await labWith(3);
    const spec = lab.spec("Shelf/s");
    await lab.declare("Shelf/s", spec, { mode: "observe", protect: true });
    await lab.remove("Shelf/s", { confirmedCount: 3 });
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", spec, { mode: "enforce", protect: true });
    assert.equal((await lab.rest("Shelf/s")).result, "refused");
    assert.deepEqual(lab.main.keys(), names(3));
    await lab.declare("Shelf/s", spec, { mode: "enforce" });
    assert.equal((await lab.rest("Shelf/s")).result, "refused", "the record of the last look still protects it");
    assert.equal((await lab.rest("Shelf/s")).result, "gone");
    assert.deepEqual([lab.main.keys(), lab.isDeclared("Shelf/s")], [[], false]);
  });

  test("orphaned things stay outside as they are, even where our marker had been lost", async () => {
    const lab = await labWith(3);
    lab.main.change("k02", { marker: "none" });
    const before = lab.main.things;
    await lab.remove("Shelf/s", { orphan: true });
    assert.equal((await lab.rest("Shelf/s")).result, "gone");
    assert.deepEqual(lab.main.things, before);
    assert.deepEqual([lab.isDeclared("Shelf/s"), lab.store.state.tables.claims.size], [false, 0]);
  });

  test("with nothing of ours outside it is gone without a look", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a") }, { mode: "observe" });
    await lab.rest("Shelf/s");
    const looks = lab.main.calls.length;
    await lab.remove("Shelf/s");
    assert.equal((await lab.cycle("Shelf/s")).result, "gone");
    assert.equal(lab.main.calls.length, looks);
  });
});
