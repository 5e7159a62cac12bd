import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene } from "./scene.ts";

const edge = (subjectId: number, shard: number, dueAtMs: number) => ({
  subjectId,
  shard,
  priority: "event" as const,
  dueAtMs,
});

test("a subject that a signal names has its turn at once, without a poll", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 7 });
  const scheduler = scene.start("a", { pollMs: 3_600_000 });
  await scene.clock.advance(1_000);
  const before = scene.turns.length;
  scheduler.hear({ shards: [], due: [edge(1, 7, 5)] });
  assert.deepEqual(scene.ids(before), [1]);
  assert.equal(scene.turns.at(-1)?.claim.trigger, "event");
});

test("a signal about a subject nobody has listed yet is a reason to ask the store", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 7 });
  const scheduler = scene.start("a", { pollMs: 3_600_000 });
  await scene.clock.advance(1_000);
  const before = scene.turns.length;
  scene.store.add({ id: 2, shard: 7, due: true });
  scheduler.hear({ shards: [], due: [edge(2, 7, scene.clock.nowMs())] });
  await scene.clock.advance(100);
  assert.deepEqual(scene.ids(before), [2]);
});

test("a signal about somebody else's shard is nothing", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 7 });
  const scheduler = scene.start("a", { wantedShards: 0 });
  await scene.clock.advance(1_000);
  scheduler.hear({ shards: [7], due: [edge(1, 7, 5)] });
  await scene.clock.advance(1_000);
  assert.deepEqual(scene.ids(), []);
});

test("an edge that the store shows again has been answered already", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 7 });
  const scheduler = scene.start("a");
  await scene.clock.advance(1_000);
  const before = scene.turns.length;
  scene.store.touch(1);
  scheduler.hear({ shards: [], due: [edge(1, 7, scene.clock.nowMs())] });
  await scene.clock.advance(5_000);
  assert.deepEqual(scene.ids(before), [1], "one edge, one turn");
});
