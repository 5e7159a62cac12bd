import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene } from "./scene.ts";

test("takes all shards when it is alone, and starts each quietly because nobody handed them over", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 7, due: true });
  const scheduler = scene.start("a");
  await scene.clock.advance(100);
  assert.equal(scheduler.snapshot().shards.length, 64);
  const claim = scene.turns[0]?.claim;
  assert.deepEqual([claim?.actor.shard, claim?.actor.epoch, claim?.trigger], [7, 1, "person"]);
  assert.ok(claim?.quietSinceMonotonicMs !== undefined);
});

test("keeps its shards with one renewal every five seconds", async () => {
  const scene = new Scene();
  scene.start("a");
  await scene.clock.advance(600_000);
  assert.equal(scene.store.heldBy("a").length, 64);
  assert.deepEqual(new Set(scene.store.shards.map(({ epoch }) => epoch)), new Set([1]));
  assert.ok((scene.store.calls.get("renewShards") ?? 0) <= 122);
  assert.equal(scene.store.calls.get("takeShards"), 1);
});

test("a second scheduler gets its half, in order: no quiet start, and nothing runs twice or is left out", async () => {
  const scene = new Scene();
  scene.everySeconds = 10;
  for (let id = 1; id <= 128; id++) scene.store.add({ id, shard: id % 64 });
  const first = scene.start("a");
  await scene.clock.advance(20_000);
  const second = scene.start("b");
  await scene.clock.advance(20_000);
  assert.equal(first.snapshot().shards.length, 32);
  assert.equal(second.snapshot().shards.length, 32);
  assert.equal(scene.store.heldBy("a").length + scene.store.heldBy("b").length, 64);
  const since = scene.turns.length;
  await scene.clock.advance(15_000);
  assert.deepEqual(new Set(scene.ids(since)), new Set(Array.from({ length: 128 }, (_, index) => index + 1)));
  const handedOver = scene.turns.filter(({ holder }) => holder === "b");
  assert.ok(handedOver.length > 0);
  for (const { claim } of handedOver)
    assert.deepEqual([claim.quietSinceMonotonicMs, claim.actor.epoch], [undefined, 2]);
});

test("a third and a fourth take their shares too, and a leaving one's shards go to those who stay", async () => {
  const scene = new Scene();
  const schedulers = ["a", "b", "c"].map((holder) => scene.start(holder));
  await scene.clock.advance(30_000);
  assert.deepEqual(
    schedulers.map((each) => each.snapshot().shards.length).sort((left, right) => left - right),
    [20, 22, 22],
  );
  const [first, second, third] = schedulers;
  await Promise.all([second?.drain(), scene.clock.advance(1_000)]);
  assert.equal(second?.snapshot().shards.length, 0);
  await scene.clock.advance(30_000);
  assert.deepEqual([first?.snapshot().shards.length, third?.snapshot().shards.length], [32, 32]);
});

test("a shard waits for its running cycles before it is handed over, and starts no others", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 63, due: true });
  scene.store.add({ id: 2, shard: 63 });
  const { promise, resolve } = Promise.withResolvers<void>();
  scene.gate = promise;
  scene.start("a");
  await scene.clock.advance(1_000);
  assert.deepEqual(scene.running(), [1]);
  scene.start("b");
  await scene.clock.advance(10_000);
  assert.deepEqual(scene.store.heldBy("a").includes(63), true, "its cycle runs");
  scene.store.touch(2);
  await scene.clock.advance(2_000);
  assert.deepEqual(scene.ids(), [1], "nothing more starts there");
  resolve();
  await scene.clock.advance(5_000);
  assert.equal(scene.store.heldBy("b").includes(63), true);
  assert.deepEqual(
    scene.turns.map(({ holder, id }) => [holder, id]),
    [
      ["a", 1],
      ["b", 2],
    ],
  );
  assert.equal(scene.turns[1]?.claim.quietSinceMonotonicMs, undefined, "in order");
});

