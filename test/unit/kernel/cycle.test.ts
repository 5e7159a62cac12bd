import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { items, Lab, verdictOf } from "../../support/lab.ts";

describe("keeping a set as declared", () => {
  for (const kind of ["Shelf", "Ledger", "Register"]) {
    test(`${kind}: made, healed, changed, and left alone when it is as declared`, async () => {
      const lab = await Lab.open();
      const name = `${kind}/s`;
      await lab.declare(name, { account: "main", items: items("a", "b") });
      assert.equal((await lab.rest(name)).result, "converged");
      assert.deepEqual(lab.main.keys(), ["a", "b"]);
      assert.deepEqual(lab.owned(name), ["a", "b"]);

      lab.main.edit("a", { value: "by hand" });
      lab.main.drop("b");
      lab.main.put({ group: kind === "Shelf" ? "s" : "ledger", key: "stranger" });
      assert.equal((await lab.rest(name)).result, "converged");
      assert.deepEqual([lab.main.valueOf("a"), lab.main.keys()], ["x", ["a", "b", "stranger"]]);

      await lab.declare(name, { account: "main", items: { a: { value: "newer" }, b: { value: "x" } } });
      assert.equal((await lab.rest(name)).result, "converged");
      assert.equal(lab.main.valueOf("a"), "newer");
      assert.match(lab.ready(name), /^Converged/);
    });

    test(`${kind}: an idle cycle writes nothing to the store`, async () => {
      const lab = await Lab.open();
      const name = `${kind}/s`;
      await lab.declare(name, { account: "main", items: items("a", "b") });
      await lab.rest(name);
      lab.clock.advance(300_000);
      const subjects = () => structuredClone([...lab.store.state.tables.subjects.values()]);
      const before = subjects();
      lab.writes.length = 0;
      for (let cycle = 0; cycle < 5; cycle++) {
        lab.clock.advance(300_000);
        const report = await lab.cycle(name, { trigger: "resync" });
        assert.deepEqual([report.result, report.idle], ["converged", true]);
      }
      assert.deepEqual(lab.writes, []);
      assert.deepEqual(subjects(), before);
    });
  }

  test("a replacement is one change: the old thing goes and the new one comes", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") });
    await lab.rest("Shelf/s");
    const [before] = lab.main.things;
    await lab.declare("Shelf/s", {
      account: "main",
      items: { a: { value: "x", size: 2 }, b: { value: "x", size: 1 } },
    });
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual(lab.main.keys(), ["a", "b"]);
    const after = lab.main.things.find(({ key }) => key === "a");
    assert.equal(after?.content.size, 2);
    assert.notEqual(after?.id, before?.id);
    const claims = [...lab.store.state.tables.claims.values()].map(({ externalId }) => externalId);
    assert.deepEqual(claims.sort(), lab.main.things.map(({ id }) => id).sort());
  });

  test("every write keeps its cause: trigger, field, both values and who declared it", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a") });
    await lab.rest("Shelf/s");
    lab.main.edit("a", { value: "by hand" });
    await lab.rest("Shelf/s");
    const [record] = [...lab.store.state.tables.changes.values()].filter((row) => row.record.action === "update");
    assert.deepEqual(record?.record.differences, [{ field: "/value", wanted: "x", seen: "by hand" }]);
    assert.deepEqual(
      [record?.record.trigger, record?.record.declaredBy.map(({ author }) => author), record?.outcome?.result],
      ["person", ["ada"], "done"],
    );
  });

  test("a rotated secret is written, and its text is nowhere in the store", async () => {
    const lab = await Lab.open();
    const declare = (secret: string) =>
      lab.declare("Shelf/s", { account: "main", items: { a: { value: "x", size: 1, secret } } });
    await declare("hidden-first-secret");
    await lab.rest("Shelf/s");
    await declare("hidden-second-secret");
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.equal(lab.main.things[0]?.content.secret, "hidden-second-secret");
    const stored = structuredClone(lab.store.state.tables.subjects.get(1));
    assert.ok(stored !== undefined);
    // The spec is what people declared; everything else that is stored about it must not repeat it.
    const rest = { ...stored, memory: { ...stored.memory, lastSpec: undefined } };
    const kept = [rest, ...lab.store.state.tables.changes.values(), ...lab.store.state.tables.verdicts];
    assert.doesNotMatch(JSON.stringify(kept), /hidden/);
    assert.deepEqual(
      [...lab.store.state.tables.changes.values()]
        .filter(({ record }) => record.action === "update")
        .map(({ record }) => record.differences.map(({ field }) => field)),
      [["/secret"]],
    );
  });
});

