import assert from "node:assert/strict";
import { test } from "node:test";
import { IdleAggregate } from "../../../src/scheduler/idle-aggregate.ts";
import { Scene, settle } from "./scene.ts";

test("idle cycles are recorded in batches: far less than one commit for a hundred of them", async () => {
  const scene = new Scene();
  scene.everySeconds = 60;
  for (let id = 1; id <= 1_200; id++) scene.store.add({ id, shard: id % 64 });
  scene.start("a");
  await scene.clock.advance(180_000);
  const cycles = scene.ids().length;
  assert.ok(cycles > 3_000);
  const recorded = scene.store.idle.flatMap(({ cycles: counts }) => counts).reduce((sum, { count }) => sum + count, 0);
  assert.ok(cycles - recorded <= 250, `${recorded} of ${cycles} are recorded, the rest of the last seconds comes next`);
  assert.ok(scene.store.idle.length / cycles <= 0.01, `${scene.store.idle.length} commits for ${cycles} cycles`);
  for (const { cycles: counts } of scene.store.idle)
    for (const { kind, minuteMs } of counts) assert.deepEqual([kind, minuteMs % 60_000], ["Thing", 0]);
});

test("a small installation records three times a minute at most, and nothing when nothing happened", async () => {
  const scene = new Scene();
  scene.everySeconds = 20;
  for (const id of [1, 2, 3]) scene.store.add({ id, shard: 1 });
  const scheduler = scene.start("a");
  await scene.clock.advance(600_000);
  assert.ok(scene.store.idle.length >= 25 && scene.store.idle.length <= 30, String(scene.store.idle.length));
  await Promise.all([scheduler.drain(), scene.clock.advance(1_000)]);

  const still = new Scene();
  still.start("a");
  await still.clock.advance(600_000);
  assert.deepEqual(still.store.idle, []);
});

test("a shard is reported as seen since its oldest look, in step with the looks, and not before all were looked at", async () => {
  const scene = new Scene();
  scene.everySeconds = 60;
  for (let id = 1; id <= 200; id++) scene.store.add({ id, shard: 9 });
  scene.start("a");
  await scene.clock.advance(300_000);
  const seen = scene.store.idle.flatMap((batch) => batch.seen);
  assert.ok(seen.length > 0);
  const startMs = 1_700_000_000_000;
  for (const { shard, sinceMs } of seen) {
    assert.equal(shard, 9);
    // Whatever it claims, every subject really had a turn between then and now.
    const atMs = sinceMs - startMs;
    const looked = new Set(scene.turns.filter((turn) => turn.atMs >= atMs).map(({ id }) => id));
    assert.equal(looked.size, 200);
  }
  const last = seen.at(-1)?.sinceMs ?? 0;
  assert.ok(
    startMs + 300_000 - last <= 100_000,
    `the last claim is ${startMs + 300_000 - last} ms old, with looks every 60 s`,
  );
});

test("a loop of a minute is reported as young as it is, beside one of an hour in the same shard", async () => {
  const scene = new Scene();
  scene.everySeconds = 60;
  for (let id = 1; id <= 20; id++) scene.store.add({ id, shard: 9 });
  for (let id = 21; id <= 30; id++) scene.store.add({ id, shard: 9, kind: "Slow" });
  scene.start("a");
  await scene.clock.advance(1_500_000);
  const startMs = 1_700_000_000_000;
  const ageOf = (sinceMs: number | undefined) => startMs + 1_500_000 - (sinceMs ?? 0);
  const batches = scene.store.idle;
  const last = (kind: string) => batches.flatMap(({ loopsSeen }) => loopsSeen).findLast((one) => one.kind === kind);
  for (const { shard, kind, sinceMs } of batches.flatMap(({ loopsSeen }) => loopsSeen)) {
    assert.equal(shard, 9);
    const [from, to] = kind === "Slow" ? [21, 30] : [1, 20];
    const looked = scene.turns.filter(({ id, atMs }) => id >= from && id <= to && atMs >= sinceMs - startMs);
    assert.equal(new Set(looked.map(({ id }) => id)).size, to - from + 1, "every one of them had a turn since");
  }
  const minute = ageOf(last("Thing")?.sinceMs);
  assert.ok(minute <= 100_000, `the loop of a minute reads ${minute} ms old`);
  const shardAge = ageOf(batches.flatMap(({ seen }) => seen).at(-1)?.sinceMs);
  assert.ok(shardAge > 600_000, `the shard as a whole is as old as its slowest loop: ${shardAge} ms`);
});

