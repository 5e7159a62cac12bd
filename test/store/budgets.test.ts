import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { allowedDeletes } from "../../src/kernel/delete-budget.ts";
import type { DeleteLimit } from "../../src/ports/records.ts";
import { StoreError } from "../../src/store/errors.ts";
import { openStores, type StoreServer, startStoreServer } from "./support/stores.ts";
import { holder, makeWorld, settlementFor } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

const wide: DeleteLimit = { count: 1_000, percent: 100, atLeast: 1_000 };

test("reservations made at once by two processes never exceed a limit", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  await using other = openStores(url);
  const world = await makeWorld(stores);
  const input = await world.subject("busy");
  const limits = { account: { ...wide, count: 10 }, organization: wide, platform: wide };
  const request = { actor: world.actor(input), subject: input.subject, ungranted: 1, granted: 0, limits };
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? stores : other).engine.reserveDeletes(request)),
  );
  assert.equal(answers.filter((answer) => answer.ungrantedPass).length, 10);
  const after = await stores.engine.reserveDeletes({ ...request, ungranted: 0 });
  assert.deepEqual(
    after.levels.map(({ level, used }) => [level, used]),
    [
      ["account", 10],
      ["organization", 10],
      ["platform", 10],
    ],
    "what passed is charged at every level, what did not at none",
  );
});

test("granted deletes pass above the limit, are charged, and are forgotten after an hour", async () => {
  let nowMs = 1_700_000_000_000;
  await using stores = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const world = await makeWorld(stores);
  const input = await world.subject("granted");
  const limit = { count: 20, percent: 20, atLeast: 3 };
  const limits = { account: limit, organization: limit, platform: limit };
  const request = { actor: world.actor(input), subject: input.subject, limits };
  await stores.engine.renewShards({ holder, leaseMs: 36_000_000, shards: [request.actor] });
  await stores.engine.settle(settlementFor(world, input, { nowOwned: 26 }));
  const first = await stores.engine.reserveDeletes({ ...request, ungranted: 2, granted: 9 });
  assert.equal(first.current, true);
  assert.equal(first.ungrantedPass, false);
  const [account] = first.levels;
  assert.deepEqual(account, { level: "account", used: 0, owned: 26, allowed: allowedDeletes(limit, 26) });
  const second = await stores.engine.reserveDeletes({ ...request, ungranted: 1, granted: 0 });
  assert.deepEqual([second.ungrantedPass, second.levels[2]?.used], [false, 9]);
  nowMs += 59 * 60_000;
  assert.equal((await stores.engine.reserveDeletes({ ...request, ungranted: 1, granted: 0 })).ungrantedPass, false);
  nowMs += 60_000;
  assert.equal((await stores.engine.reserveDeletes({ ...request, ungranted: 1, granted: 0 })).ungrantedPass, true);
});

test("a reservation under a lost lease charges nothing", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const input = await world.subject("lost");
  const limits = { account: wide, organization: wide, platform: wide };
  const actor = { ...world.actor(input), epoch: 0 };
  const request = { actor, subject: input.subject, ungranted: 1, granted: 1, limits };
  assert.deepEqual(await stores.engine.reserveDeletes(request), { current: false, ungrantedPass: false, levels: [] });
  const now = await stores.engine.reserveDeletes({ ...request, actor: world.actor(input) });
  assert.deepEqual(
    now.levels.map(({ used }) => used),
    [0, 0, 0],
  );
});

test("the limit is computed as the engine computes it", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const input = await world.subject("computed");
  await stores.engine.settle(settlementFor(world, input, { nowOwned: 37 }));
  for (const limit of [
    { count: 5, percent: 20, atLeast: 1 },
    { count: 50, percent: 33, atLeast: 2 },
    { count: 50, percent: 1, atLeast: 4 },
    { count: 0, percent: 100, atLeast: 9 },
    { count: 50, percent: 14.7, atLeast: 0 },
  ]) {
    const limits = { account: limit, organization: limit, platform: limit };
    const request = { actor: world.actor(input), subject: input.subject, ungranted: 0, granted: 0, limits };
    const { levels } = await stores.engine.reserveDeletes(request);
    for (const { allowed, owned } of levels) assert.equal(allowed, allowedDeletes(limit, owned));
  }
});

test("calls are taken from a bucket that refills, with a fifth kept for people", async () => {
  let nowMs = 1_700_000_000_000;
  await using stores = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const { accountId } = await makeWorld(stores);
  const take = (wanted: number, forPerson: boolean) => stores.engine.takeCalls({ accountId, wanted, forPerson });
  const taken = await Promise.all(Array.from({ length: 20 }, () => take(3, false)));
  assert.equal(
    taken.reduce((sum, answer) => sum + answer.taken, 0),
    16,
  );
  assert.deepEqual(await take(1, false), { taken: 0, retryInMs: 100 });
  assert.deepEqual(await take(9, true), { taken: 4, retryInMs: 0 });
  nowMs += 100;
  assert.deepEqual(await take(5, true), { taken: 1, retryInMs: 0 });
  await stores.engine.blockCalls({ accountId, forMs: 7_000 });
  await stores.engine.blockCalls({ accountId, forMs: 2_000 });
  assert.deepEqual(await take(1, true), { taken: 0, retryInMs: 7_000 });
  await assert.rejects(
    stores.engine.takeCalls({ accountId: "nobody", wanted: 1, forPerson: false }),
    (thrown: unknown) => thrown instanceof StoreError && thrown.code === "NOT_FOUND",
  );
});

test("an account's health counts those that went bad within the window", async () => {
  let nowMs = 1_700_000_000_000;
  await using stores = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const world = await makeWorld(stores);
  const status = { observedGeneration: 1, conditions: [], differences: 0, owned: 0, failing: true };
  for (const [index, name] of ["one", "two", "three"].entries()) {
    const input = await world.subject(name);
    const badSinceMs = index === 0 ? undefined : nowMs - index * 10_000;
    await stores.engine.settle(settlementFor(world, input, { status: { ...status, badSinceMs } }));
  }
  const health = (windowMs: number) => stores.engine.accountHealth({ accountId: world.accountId, windowMs });
  assert.deepEqual(await health(15_000), { subjects: 3, bad: 1 });
  nowMs += 10_000;
  assert.deepEqual(await health(60_000), { subjects: 3, bad: 2 });
});
