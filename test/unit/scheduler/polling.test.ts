import assert from "node:assert/strict";
import { test } from "node:test";
import { report } from "./fake-store.ts";
import { Scene, settle } from "./scene.ts";

test("an edge is found within a second without a poke, and at once with one", async () => {
  const scene = new Scene();
  for (const id of [1, 2]) scene.store.add({ id, shard: id });
  const scheduler = scene.start("a");
  await scene.clock.advance(10_500);
  assert.deepEqual(scene.ids(), []);
  scene.store.touch(1);
  await scene.clock.advance(1_000);
  assert.deepEqual(scene.ids(), [1]);
  scene.store.touch(2);
  scheduler.poke([2]);
  await scene.clock.advance(3);
  assert.deepEqual(scene.ids(), [1, 2]);
});

test("many pokes share few polls", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1 });
  const scheduler = scene.start("a");
  await scene.clock.advance(10_500);
  const before = scene.store.calls.get("dueSubjects") ?? 0;
  for (let ms = 0; ms < 20; ms++) {
    for (let poke = 0; poke < 50; poke++) scheduler.poke();
    await scene.clock.advance(1);
  }
  assert.ok((scene.store.calls.get("dueSubjects") ?? 0) - before <= 12, "one for every two milliseconds");
});

test("a subject made after the listing is met when it is due, and looked at periodically from then on", async () => {
  const scene = new Scene();
  scene.everySeconds = 10;
  const scheduler = scene.start("a");
  await scene.clock.advance(5_000);
  scene.store.add({ id: 7, shard: 3, due: true });
  await scene.clock.advance(1_000);
  assert.deepEqual(scene.ids(), [7]);
  assert.equal(scheduler.snapshot().subjects, 1);
  await scene.clock.advance(30_000);
  assert.ok(scene.ids().length >= 3);
});

test("a subject that is gone has no timer any more", async () => {
  const scene = new Scene();
  scene.everySeconds = 10;
  scene.store.add({ id: 1, shard: 1, due: true });
  scene.behaviours.set(1, (engine, claim) => settle(engine, claim, { result: "gone" }));
  const scheduler = scene.start("a");
  await scene.clock.advance(60_000);
  assert.deepEqual(scene.ids(), [1]);
  assert.equal(scheduler.snapshot().subjects, 0);
});

test("an edge that comes while the subject runs is answered by one more turn", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1, due: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  // It decides from what it loaded at its start, as a cycle does.
  scene.behaviours.set(1, async (engine, claim) => {
    const input = await engine.store.load(1);
    assert.ok(input !== undefined);
    await promise;
    const answer = await engine.store.settle({
      actor: claim.actor,
      subject: input.subject,
      inputVersion: input.inputVersion,
      verdicts: [],
      gone: false,
      forgetSources: [],
      nowOwned: 0,
    });
    return report(1, "converged", { dueAgain: answer.dueAgain });
  });
  const scheduler = scene.start("a");
  await scene.clock.advance(1_000);
  scene.store.touch(1);
  scheduler.poke([1]);
  await scene.clock.advance(1_000);
  assert.deepEqual(scene.ids(), [1], "never twice at once");
  resolve();
  await scene.clock.advance(5_000);
  assert.deepEqual(scene.ids(), [1, 1]);
  assert.equal(scene.store.subject(1).dueAtMs, undefined);
});

test("a poll that was read before a cycle settled does not run the subject again", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1 });
  const scheduler = scene.start("a");
  await scene.clock.advance(10_500);
  const { promise, resolve } = Promise.withResolvers<void>();
  scene.gate = promise;
  scene.store.touch(1);
  scheduler.poke([1]);
  await scene.clock.advance(10);
  assert.deepEqual(scene.running(), [1]);
  scene.store.answersAfterMs.set("dueSubjects", 50);
  scheduler.poke([1]);
  await scene.clock.advance(20);
  resolve();
  await scene.clock.advance(5_000);
  assert.deepEqual(scene.ids(), [1], "its edge has been answered");
  scene.store.touch(1);
  await scene.clock.advance(2_000);
  assert.deepEqual(scene.ids(), [1, 1], "a later one is news");
});

test("an edge that was stamped a moment before it was committed is found by the next poll", async () => {
  const scene = new Scene();
  for (const id of [1, 2]) scene.store.add({ id, shard: 1 });
  scene.start("a");
  await scene.clock.advance(10_000);
  scene.store.touch(2);
  await scene.clock.advance(1_000);
  scene.store.subject(1).dueAtMs = scene.clock.nowMs() - 1_500;
  await scene.clock.advance(1_100);
  assert.deepEqual(scene.ids(), [2, 1]);
});