test("a failing subject does not hold its shard back, because its own record speaks for it; a superseded one does", async () => {
  for (const [result, held] of [
    ["failed", false],
    ["paused", false],
    ["superseded", true],
  ] as const) {
    const scene = new Scene();
    scene.everySeconds = 20;
    for (const id of [1, 2, 3]) scene.store.add({ id, shard: 1 });
    scene.behaviours.set(3, (engine, claim) => settle(engine, claim, { result, nextInMs: 20_000 }));
    scene.start("a");
    await scene.clock.advance(180_000);
    const seen = scene.store.idle.flatMap((batch) => batch.seen);
    assert.equal(seen.length === 0, held, result);
  }
});

test("what the store could not take is part of the next batch", async () => {
  const scene = new Scene();
  scene.everySeconds = 60;
  for (let id = 1; id <= 600; id++) scene.store.add({ id, shard: id % 64 });
  scene.start("a");
  await scene.clock.advance(30_000);
  scene.store.failing.add("recordIdle");
  await scene.clock.advance(60_000);
  scene.store.failing.clear();
  await scene.clock.advance(60_500);
  const recorded = scene.store.idle.flatMap(({ cycles }) => cycles).reduce((sum, { count }) => sum + count, 0);
  assert.ok(scene.ids().length - recorded <= 130, `${recorded} of ${scene.ids().length}`);
});

test("freshness keeps the newest per account and collection until it is recorded", () => {
  const idle = new IdleAggregate();
  idle.fresh([{ accountId: "a", collection: "servers", completeAtMs: 5 }]);
  idle.fresh([
    { accountId: "a", collection: "servers", completeAtMs: 9 },
    { accountId: "b", collection: "servers", completeAtMs: 7 },
  ]);
  idle.fresh([{ accountId: "a", collection: "servers", completeAtMs: 6 }]);
  idle.note("Thing", 61_000, true);
  idle.note("Thing", 62_000, false);
  const loopsSeen = [
    { shard: 3, kind: "Thing", sinceMs: 60 },
    { shard: 3, kind: "Slow", sinceMs: 40 },
  ];
  const seen = { shards: [{ shard: 3, sinceMs: 40 }], loops: loopsSeen };
  const batch = idle.take("me", seen, 62_000);
  assert.deepEqual(batch, {
    holder: "me",
    cycles: [{ kind: "Thing", minuteMs: 60_000, count: 1 }],
    freshness: [
      { accountId: "a", collection: "servers", completeAtMs: 9 },
      { accountId: "b", collection: "servers", completeAtMs: 7 },
    ],
    seen: [{ shard: 3, sinceMs: 40 }],
    loopsSeen,
  });
  assert.equal(idle.take("me", seen, 63_000), undefined, "nothing new");
  assert.ok(batch !== undefined);
  idle.giveBack(batch);
  assert.deepEqual(idle.take("me", seen, 64_000), batch);
  const younger = { ...seen, loops: [{ shard: 3, kind: "Thing", sinceMs: 61 }, ...loopsSeen.slice(1)] };
  assert.deepEqual(idle.take("me", younger, 65_000)?.loopsSeen, younger.loops.slice(0, 1), "only what is news");
  idle.forgetShard(3);
  assert.deepEqual(idle.take("me", younger, 66_000)?.loopsSeen, younger.loops, "the next holder has to say it itself");
});
