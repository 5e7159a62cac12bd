import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Accounts } from "../../src/kernel/accounts.ts";
import type { Kind } from "../../src/kernel/kind.ts";
import type { OperationEngine } from "../../src/kernel/operation-scene.ts";
import type { OperationRecord } from "../../src/ports/operation-store.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { PostgresOperationStore } from "../../src/store/operation-store.ts";
import { WorkerPresence } from "../../src/store/worker-presence.ts";
import { startWorker, type Worker } from "../../src/worker/worker.ts";
import { Boxes, boxKind } from "../support/box-kind.ts";
import { query } from "../support/postgres.ts";
import { openStores, silentLog, startStoreServer, type Stores, type StoreServer } from "./support/stores.ts";
import { ada, makeWorld, type World } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

interface Scene extends AsyncDisposable {
  readonly stores: Stores;
  readonly world: World;
  readonly outside: Boxes;
  worker(options?: { readonly dead?: boolean }): { readonly worker: Worker; readonly presence: WorkerPresence };
  start(pipeline: string, name: string): Promise<OperationRecord>;
  ended(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

async function open(): Promise<Scene> {
  const url = await server.createDatabase();
  const stores = openStores(url);
  const world = await makeWorld(stores);
  const outside = new Boxes();
  const kinds = new Map([["Box", boxKind(outside, undefined, 0) as unknown as Kind]]);
  const undo = new AsyncDisposableStack();
  undo.use(stores);
  return {
    stores,
    world,
    outside,
    worker: () => {
      const presence = undo.use(new WorkerPresence({ url, clock: systemClock, log: silentLog }));
      const { engine: store, engineDatabase: database } = stores;
      const operations = new PostgresOperationStore({ database, clock: systemClock, presence: () => presence.number });
      const accounts = new Accounts({ providers: new Map(), store, clock: systemClock });
      const base = { store, operations, clock: systemClock, random: { next: () => 0.5 }, ids: createSystemIds() };
      const engine: OperationEngine = { ...base, log: silentLog, kinds, accounts };
      const worker = undo.use(
        startWorker(engine, { holder: "test", pollMs: 20, balanceEveryMs: 50, renewEveryMs: 100 }),
      );
      return { worker, presence };
    },
    start: async (pipeline, name) => {
      const uid = await world.declare({ name, kind: "Box", spec: { values: { a: "1" } }, accounts: [undefined] });
      const base = { organizationId: world.organizationId, operationId: randomUUID(), resourceUid: uid };
      const rest = { pipeline, version: 1, input: {}, author: ada, priority: "person" as const, ends: false };
      const answer = await stores.operationIntents.startOperation({ ...base, ...rest });
      assert.ok("operation" in answer, answer.result);
      return answer.operation;
    },
    ended: async (ids) => {
      for (;;) {
        const rows = await query<{ id: string; state: string }>(
          url,
          "select id, state from setpoint.operation where id = any ($1) and ended_at_ms is not null",
          [ids],
        );
        const [stuck] = await query<{ message: string }>(
          url,
          "select message from setpoint.operation where state = 'attention'",
        );
        assert.equal(stuck?.message, undefined);
        if (rows.length === ids.length) return new Map(rows.map(({ id, state }) => [id, state]));
        await systemClock.wait(20);
      }
    },
    [Symbol.asyncDispose]: () => undo.disposeAsync(),
  };
}

test("a worker runs operations to their end, each effect once, and gives the resources back", async () => {
  await using scene = await open();
  scene.worker();
  const names = Array.from({ length: 30 }, (_, index) => `box-${index}`);
  const started = await Promise.all(names.map((name) => scene.start("box.create", name)));
  const states = await scene.ended(started.map(({ id }) => id));
  assert.deepEqual(new Set(states.values()), new Set(["succeeded"]));
  const { effects } = scene.outside;
  assert.equal(effects.length, new Set(effects).size, "nothing was done twice");
  assert.equal(effects.filter((effect) => effect.startsWith("create")).length, 30);
  const held = await query(scene.stores.url, "select from setpoint.subject where hold_operation_id is not null");
  assert.equal(held.length, 0);
});

test("what a worker whose connection is gone had leased is taken over before the lease has run out", async () => {
  await using scene = await open();
  const first = scene.worker();
  while (first.worker.snapshot().shards < 64 || first.presence.number === undefined) await systemClock.wait(10);
  // The others know of its lock from its next renewal on.
  const known = "select from setpoint.worker_holder where presence = $1";
  while ((await query(scene.stores.url, known, [first.presence.number])).length === 0) await systemClock.wait(10);
  await first.presence[Symbol.asyncDispose]();
  const second = scene.worker();
  const { id } = await scene.start("box.count", "left-behind");
  assert.equal((await scene.ended([id])).get(id), "succeeded");
  assert.ok(second.worker.snapshot().shards > 0);
});

test("what would be made beyond the quota of its organization waits with the numbers, until there is room", async () => {
  await using scene = await open();
  const { url } = scene.stores;
  const { organizationId } = scene.world;
  const allow = (most: number) =>
    query(
      url,
      `insert into setpoint.quota (organization_id, kind, most) values ('${organizationId}', 'Box', ${most})
       on conflict (kind, organization_id) do update set most = excluded.most`,
    );
  await allow(1);
  const started = [await scene.start("box.create", "one"), await scene.start("box.create", "two")];
  scene.worker();
  const standing = () =>
    query<{ message: string; ended_at_ms: string | null }>(url, "select message, ended_at_ms from setpoint.operation");
  const words =
    "quota: the organization has 2 boxes and may have 1: delete some, or ask an operator to raise the quota";
  for (;;) {
    const rows = await standing();
    assert.ok(rows.every(({ ended_at_ms }) => ended_at_ms === null));
    if (rows.every(({ message }) => message === words)) break;
    await systemClock.wait(20);
  }
  assert.deepEqual(scene.outside.effects, [], "nothing was made");
  await allow(2);
  const ids = started.map(({ id }) => id);
  assert.deepEqual([...(await scene.ended(ids)).values()], ["succeeded", "succeeded"]);
});

test("two workers share the shards, and one that drains hands over", async () => {
  await using scene = await open();
  const [first, second] = [scene.worker(), scene.worker()];
  while (first.worker.snapshot().shards !== 32 || second.worker.snapshot().shards !== 32) await systemClock.wait(10);
  await first.worker.drain();
  await first.presence[Symbol.asyncDispose]();
  const ids = await Promise.all(["a", "b", "c"].map(async (name) => (await scene.start("box.create", name)).id));
  assert.deepEqual([...(await scene.ended(ids)).values()], ["succeeded", "succeeded", "succeeded"]);
  while (second.worker.snapshot().shards !== 64) await systemClock.wait(10);
});