test("a backlog is read page by page and never again with every poll", async () => {
  const scene = new Scene();
  for (let id = 1; id <= 2_500; id++)
    scene.store.add({ id, shard: 1, organizationId: "noisy", due: true, priority: "event" });
  scene.store.add({ id: 9_999, shard: 1, organizationId: "quiet" });
  scene.gate = new Promise(() => {});
  const scheduler = scene.start("a", { inFlightMax: 4, pollBatch: 100 });
  await scene.clock.advance(500);
  assert.equal(scheduler.snapshot().queues[1]?.waiting, 2_498);
  await scene.clock.advance(5_000);
  const before = scene.store.calls.get("dueSubjects") ?? 0;
  await scene.clock.advance(10_000);
  assert.equal((scene.store.calls.get("dueSubjects") ?? 0) - before, 10, "once a second, one short page each");
  scene.store.touch(9_999, "event");
  scheduler.poke([1]);
  await scene.clock.advance(10);
  assert.deepEqual(scene.turns.at(-1)?.id, 9_999, "behind 2,500 in the store, and the next in turn all the same");
});

test("what a poke made it read is not read again by the next poll of all shards", async () => {
  const scene = new Scene();
  for (let id = 1; id <= 2_500; id++) scene.store.add({ id, shard: id % 2 });
  scene.gate = new Promise(() => {});
  const scheduler = scene.start("a", { inFlightMax: 4, pollBatch: 100, pollOverlapMs: 0 });
  await scene.clock.advance(10_100);
  for (let id = 1; id <= 2_500; id++) scene.store.touch(id, "event");
  scheduler.poke();
  await scene.clock.advance(500);
  assert.ok((scheduler.snapshot().queues[1]?.waiting ?? 0) > 2_400, "but for those that run");
  const before = scene.store.calls.get("dueSubjects") ?? 0;
  await scene.clock.advance(5_000);
  assert.equal((scene.store.calls.get("dueSubjects") ?? 0) - before, 5, "once a second, one short page each");
});

test("a great backlog is read slowly beside others, and their news are found as quickly as ever", async () => {
  const scene = new Scene();
  for (let id = 1; id <= 20_000; id++) scene.store.add({ id, shard: 1, organizationId: "noisy" });
  for (let id = 20_001; id <= 20_003; id++) scene.store.add({ id, shard: 2, organizationId: "quiet" });
  scene.gate = new Promise(() => {});
  const scheduler = scene.start("a", { inFlightMax: 8, organizationShare: 0.5, pollBatch: 100 });
  await scene.clock.advance(10_100);
  for (let id = 1; id <= 20_000; id++) scene.store.touch(id, "event");
  scheduler.poke([1]);
  await scene.clock.advance(500);
  const read = () => scheduler.snapshot().queues[1]?.waiting ?? 0;
  const before = read();
  assert.ok(before >= 5_000 && before < 9_000, `${before} after half a second: as much as there is use for`);
  scene.store.touch(20_001, "event");
  await scene.clock.advance(1_100);
  assert.equal(scene.turns.at(-1)?.id, 20_001, "its signal was lost: found within a second all the same");
  scene.store.touch(20_002, "event");
  scheduler.poke([2]);
  await scene.clock.advance(30);
  assert.equal(scene.turns.at(-1)?.id, 20_002, "and at once by a poke");
  const later = read();
  assert.ok(later < 15_000, `${later} a good second later`);
  await scene.clock.advance(10_000);
  assert.ok(read() > 19_800, `${read()} in the end: all but those that run`);
});

test("a shard with a little more than a page does not wait for the end of a great backlog", async () => {
  const scene = new Scene();
  for (let id = 1; id <= 20_000; id++) scene.store.add({ id, shard: 1, organizationId: "noisy" });
  for (let id = 20_001; id <= 20_150; id++) scene.store.add({ id, shard: 2, organizationId: "quiet" });
  scene.gate = new Promise(() => {});
  const scheduler = scene.start("a", { inFlightMax: 8, organizationShare: 0.5, pollBatch: 100 });
  await scene.clock.advance(10_100);
  for (let id = 1; id <= 20_000; id++) scene.store.touch(id, "event");
  await scene.clock.advance(10);
  for (let id = 20_001; id <= 20_150; id++) scene.store.touch(id, "event");
  scheduler.poke([1, 2]);
  await scene.clock.advance(500);
  assert.ok((scheduler.snapshot().queues[1]?.waiting ?? 0) < 10_000);
  assert.ok(scene.ids().some((id) => id > 20_000));
});

test("after a start everything that is due is read quickly: nobody's signals have been heard", async () => {
  const scene = new Scene();
  for (let id = 1; id <= 20_000; id++) scene.store.add({ id, shard: 1, organizationId: "noisy", due: true });
  scene.store.add({ id: 20_001, shard: 2, organizationId: "quiet", due: true });
  scene.gate = new Promise(() => {});
  const scheduler = scene.start("a", { inFlightMax: 8, organizationShare: 0.5, pollBatch: 100 });
  await scene.clock.advance(600);
  assert.equal(scheduler.snapshot().queues[0]?.waiting, 20_000 - 4);
  assert.ok(scene.ids().includes(20_001));
});