test("a cycle that will not end is not handed over in order: its shard runs out and the next holder starts quietly", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 63, due: true });
  scene.store.add({ id: 2, shard: 62, due: true });
  scene.behaviours.set(1, "hangs");
  scene.start("a");
  await scene.clock.advance(1_000);
  scene.start("b");
  await scene.clock.advance(20_000);
  assert.equal(scene.store.heldBy("b").includes(62), true);
  assert.equal(scene.store.heldBy("a").includes(63), true);
  await scene.clock.advance(45_000);
  assert.equal(scene.store.heldBy("b").includes(63), true);
  const turn = scene.turns.find(({ holder, id }) => holder === "b" && id === 1);
  assert.ok(turn?.claim.quietSinceMonotonicMs !== undefined, "a quiet start");
  assert.equal(scene.events("scheduler.shard_forsaken").length, 1);
});

test("a lost shard ends its cycles and drops its timers; the others go on", async () => {
  const scene = new Scene();
  scene.everySeconds = 10;
  for (const id of [1, 2]) scene.store.add({ id, shard: id, accountId: `account-${id}`, due: true });
  for (const id of [11, 12]) scene.store.add({ id, shard: id - 10, accountId: `account-${id - 10}` });
  scene.behaviours.set(1, "stubborn");
  scene.behaviours.set(2, "stubborn");
  const scheduler = scene.start("a", { wantedShards: 3 });
  await scene.clock.advance(1_000);
  assert.deepEqual(scene.running(), [1, 2]);
  Object.assign(scene.store.shards[1] ?? {}, { holder: "thief", epoch: 9, untilMs: scene.clock.nowMs() + 3_600_000 });
  await scene.clock.advance(5_000);
  assert.equal(scene.turns[0]?.claim.signal.aborted, true);
  assert.equal(scene.turns[0]?.claim.leaseRemainingMs(), 0);
  assert.equal(scene.turns[1]?.claim.signal.aborted, false);
  assert.ok((scene.turns[1]?.claim.leaseRemainingMs() ?? 0) > 0);
  assert.deepEqual(scene.forgotten, ["account-1"], "what was read of its accounts is forgotten");
  const since = scene.turns.length;
  await scene.clock.advance(40_000);
  assert.ok(scene.ids(since).includes(12));
  assert.ok(!scene.ids(since).includes(11) && !scene.ids(since).includes(1), "it has no timer any more");
  assert.equal(scheduler.snapshot().subjects, 2);
});

test("counts a lease from before the renewal was sent: with a silent store it ends by itself", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1, due: true });
  scene.behaviours.set(1, "stubborn");
  const scheduler = scene.start("a");
  await scene.clock.advance(6_000);
  const claim = scene.turns[0]?.claim;
  const before = claim?.leaseRemainingMs() ?? 0;
  assert.ok(before > 13_000 && before <= 15_000);
  scene.store.hanging.add("renewShards");
  await scene.clock.advance(10_000);
  assert.equal(claim?.leaseRemainingMs(), before - 10_000);
  await scene.clock.advance(5_000);
  assert.equal(claim?.signal.aborted, true);
  assert.equal(scheduler.snapshot().shards.length, 0);
  scene.store.hanging.clear();
  await scene.clock.advance(10_000);
  assert.equal(scheduler.snapshot().shards.length, 64, "and is taken again when the store is back");
});

test("a slow answer does not lengthen a lease: it counts from before the renewal was sent", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1, due: true });
  scene.behaviours.set(1, "stubborn");
  scene.store.answersAfterMs.set("renewShards", 3_000);
  scene.start("a");
  await scene.clock.advance(3_500);
  const remainingMs = scene.turns[0]?.claim.leaseRemainingMs() ?? 0;
  assert.equal(remainingMs, (scene.store.shards[1]?.untilMs ?? 0) - scene.clock.nowMs());
  assert.equal(remainingMs, 11_500);
});

