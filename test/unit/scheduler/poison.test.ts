import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../../src/kernel/claim.ts";
import { Strikes } from "../../../src/scheduler/strikes.ts";
import { type Behaviour, Scene } from "./scene.ts";

const HEALTHY = Array.from({ length: 20 }, (_, index) => index + 100);

/** One poisoned subject among healthy ones of the same shard, organization and account, looked at every ten seconds. */
function sceneWith(behaviour: Behaviour): Scene {
  const scene = new Scene();
  scene.everySeconds = 10;
  scene.store.add({ id: 1, shard: 5, accountId: "shared", due: true });
  for (const id of HEALTHY) scene.store.add({ id, shard: 5, accountId: "shared" });
  scene.behaviours.set(1, behaviour);
  return scene;
}

function countOf(scene: Scene, id: number, since = 0): number {
  return scene.ids(since).filter((each) => each === id).length;
}

test("a subject that throws backs off, is put in quarantine after five times with a condition, and is then tried rarely", async () => {
  const scene = sceneWith("throws");
  const scheduler = scene.start("a", { quarantineMs: 900_000 });
  await scene.clock.advance(300_000);
  assert.equal(countOf(scene, 1), 5);
  const gaps = scene.turns
    .filter(({ id }) => id === 1)
    .map(({ atMs }, index, turns) => atMs - (turns[index - 1]?.atMs ?? 0))
    .slice(1);
  for (const [index, gap] of gaps.entries())
    assert.ok(gap >= 500 * 2 ** index && gap <= 1_000 * 2 ** index + 100, `try ${index + 2} came after ${gap} ms`);
  assert.equal(scheduler.snapshot().quarantined, 1);
  const status = scene.store.subject(1).settlements.at(-1)?.status;
  assert.deepEqual(
    status?.conditions.map(({ reason, status: value, type }) => [type, value, reason]),
    [
      ["Ready", "Unknown", "Quarantined"],
      ["Synced", "Unknown", "NotSeen"],
    ],
  );
  assert.equal(status?.failing, true, "the shard's sweep does not speak for it");
  await scene.clock.advance(900_000);
  assert.equal(countOf(scene, 1), 6, "one try every quarter of an hour");
  assert.equal(
    scene.store.subject(1).settlements.length,
    2,
    "and written down each time, with the time of the next one",
  );
});

test("a poisoned subject affects only itself: the others are looked at as if it were not there", async () => {
  for (const behaviour of ["throws", "hangs"] as const) {
    const scene = sceneWith(behaviour);
    scene.start("a", { cycleDeadlineMs: 5_000, abandonAfterMs: 1_000 });
    await scene.clock.advance(120_000);
    for (const id of HEALTHY)
      assert.ok(
        countOf(scene, id) >= 10 && countOf(scene, id) <= 14,
        `${behaviour}: subject ${id} was looked at ${countOf(scene, id)} times in 12 intervals`,
      );
  }
});

test("a hanging cycle is aborted at its deadline and given up soon after; its slot is free again", async () => {
  const scene = new Scene();
  for (const id of [1, 2]) scene.store.add({ id, shard: 1, due: id === 1 });
  scene.behaviours.set(1, "hangs");
  const scheduler = scene.start("a", { inFlightMax: 1, cycleDeadlineMs: 30_000, abandonAfterMs: 5_000 });
  await scene.clock.advance(29_000);
  scene.store.touch(2);
  await scene.clock.advance(2_000);
  assert.equal(scene.turns[0]?.claim.signal.aborted, true);
  assert.equal(scene.turns[0]?.claim.leaseRemainingMs(), 0, "no call may start any more, though the lease lasts");
  assert.deepEqual(scene.ids(), [1], "it may still stop by itself");
  await scene.clock.advance(5_000);
  assert.deepEqual(scene.ids().slice(0, 2), [1, 2]);
  assert.equal(scheduler.snapshot().abandoned, 1);
});

test("a cycle that was given up and wakes again can neither get a permit nor write", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1, due: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  let zombie: Engine | undefined;
  scene.behaviours.set(1, async (engine) => {
    zombie = engine;
    await promise;
    throw new Error("too late");
  });
  const scheduler = scene.start("a", { cycleDeadlineMs: 1_000, abandonAfterMs: 1_000 });
  await scene.clock.advance(1_500);
  const settlement = {
    actor: { holder: "", shard: 1, epoch: 1 },
    subject: { id: 1, organizationId: "", resourceUid: "", accountId: undefined, kind: "", name: "", shard: 1 },
    inputVersion: 1,
    verdicts: [],
    gone: false,
    forgetSources: [],
    nowOwned: 0,
  };
  assert.deepEqual(
    await zombie?.store.settle(settlement),
    { kept: false, dueAgain: false },
    "aborted, but it may still record what it did",
  );
  const permit = {
    permitId: "p",
    actor: settlement.actor,
    subject: settlement.subject,
    inputs: { check: "version", inputVersion: 1 },
    deletes: false,
    forMs: 1,
    changes: [],
    memory: { owned: [], findings: [], fights: [], attempts: 0, flips: [] },
    grantIds: [],
  } as const;
  await assert.rejects(async () => await zombie?.store.permit(permit), /was ended before it could write/);
  await scene.clock.advance(1_000);
  await assert.rejects(async () => await zombie?.store.settle(settlement), /was given up/);
  await assert.rejects(async () => await zombie?.store.load(1), /was given up/);
  assert.equal(scheduler.snapshot().abandoned, 1);
  resolve();
  await scene.clock.advance(10);
  assert.equal(scheduler.snapshot().abandoned, 0);
});