test("what has no room stays in the store and is read when there is room again", async () => {
  const scene = new Scene();
  for (let id = 1; id <= 300; id++) scene.store.add({ id, shard: id % 64, due: true });
  scene.start("a", {
    inFlightMax: 2,
    queuedMax: 20,
    queuedPerOrganizationMax: 15,
    pollBatch: 10,
    organizationShare: 1,
    accountShare: 1,
  });
  await scene.clock.advance(120_000);
  assert.deepEqual(new Set(scene.ids()), new Set(Array.from({ length: 300 }, (_, index) => index + 1)));
  assert.equal(scene.ids().length, 300);
});

test("an edge that was stamped long before it was committed is found by the next whole reading", async () => {
  const scene = new Scene();
  for (const id of [1, 2]) scene.store.add({ id, shard: 1 });
  scene.start("a");
  await scene.clock.advance(10_000);
  scene.store.touch(2);
  await scene.clock.advance(1_000);
  scene.store.subject(1).dueAtMs = scene.clock.nowMs() - 9_000;
  await scene.clock.advance(31_000);
  assert.deepEqual(scene.ids(), [2, 1]);
});

test("a stored backoff runs at its time without a poll having to find it", async () => {
  const scene = new Scene();
  scene.store.add({ id: 1, shard: 1, due: true });
  scene.behaviours.set(1, (engine, claim) =>
    settle(engine, claim, { result: "failed", nextInMs: scene.turns.length === 1 ? 2_345 : undefined }),
  );
  scene.start("a", { pollMs: 60_000, fullPollEveryMs: 3_600_000 });
  await scene.clock.advance(30_000);
  const [first, second] = scene.turns;
  const tookMs = (second?.atMs ?? 0) - (first?.atMs ?? 0);
  // Not before its time, and together with others whose time comes within the same quarter of a second.
  assert.ok(tookMs >= 2_345 && tookMs <= 2_345 + 250 + 40, `${tookMs} ms`);
  assert.equal(scene.turns.length, 2);
});

test("each subject is looked at once per interval, and one of an unknown kind too, so that it is reported", async () => {
  const scene = new Scene();
  scene.everySeconds = 60;
  for (let id = 1; id <= 50; id++) scene.store.add({ id, shard: id });
  scene.store.add({ id: 99, shard: 1, kind: "Uninstalled" });
  scene.start("a", { unknownKindEverySeconds: 200 });
  await scene.clock.advance(600_000);
  const turns = scene.ids().filter((id) => id !== 99).length;
  assert.ok(turns >= 50 * 9 && turns <= 50 * 11, `${turns} looks of 50 subjects in ten minutes`);
  const unknown = scene.ids().filter((id) => id === 99).length;
  assert.ok(unknown >= 2 && unknown <= 4, `${unknown} looks at the unknown kind`);
});

test("a store whose clock was set back is found out: edges do not stay unseen", async () => {
  const scene = new Scene();
  for (const id of [1, 2, 3]) scene.store.add({ id, shard: 1 });
  scene.start("a");
  await scene.clock.advance(10_000);
  scene.store.touch(1);
  await scene.clock.advance(2_000);
  scene.clock.jumpWall(-600_000);
  await scene.clock.advance(20_000);
  scene.store.touch(2);
  await scene.clock.advance(31_000);
  assert.deepEqual(scene.ids(), [1, 2], "by a whole reading");
  scene.store.touch(3);
  await scene.clock.advance(2_000);
  assert.deepEqual(scene.ids(), [1, 2, 3], "and from then on as before");
});

test("periodic looks keep to their rate when more are due than it allows, and a person's edit does not wait for them", async () => {
  const scene = new Scene();
  scene.everySeconds = 1;
  for (let id = 1; id <= 3_000; id++) scene.store.add({ id, shard: id % 64 });
  const scheduler = scene.start("a", { periodicPerSecond: 50 });
  await scene.clock.advance(5_000);
  const before = scene.turns.length;
  await scene.clock.advance(4_000);
  assert.ok(
    scene.turns.length - before >= 190 && scene.turns.length - before <= 210,
    `${scene.turns.length - before} in 4 s`,
  );
  assert.ok((scheduler.snapshot().queues[3]?.waiting ?? 0) > 2_000);
  scene.store.touch(1_234);
  scheduler.poke();
  await scene.clock.advance(3);
  assert.deepEqual([scene.turns.at(-1)?.id, scene.turns.at(-1)?.claim.trigger], [1_234, "person"]);
});
