import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { items, Lab, names, verdictOf } from "../../support/lab.ts";

const set = (...keys: string[]) => ({ account: "main", items: items(...keys) });

describe("the account", () => {
  test("is claimed by the first write, under a permit that is recorded", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a"));
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.sentinel, { installationId: "installation-1", incarnation: 1 });
    const { fingerprint, claimedIncarnation } = lab.store.state.tables.accounts.get("main")?.record ?? {};
    assert.deepEqual([fingerprint, claimedIncarnation], ["fingerprint of main", 1]);
    const [claimed] = [...lab.store.state.tables.changes.values()].filter(({ record }) => /sentinel/.test(record.key));
    assert.deepEqual([claimed?.record.action, claimed?.outcome?.result], ["adopt", "done"]);
    assert.equal(lab.main.count("claim"), 1);
  });

  test("that answers as another one is refused as a whole, whatever it shows", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a", "b"));
    await lab.rest("Shelf/s");
    lab.main.edit("a", { value: "by hand" });
    // Who the account is was asked for this heal; the answer must not stand in for the next question.
    await lab.rest("Shelf/s");
    lab.main.fingerprint = "somebody else's";
    const theirs = lab.main.put({ group: "s", key: "theirs", marker: "none" });
    lab.main.things = [theirs];
    const report = await lab.rest("Shelf/s");
    assert.equal(report.result, "refused");
    assert.match(verdictOf(report, "account-identity")?.reason ?? "", /answers as another account \(somebody else's/);
    assert.deepEqual([lab.main.things, lab.owned("Shelf/s"), lab.held()], [[theirs], ["a", "b"], []]);
  });

  test("of another installation is refused", async () => {
    const lab = await Lab.open();
    lab.main.sentinel = { installationId: "installation-9", incarnation: 1 };
    await lab.declare("Shelf/s", set("a"));
    const report = await lab.rest("Shelf/s");
    assert.match(verdictOf(report, "account-identity")?.reason ?? "", /claimed by installation installation-9/);
    assert.deepEqual(lab.main.keys(), []);
  });

  test("whose credential may only look is refused before the first write of a plan", async () => {
    const lab = await Lab.open();
    lab.main.readOnly = true;
    await lab.declare("Shelf/s", set("a"));
    const report = await lab.rest("Shelf/s");
    assert.match(verdictOf(report, "all-or-nothing")?.reason ?? "", /may not write: read-only token/);
    assert.deepEqual([lab.main.keys(), lab.main.sentinel], [[], undefined]);
  });
});

describe("after a restore", () => {
  test("every account waits for one approval, and then work resumes from what is there", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/one", set("a"));
    await lab.declare("Shelf/two", set("b"));
    await lab.rest("Shelf/one");
    await lab.rest("Shelf/two");
    const backup = lab.store.snapshot();
    await lab.declare("Shelf/one", set("a", "later"));
    await lab.rest("Shelf/one");
    lab.store.restore(backup);
    await lab.store.markRestored();
    await lab.restart();
    await lab.declare("Shelf/one", set("a", "later"));
    await lab.declare("Shelf/two", set("b", "c"));
    const made = lab.main.things;
    for (const shelf of ["Shelf/one", "Shelf/two"]) {
      const report = await lab.rest(shelf);
      assert.match(verdictOf(report, "account-identity")?.reason ?? "", /restored.*one approval reclaims it/);
    }
    assert.deepEqual([lab.main.things, lab.held().length, lab.held()[0]?.level], [made, 1, "account"]);
    assert.equal(await lab.approve(lab.held()[0]), "approved");
    assert.equal((await lab.rest("Shelf/one")).result, "converged");
    assert.equal((await lab.rest("Shelf/two")).result, "converged");
    // What was made after the backup carries our marker: it is adopted, not made again.
    assert.deepEqual(lab.main.keys(), ["a", "b", "c", "later"]);
    assert.deepEqual(lab.main.sentinel, { installationId: "installation-1", incarnation: 2 });
    assert.deepEqual(lab.held(), []);
  });

  test("a backup from before the account was claimed waits for the same approval", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/one", set("a"));
    const backup = lab.store.snapshot();
    await lab.rest("Shelf/one");
    lab.store.restore(backup);
    await lab.store.markRestored();
    await lab.restart();
    await lab.declare("Shelf/one", set("a", "b"));
    assert.equal((await lab.rest("Shelf/one")).result, "held");
    assert.deepEqual(lab.main.keys(), ["a"]);
    await lab.approve(lab.held()[0]);
    assert.equal((await lab.rest("Shelf/one")).result, "converged");
    assert.deepEqual(lab.main.keys(), ["a", "b"]);
  });

  test("an old copy of the database cannot act on the account that a newer one claimed", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set("a"));
    await lab.rest("Shelf/s");
    lab.main.sentinel = { installationId: "installation-1", incarnation: 2 };
    await lab.declare("Shelf/s", set("a", "b"));
    const report = await lab.rest("Shelf/s");
    assert.match(verdictOf(report, "account-identity")?.reason ?? "", /newer incarnation \(2\).*this is a copy/);
    assert.deepEqual([lab.main.keys(), lab.held()], [["a"], []]);
  });
});

