import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene } from "./scene.ts";

test("drains: starts nothing more, lets what runs end, releases every shard in order, and leaves nothing waiting", async () => {
  const scene = new Scene();
  for (const id of [1, 2]) scene.store.add({ id, shard: id, due: id === 1 });
  const { promise, resolve } = Promise.withResolvers<void>();
  scene.gate = promise;
  const scheduler = scene.start("a");
  await scene.clock.advance(1_000);
  const drained = scheduler.drain();
  scene.store.touch(2);
  scheduler.poke();
  await scene.clock.advance(3_000);
  assert.deepEqual(scene.running(), [1]);
  assert.equal(scene.turns[0]?.claim.signal.aborted, false, "it may end by itself");
  assert.ok((scene.turns[0]?.claim.leaseRemainingMs() ?? 0) > 0, "and its lease is renewed meanwhile");
  resolve();
  await scene.clock.advance(10);
  await drained;
  assert.deepEqual(scene.ids(), [1]);
  assert.equal(scene.store.subject(1).settlements.length, 1, "what ran was settled");
  assert.deepEqual(scene.store.heldBy("a"), []);
  assert.ok(
    scene.store.shards.every(({ quietNext }) => !quietNext),
    "in order: the next holder need not start quietly",
  );
  assert.equal(scheduler.snapshot().subjects, 0);
  await scene.clock.advance(120_000);
  assert.equal(scene.clock.waiting, 0, "no timer is left");
});

test("a cycle that does not end in time is aborted; one that ignores that is given up, and its shard is not released", async () => {
  const scene = new Scene();
  for (const id of [1, 2, 3]) scene.store.add({ id, shard: id, due: true });
  scene.behaviours.set(1, "stubborn");
  scene.behaviours.set(2, "hangs");
  const scheduler = scene.start("a", { drainMs: 20_000, abandonAfterMs: 5_000 });
  await scene.clock.advance(1_000);
  let drained = false;
  const draining = scheduler.drain().then(() => {
    drained = true;
    return undefined;
  });
  await scene.clock.advance(19_000);
  assert.deepEqual(
    scene.turns.map(({ claim }) => claim.signal.aborted),
    [false, false, false],
  );
  await scene.clock.advance(2_000);
  assert.deepEqual(
    scene.turns.map(({ claim }) => claim.signal.aborted),
    [true, true, false],
  );
  assert.deepEqual(scene.running(), [2]);
  await scene.clock.advance(5_000);
  await draining;
  assert.equal(drained, true);
  assert.deepEqual(scene.store.heldBy("a"), [2], "its lease runs out instead");
  assert.equal(scene.store.shards[2]?.quietNext, true);
});

test("draining twice waits for the same end, and disposal drains", async () => {
  const scene = new Scene();
  const scheduler = scene.start("a");
  await scene.clock.advance(1_000);
  await Promise.all([scheduler.drain(), scheduler.drain(), scheduler[Symbol.asyncDispose](), scene.clock.advance(100)]);
  assert.equal(scene.store.calls.get("releaseShards"), 1);
});

test("drains before it has any shard, and while the store does not answer", async () => {
  const early = new Scene();
  await Promise.all([early.start("a").drain(), early.clock.advance(100)]);
  assert.deepEqual(early.store.heldBy("a"), []);

  const silent = new Scene();
  const scheduler = silent.start("a");
  await silent.clock.advance(1_000);
  for (const method of ["releaseShards", "renewShards", "recordIdle", "dueSubjects"]) silent.store.hanging.add(method);
  let drained = false;
  void scheduler.drain().then(() => {
    drained = true;
    return undefined;
  });
  await silent.clock.advance(15_000);
  assert.equal(drained, true, "a store that is gone cannot keep the process");
});