describe("modes", () => {
  test("observe looks, reports, and writes nothing outside", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a") }, { mode: "observe" });
    const report = await lab.rest("Shelf/s");
    assert.deepEqual([report.result, report.sizes.create], ["observing", 1]);
    assert.deepEqual([lab.main.keys(), lab.held(), lab.main.sentinel], [[], [], undefined]);
    assert.match(lab.ready("Shelf/s"), /would create 1/);
    assert.equal(lab.main.count("create", "update", "remove", "claim"), 0);
  });

  test("propose asks, an approval of that very digest lets it through, another digest is told what moved", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") }, { mode: "propose" });
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    const [held] = lab.held();
    assert.deepEqual(
      held?.items.map(({ action, key }) => `${action} ${key}`),
      ["create a", "create b"],
    );
    assert.equal(await lab.approve(held, "another digest"), "moved");
    assert.deepEqual(lab.main.keys(), []);
    assert.equal(await lab.approve(held), "approved");
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual(lab.main.keys(), ["a", "b"]);
    assert.deepEqual(lab.held(), []);
    const grants = [...lab.store.state.tables.grants.values()];
    assert.ok(grants.length === 2 && grants.every(({ usedAtMs }) => usedAtMs !== undefined));
  });

  test("what changed after the approval asks again, what did not uses its grant", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") }, { mode: "propose" });
    await lab.rest("Shelf/s");
    await lab.approve(lab.held()[0]);
    await lab.declare(
      "Shelf/s",
      { account: "main", items: { a: { value: "x", size: 1 }, b: { value: "y", size: 1 } } },
      { mode: "propose" },
    );
    assert.equal((await lab.rest("Shelf/s")).result, "held");
    assert.deepEqual(lab.main.keys(), ["a"]);
    assert.deepEqual(
      lab.held()[0]?.items.map(({ action, key }) => `${action} ${key}`),
      ["create b"],
    );
  });
});

describe("pauses and holds", () => {
  test("a pause of deletes lets creates and updates go on; of writes, looks; of all, nothing", async () => {
    const lab = await Lab.open();
    const declare = (...keys: string[]) => lab.declare("Shelf/s", { account: "main", items: items(...keys) });
    await declare("a", "b");
    await lab.rest("Shelf/s");
    const resumeDeletes = await lab.pause("deletes");
    await declare("a", "c");
    lab.clock.advance(1);
    await lab.cycle("Shelf/s");
    lab.clock.advance(60_000);
    const paused = await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["a", "b", "c"]);
    assert.match(verdictOf(paused, "pause")?.reason ?? "", /deletes paused at the organization by ada: incident/);

    const resumeWrites = await lab.pause("writes");
    await declare("a", "c", "d");
    assert.equal((await lab.rest("Shelf/s")).result, "waiting");
    assert.deepEqual(lab.main.keys(), ["a", "b", "c"]);

    const looks = lab.main.calls.length;
    const resumeAll = await lab.pause("all");
    assert.equal((await lab.rest("Shelf/s")).result, "paused");
    assert.equal(lab.main.calls.length, looks);
    assert.match(lab.ready("Shelf/s"), /^Paused: everything paused/);

    await resumeAll();
    await resumeWrites();
    await resumeDeletes();
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.deepEqual(lab.main.keys(), ["a", "c", "d"]);
  });

  test("a pause that begins during a cycle stops the call that would come next", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") });
    lab.main.meanwhile("create", async () => {
      await lab.pause("writes");
    });
    const report = await lab.cycle("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["a"]);
    assert.match(verdictOf(report, "pause")?.reason ?? "", /permit refused/);
  });

  test("while an operation holds the subject, its loop looks and does not act", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a") });
    const release = await lab.hold("Shelf/s");
    const report = await lab.rest("Shelf/s");
    assert.equal(report.result, "waiting");
    assert.match(verdictOf(report, "hold")?.reason ?? "", /operation-1 holds this subject: creates it/);
    assert.deepEqual(lab.main.keys(), []);
    await release();
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["a"]);
  });
});

describe("inputs that move", () => {
  test("during a cycle: a create whose source changed is not made, and the subject is due at once", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a") });
    lab.main.meanwhile("list", () => lab.declare("Shelf/s", { account: "main", items: items("b") }));
    const report = await lab.cycle("Shelf/s");
    assert.deepEqual([report.result, report.dueAgain, lab.main.keys()], ["superseded", true, []]);
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["b"]);
  });

  test("a delete is permitted at the very version it was planned at; a create beside it only needs its own source", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a") });
    const part = (name: string, key: string) =>
      lab.declare(`Part/${name}`, { of: "s", kind: "Shelf", key, value: "x" });
    await part("one", "p1");
    await lab.rest("Shelf/s");
    await lab.remove("Part/one");
    // The read right before the delete: meanwhile somebody declares something else of the same set.
    lab.main.meanwhile("read", () => part("two", "p2"));
    const report = await lab.cycle("Shelf/s");
    assert.deepEqual([report.result, lab.main.keys()], ["superseded", ["a", "p1"]]);
    lab.main.meanwhile("list", () => part("three", "p3"));
    await lab.cycle("Shelf/s");
    assert.ok(lab.main.keys().includes("p2"));
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["a", "p2", "p3"]);
  });

  test("a mode that became stricter stops the next write of a cycle under way", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") });
    lab.main.meanwhile("create", () => lab.policy({ mode: "observe" }));
    assert.equal((await lab.cycle("Shelf/s")).result, "superseded");
    await lab.rest("Shelf/s");
    assert.deepEqual(lab.main.keys(), ["a"]);
  });
});
