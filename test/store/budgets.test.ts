import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Registry } from "@prometheus-io/client";
import { registerPlatformMetrics } from "../../src/compose/platform-metrics.ts";
import { allowedDeletes } from "../../src/kernel/delete-budget.ts";
import type { DeleteLimit } from "../../src/ports/records.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { AccountHealth } from "../../src/store/account-health.ts";
import { StoreError } from "../../src/store/errors.ts";
import { PostgresGovernanceStore } from "../../src/store/governance-store.ts";
import { PostgresReadStore } from "../../src/store/read-store.ts";
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

test("the figures of the platform say who was charged most in the last hour, and /metrics shows it", async () => {
  let nowMs = 1_700_000_000_000;
  await using stores = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const { api: database, administration } = stores;
  const governance = new PostgresGovernanceStore({ database, administration, ids: createSystemIds() });
  const registry = new Registry();
  const reads = new PostgresReadStore({ database, administration });
  const refresh = registerPlatformMetrics(registry, { reads, governance }, systemClock);
  const shown = async () => {
    await refresh();
    return (await registry.metrics()).split("\n").filter((line) => line.startsWith("setpoint_delete_budget_"));
  };
  assert.deepEqual((await governance.waiting()).chargedMost, []);
  for (const [deletes, owned] of [
    [2, 30],
    [7, 12],
    [4, 50],
  ] as const) {
    const world = await makeWorld(stores);
    const input = await world.subject("one");
    await stores.engine.settle(settlementFor(world, input, { nowOwned: owned }));
    const limits = { account: wide, organization: wide, platform: wide };
    const request = { actor: world.actor(input), subject: input.subject, ungranted: deletes, granted: 0, limits };
    assert.equal((await stores.engine.reserveDeletes(request)).ungrantedPass, true);
    await stores.engine.releaseShards({ holder, shards: [request.actor] });
  }
  assert.deepEqual(await shown(), [
    'setpoint_delete_budget_used{level="account"} 7',
    'setpoint_delete_budget_used{level="organization"} 7',
    'setpoint_delete_budget_used{level="platform"} 13',
    'setpoint_delete_budget_owned{level="account"} 12',
    'setpoint_delete_budget_owned{level="organization"} 12',
    // Counted at most once a minute: at the first of them.
    'setpoint_delete_budget_owned{level="platform"} 30',
  ]);
  nowMs += 61 * 60_000;
  assert.deepEqual(
    (await shown()).filter((line) => !line.endsWith(" 0")),
    [],
  );
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
  const take = (wanted: number, forPerson: boolean) =>
    stores.engine.takeCalls({ accountId, wanted, forPerson, tookMs: [] });
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
    stores.engine.takeCalls({ accountId: "nobody", wanted: 1, forPerson: false, tookMs: [] }),
    (thrown: unknown) => thrown instanceof StoreError && thrown.code === "NOT_FOUND",
  );
});

test("how long calls took is kept with the calls that are taken, the newest of them, and not where none is given", async () => {
  let nowMs = 1_700_000_000_000;
  await using stores = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const { accountId, organizationId } = await makeWorld(stores);
  const take = (tookMs: readonly number[]) =>
    stores.engine.takeCalls({ accountId, wanted: 1, forPerson: true, tookMs });
  const kept = async () => {
    const [use] = await stores.read.accountUse(organizationId);
    return [use?.tookMs, use?.tookAtMs];
  };
  await take([]);
  assert.deepEqual(await kept(), [[], undefined]);
  await take([5, 7]);
  assert.deepEqual(await kept(), [[7, 5], nowMs]);
  const before = nowMs;
  nowMs += 1_000;
  await take([]);
  assert.deepEqual(await kept(), [[7, 5], before], "nothing new was told");
  await stores.engine.blockCalls({ accountId, forMs: 7_000 });
  assert.equal((await take([9])).taken, 0);
  assert.deepEqual(await kept(), [[7, 5], before], "who gets no call tells it again later");
  nowMs += 8_000;
  await take(Array.from({ length: 64 }, (_, index) => 100 + index));
  const [[newest, ...others]] = (await kept()) as [number[], number];
  assert.deepEqual([newest, others.length, others.at(-1)], [163, 63, 100]);
});

test("an account's health counts those that are bad since about the same time", async () => {
  let nowMs = 1_700_000_040_000;
  await using stores = openStores(await server.createDatabase(), { nowMs: () => nowMs });
  const world = await makeWorld(stores);
  const status = { observedGeneration: 1, conditions: [], differences: 0, owned: 0, failing: true };
  const goes = async (name: string, badSinceMs: number | undefined) => {
    const input = await world.subject(name);
    await stores.engine.settle(settlementFor(world, input, { status: { ...status, badSinceMs } }));
  };
  await goes("well", undefined);
  await goes("early", nowMs - 120_000);
  await goes("first", nowMs);
  await goes("second", nowMs + 30_000);
  const start = nowMs;
  nowMs += 30 * 60_000;
  await goes("late", nowMs);
  const health = (aroundMs: readonly number[], windowMs: number) =>
    stores.engine.accountHealth({ accountId: world.accountId, aroundMs, windowMs });
  assert.deepEqual(await health([start], 30_000), { subjects: 5, bad: 2 });
  assert.deepEqual(await health([start], 120_000), { subjects: 5, bad: 3 });
  assert.deepEqual(await health([nowMs], 60_000), { subjects: 5, bad: 1 });
  assert.deepEqual(
    await health([start, nowMs], 120_000),
    { subjects: 5, bad: 3 },
    "those around one time, not added up",
  );
  const there = await world.subject("there");
  const south = { ...status, badSinceMs: start, site: "south" };
  await stores.engine.settle(settlementFor(world, there, { status: south }));
  const atSite = (site: string) =>
    stores.engine.accountHealth({ accountId: world.accountId, site, aroundMs: [start], windowMs: 30_000 });
  assert.deepEqual((await atSite("south")).atSite, { subjects: 1, bad: 1 });
  assert.deepEqual((await atSite("north")).atSite, { subjects: 0, bad: 0 });
  await stores.engine.settle(settlementFor(world, await world.reload(there), { status }));
  assert.deepEqual((await atSite("south")).atSite, { subjects: 0, bad: 0 }, "who moved away no longer counts");
  await goes("first", undefined);
  assert.deepEqual(
    await health([start, nowMs], 120_000),
    { subjects: 6, bad: 2 },
    "who is well again no longer counts",
  );
});

test("however many subjects of an account ask how it fares, it is counted once in a while", async () => {
  let counts = 0;
  const onStatement = ({ statement }: { readonly statement: { readonly name: string } }) => {
    if (statement.name.includes("account counts")) counts += 1;
  };
  await using stores = openStores(await server.createDatabase(), { onStatement });
  const { accountId, ...world } = await makeWorld(stores);
  let monotonicMs = 0;
  const clock = { ...systemClock, monotonicMs: () => monotonicMs };
  const health = new AccountHealth({ database: stores.engineDatabase, clock });
  const ask = (aroundMs: number) => health.of({ accountId, aroundMs: [aroundMs], windowMs: 60_000 });
  for (let index = 0; index < 50; index++) await world.declare({ name: `set-${index}` });
  await Promise.all(Array.from({ length: 50 }, (_, index) => ask(index)));
  assert.equal(counts, 1, "those who ask meanwhile share a count");
  monotonicMs += 1;
  assert.deepEqual([await ask(0), counts], [{ subjects: 50, bad: 0 }, 1]);
  monotonicMs += 1;
  assert.deepEqual([await ask(0), counts], [{ subjects: 50, bad: 0 }, 2]);
});