describe("a desired set that is not what it was", () => {
  test("unknown keeps the last good set, heals to it, and deletes nothing", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set(...names(5)));
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", set(...names(4)));
    await lab.cycle("Shelf/s");
    await lab.declare("Shelf/s", { account: "main", unknown: true });
    lab.main.edit("k01", { value: "by hand" });
    lab.clock.advance(90_000);
    const report = await lab.rest("Shelf/s");
    assert.match(verdictOf(report, "derived-emptiness")?.reason ?? "", /inventory of hosts cannot be reached.*4 items/);
    assert.deepEqual([lab.main.valueOf("k01"), lab.main.keys()], ["x", names(5)]);
  });

  test("an empty one that nobody declared is refused as a whole", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", set(...names(3)));
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", { account: "main", items: {} });
    lab.clock.advance(300_000);
    const report = await lab.rest("Shelf/s");
    assert.deepEqual([report.result, verdictOf(report, "empty-desired")?.answer], ["refused", "refuse"]);
    lab.clock.advance(300_000);
    await lab.rest("Shelf/s");
    assert.deepEqual([lab.main.keys(), lab.held()], [names(3), []]);
    await lab.declare("Shelf/s", { account: "main", items: {}, zero: true });
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    await lab.approve(lab.held()[0]);
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), []);
  });

  test("a value that went empty at its source keeps its last good value, marked stale", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: { pool: { value: "10.0.0.1" }, other: { value: "x" } } });
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", { account: "main", items: { other: { value: "x" } }, stale: ["pool"] });
    lab.clock.advance(300_000);
    const report = await lab.rest("Shelf/s");
    assert.equal(report.result, "converged");
    assert.match(verdictOf(report, "derived-emptiness")?.reason ?? "", /no healthy host/);
    assert.deepEqual(verdictOf(report, "derived-emptiness")?.keys, ["pool"]);
    lab.main.drop("pool");
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("pool"), "10.0.0.1");
  });

  test("an input that stops parsing keeps its items, and its part of the items it shares", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main" });
    const part = (name: string, spec: object) => lab.declare(`Part/${name}`, { of: "s", kind: "Shelf", ...spec });
    await part("alone", { key: "alone", value: "x" });
    await part("left", { key: "shared", value: "l" });
    await part("right", { key: "shared", value: "r" });
    await part("good", { key: "good", value: "x" });
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("shared"), "l+r");
    await part("alone", { key: "alone", value: 7 });
    await part("right", { key: "shared", value: 7 });
    await part("good", { key: "good", value: "newer" });
    lab.clock.advance(300_000);
    const report = await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["alone", "good", "shared"]);
    assert.deepEqual(
      ["alone", "shared", "good"].map((key) => lab.main.valueOf(key)),
      ["x", "l+r", "newer"],
    );
    assert.match(verdictOf(report, "derived-emptiness")?.reason ?? "", /no longer parses.*Part\/alone, Part\/right/);
    assert.deepEqual(verdictOf(report, "derived-emptiness")?.keys, ["alone", "shared"]);
    await part("right", { key: "shared", value: "z" });
    await lab.rest("Shelf/s");
    assert.equal(lab.main.valueOf("shared"), "l+z");
  });

  test("a last good value that held a secret is kept as it is, never written", async () => {
    const lab = await Lab.open();
    const withSecret = { account: "main", items: { a: { value: "x", size: 1, secret: "hidden" }, b: { value: "x" } } };
    await lab.declare("Shelf/s", withSecret);
    await lab.rest("Shelf/s");
    await lab.declare("Shelf/s", { account: "main", unknown: true });
    lab.main.edit("a", { value: "by hand" });
    lab.main.edit("b", { value: "by hand" });
    await lab.rest("Shelf/s");
    assert.deepEqual([lab.main.valueOf("a"), lab.main.valueOf("b")], ["by hand", "x"]);
    assert.equal(lab.main.things.find(({ key }) => key === "a")?.content.secret, "hidden");
  });
});