test("a wall clock set forward ends the lease, and a machine that slept does not trust its monotonic clock", async () => {
  for (const disturb of ["jumpWall", "sleep"] as const) {
    const scene = new Scene();
    scene.store.add({ id: 1, shard: 1, due: true });
    scene.behaviours.set(1, "stubborn");
    scene.start("a");
    await scene.clock.advance(1_000);
    scene.clock[disturb](20_000);
    assert.equal(scene.turns[0]?.claim.leaseRemainingMs(), 0, disturb);
    await scene.clock.advance(1_100);
    assert.equal(scene.turns[0]?.claim.signal.aborted, true, "found out long before the next renewal");
  }
});

test("a wall clock set back does not lengthen a lease", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1, due: true });
  scene.behaviours.set(1, "stubborn");
  scene.start("a");
  await scene.clock.advance(1_000);
  scene.store.failing.add("renewShards");
  scene.clock.jumpWall(-3_600_000);
  await scene.clock.advance(4_000);
  assert.ok((scene.turns[0]?.claim.leaseRemainingMs() ?? 99_999) <= 11_000);
});

test("an answer that was lost gives no lease longer than the store knows", async () => {
  const scene = new Scene();
  const store = scene.store.port();
  // The store takes the shards and the answer is lost; the next question shows them as ours, with less time left.
  await store.takeShards({ holder: "a/1-1", wanted: 64, leaseMs: 15_000 });
  await scene.clock.advance(14_000);
  scene.store.add({ id: 1, shard: 1, due: true });
  scene.behaviours.set(1, "stubborn");
  scene.store.failing.add("renewShards");
  const scheduler = scene.start("a");
  await scene.clock.advance(500);
  assert.deepEqual(scene.ids(), [], "not used before a renewal has proven how long it lasts");
  assert.equal(scheduler.snapshot().shards.length, 0);
  scene.store.failing.clear();
  await scene.clock.advance(5_000);
  assert.deepEqual(scene.ids(), [1]);
  assert.ok(
    (scene.turns[0]?.claim.leaseRemainingMs() ?? 0) <= (scene.store.shards[1]?.untilMs ?? 0) - scene.clock.nowMs(),
  );
});

test("a restarted process is another holder: it does not inherit the leases of the one before it", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1, due: true });
  const before = scene.start("a");
  await scene.clock.advance(1_000);
  const after = scene.start("a");
  await scene.clock.advance(100);
  assert.notEqual(after.snapshot().holder, before.snapshot().holder);
  assert.equal(after.snapshot().shards.length, 0);
});

test("a share that is given as a number is kept, whoever else is there", async () => {
  const scene = new Scene();
  const first = scene.start("a", { wantedShards: 5 });
  const second = scene.start("b", { wantedShards: 0 });
  await scene.clock.advance(20_000);
  assert.deepEqual([first.snapshot().shards.length, second.snapshot().shards.length], [5, 0]);
});

test("a failing store costs time and nothing else", async () => {
  const scene = new Scene();
  scene.everySeconds = 10;
  for (let id = 1; id <= 20; id++) scene.store.add({ id, shard: id });
  const scheduler = scene.start("a");
  await scene.clock.advance(15_000);
  for (const method of [
    "takeShards",
    "renewShards",
    "shardHolders",
    "dueSubjects",
    "listSubjects",
    "load",
    "settle",
    "recordIdle",
  ])
    scene.store.failing.add(method);
  await scene.clock.advance(60_000);
  assert.equal(scheduler.snapshot().shards.length, 0);
  scene.store.failing.clear();
  const since = scene.turns.length;
  await scene.clock.advance(30_000);
  assert.deepEqual(new Set(scene.ids(since)), new Set(Array.from({ length: 20 }, (_, index) => index + 1)));
  assert.equal(scheduler.snapshot().quarantined, 0, "nobody is punished for the store");
  assert.ok(scene.events("scheduler.store_failed").length > 0);
});