test("a hanging subject's quarantine is written down only when no permit of it can be alive", async () => {
  const scene = sceneWith("hangs");
  scene.start("a", { cycleDeadlineMs: 1_000, abandonAfterMs: 500, permitOutlivesMs: 60_000 });
  await scene.clock.advance(35_000);
  assert.equal(countOf(scene, 1), 5);
  const fifth = scene.turns.filter(({ id }) => id === 1).at(-1)?.atMs ?? 0;
  assert.deepEqual(scene.store.subject(1).settlements, []);
  await scene.clock.advance(fifth + 61_000 - 35_000);
  assert.deepEqual(scene.store.subject(1).settlements, []);
  await scene.clock.advance(2_000);
  assert.equal(scene.store.subject(1).settlements.length, 1);
});

test("a row that does not even load is kept apart too, by this process alone", async () => {
  const scene = sceneWith("well");
  scene.store.poisonedLoads.add(1);
  const scheduler = scene.start("a");
  await scene.clock.advance(300_000);
  assert.equal(countOf(scene, 1), 5);
  assert.equal(scheduler.snapshot().quarantined, 1);
  assert.equal(scene.events("scheduler.quarantine_not_recorded").length, 1);
});

test("a changed input gives a subject in quarantine its try at once; ending well ends the quarantine", async () => {
  const scene = sceneWith("throws");
  const scheduler = scene.start("a");
  await scene.clock.advance(300_000);
  scene.store.touch(1);
  await scene.clock.advance(1_000);
  assert.equal(countOf(scene, 1), 6);
  await scene.clock.advance(60_000);
  assert.equal(countOf(scene, 1), 6, "and it goes on being rare");
  scene.behaviours.set(1, "well");
  scene.store.touch(1);
  const since = scene.turns.length;
  await scene.clock.advance(60_000);
  assert.ok(countOf(scene, 1, since) >= 5, "looked at like any other");
  assert.equal(scheduler.snapshot().quarantined, 0);
});

test("a changed input that comes just before the quarantine is written down is not settled away with it", async () => {
  const scene = sceneWith("throws");
  scene.behaviours.set(1, async (engine) => {
    await engine.store.load(1);
    throw new Error("poison");
  });
  // The edge comes right after the fifth failure, and no poll has seen it when the quarantine is recorded.
  scene.start("a", { pollMs: 30_000, quarantineAfter: 2 });
  await scene.clock.advance(100);
  scene.store.hanging.add("dueSubjects");
  scene.behaviours.set(1, async (engine) => {
    await engine.store.load(1);
    if (countOf(scene, 1) === 2) scene.store.touch(1);
    throw new Error("poison");
  });
  await scene.clock.advance(5_000);
  assert.ok(countOf(scene, 1) >= 3, "it had its try for the new input");
  assert.ok(scene.store.subject(1).dueAtMs !== undefined);
});

test("when nothing works, no subject is to blame", () => {
  const strikes = new Strikes({ quarantineAfter: 3, quarantineMs: 3_600_000, random: { next: () => 0.5 } });
  const answered = { rank: 0, coversDueMs: 5, inputVersion: 1 };
  for (let round = 0; round < 10; round++)
    for (const id of [1, 2, 3]) assert.equal(strikes.strike(id, answered).quarantined, false);
  assert.deepEqual(
    strikes.strike(1, answered),
    { count: 1, retryInMs: 675_000, quarantined: false },
    "but the tries become rare",
  );
  strikes.clear(2);
  assert.equal(strikes.strike(1, answered).count, 2);
  assert.equal(strikes.strike(1, answered).count, 2, "nothing else ended well since");
  strikes.clear(2);
  assert.deepEqual(
    [strikes.strike(1, answered).quarantined, strikes.isUnrecorded(1), strikes.quarantined],
    [true, true, 1],
  );
  assert.equal(strikes.isKnown(1, { rank: 0, coversDueMs: 5 }), true);
  assert.equal(strikes.isKnown(1, { rank: 0, coversDueMs: 6 }), false, "a later edge");
  strikes.clear(1);
  assert.equal(strikes.quarantined, 0);
});
