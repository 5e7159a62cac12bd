import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { subjectEvents } from "../../../src/kernel/subject-events.ts";
import type { Settlement } from "../../../src/ports/engine-store.ts";
import type { StoredPlan, SubjectStatus } from "../../../src/ports/records.ts";
import { items, Lab } from "../../support/lab.ts";

/** Every settlement that a lab's cycles write from now on. */
function watch(lab: Lab): Settlement[] {
  const settled: Settlement[] = [];
  const settle = lab.store.settle.bind(lab.store);
  lab.store.settle = async (settlement) => {
    settled.push(settlement);
    return await settle(settlement);
  };
  return settled;
}

function plansOf(settled: readonly Settlement[]) {
  return settled.map(({ plan }) => plan).filter((plan) => plan !== undefined);
}

describe("the plan that is left", () => {
  test("what is carried out leaves none: a heal stores nothing of it", async () => {
    const lab = await Lab.open();
    const settled = watch(lab);
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") });
    await lab.rest("Shelf/s");
    lab.main.edit("a", { value: "by hand" });
    assert.equal((await lab.rest("Shelf/s")).result, "converged");
    assert.ok(settled.length > 0);
    assert.deepEqual(plansOf(settled), []);
  });

  test("what nobody may do yet is kept once, and goes when it was done", async () => {
    const lab = await Lab.open();
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") }, { mode: "observe" });
    const settled = watch(lab);
    await lab.rest("Shelf/s");
    const [plan] = plansOf(settled) as [StoredPlan];
    assert.deepEqual(plan.summary.actions, { create: 2 });
    assert.deepEqual(
      plan.items.map(({ key, action, held }) => [key, action, held]),
      [
        ["a", "create", false],
        ["b", "create", false],
      ],
    );
    assert.ok(plan.verdicts.some(({ guard }) => guard === "mode"));
    settled.length = 0;
    for (let cycle = 0; cycle < 3; cycle++) {
      lab.clock.advance(300_000);
      assert.equal(
        (await lab.cycle("Shelf/s", { trigger: "resync" })).idle,
        true,
        "the same plan is not written again",
      );
    }
    assert.deepEqual(settled, []);
    await lab.declare("Shelf/s", { account: "main", items: items("a", "b") }, { mode: "enforce" });
    await lab.rest("Shelf/s");
    assert.deepEqual(plansOf(settled), ["none"]);
  });

  test("what differs is named by action and field, and what waits for a person is marked", async () => {
    const lab = await Lab.open();
    const keys = Array.from({ length: 8 }, (_entry, index) => `k${index}`);
    await lab.declare("Shelf/s", { account: "main", items: items(...keys) });
    await lab.rest("Shelf/s");
    const go = await lab.pause("writes");
    lab.main.edit("k0", { value: "by hand" });
    lab.main.edit("k1", { value: "by hand" });
    const settled = watch(lab);
    await lab.rest("Shelf/s");
    const [paused] = plansOf(settled) as [StoredPlan];
    assert.deepEqual(paused.summary.causes, [{ action: "update", field: "/value", count: 2 }]);
    assert.deepEqual(paused.summary.guards, ["pause"]);
    await go();
    await lab.declare("Shelf/s", { account: "main", items: items("k0", "k1") });
    await lab.rest("Shelf/s");
    const held = plansOf(settled).at(-1) as StoredPlan;
    assert.deepEqual([held.summary.actions["delete"], held.summary.held], [6, 6]);
    assert.ok(
      held.items.every(({ action, held: waits, origin }) => action !== "delete" || (waits && origin === "inferred")),
    );
  });
});

describe("what people are told of a subject", () => {
  const status = (reason: string, guards: readonly string[] = []): SubjectStatus => ({
    observedGeneration: 1,
    conditions: [
      {
        type: "Ready",
        status: reason === "LookFailed" ? "Unknown" : "False",
        reason,
        message: `${reason}: why`,
        sinceMs: 0,
      },
      ...guards.map((guard) => ({
        type: `Guard/${guard}`,
        status: "True" as const,
        reason: "Refused",
        message: "no",
        sinceMs: 0,
      })),
    ],
    differences: 0,
    owned: 0,
    failing: false,
  });
  const told = (before: [SubjectStatus | undefined, number], after: [SubjectStatus, number]) =>
    subjectEvents(
      { status: before[0], memory: { attempts: before[1] } },
      { status: after[0], memory: { attempts: after[1] } },
    ).map(({ type }) => type);

  test("a stall once, and its end once", () => {
    assert.deepEqual(told([status("Changing"), 0], [status("Stalled"), 1]), ["subject.stalled"]);
    assert.deepEqual(told([status("Stalled"), 1], [status("Stalled"), 2]), []);
    assert.deepEqual(told([status("Stalled"), 2], [status("Converged"), 0]), ["subject.recovered"]);
    assert.deepEqual(told([status("Converged"), 0], [status("Converged"), 0]), []);
  });

  test("failures only when they last, and from a first look on", () => {
    assert.deepEqual(told([undefined, 0], [status("LookFailed"), 1]), []);
    assert.deepEqual(told([status("LookFailed"), 5], [status("LookFailed"), 6]), ["subject.stalled"]);
    assert.deepEqual(told([status("LookFailed"), 6], [status("LookFailed"), 7]), []);
    assert.deepEqual(told([status("LookFailed"), 3], [status("Converged"), 0]), [], "nobody was told that it failed");
    assert.deepEqual(told([undefined, 0], [status("Stalled"), 1]), ["subject.stalled"]);
  });

  test("a guard that refuses, when it begins to", () => {
    assert.deepEqual(told([status("Changing"), 0], [status("RefusedByGuard", ["empty-desired"]), 0]), [
      "guard.refused",
    ]);
    assert.deepEqual(
      told(
        [status("RefusedByGuard", ["empty-desired"]), 0],
        [status("RefusedByGuard", ["empty-desired", "ownership"]), 0],
      ),
      ["guard.refused"],
    );
    assert.deepEqual(
      told([status("RefusedByGuard", ["empty-desired"]), 0], [status("RefusedByGuard", ["empty-desired"]), 0]),
      [],
    );
  });
});
