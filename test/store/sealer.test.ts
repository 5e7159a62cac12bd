import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { removeOldHistory } from "../../src/store/retention.ts";
import { type SealedHead, Sealer } from "../../src/store/sealer.ts";
import { query } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { openStores, type StoreServer, type Stores, silentLog, startStoreServer } from "./support/stores.ts";
import { ada, makeWorld } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

function sealerOf(stores: Stores, sealed?: (head: SealedHead) => void): Sealer {
  const options = { administration: stores.administration, clock: systemClock, log: silentLog };
  return new Sealer(sealed === undefined ? options : { ...options, sealed });
}

async function positions(url: string): Promise<readonly number[]> {
  const rows = await query<{ position: string }>(url, "select position from setpoint.sealed_entry order by position");
  return rows.map(({ position }) => Number(position));
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

test("an entry that commits late gets a later position, and none is missed or doubled", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const sealer = sealerOf(stores);
  const slow = new Client(url);
  await slow.connect();
  await slow.query("begin");
  const insert = `insert into setpoint.log_entry (type, actor, data, at_ms) values ('slow', 'test', '{}', 0)`;
  await slow.query(insert);
  await world.declare({ name: "quick" });
  const first = await sealer.sealAll();
  assert.deepEqual(first, { incarnation: 1, position: 3 });
  await slow.query("commit");
  await slow.end();
  assert.deepEqual(await sealer.sealAll(), { incarnation: 1, position: 4 });
  assert.equal(await sealer.sealAll(), undefined, "nothing is left");
  const { organizationId } = world;
  const entries = await stores.read.sealedEntries({ organizationId, afterPosition: 2, limit: 10 });
  assert.deepEqual(
    entries.map(({ position, type, organizationId: whose }) => [position, type, whose === organizationId]),
    [
      [3, "resource.created", true],
      [4, "slow", false],
    ],
  );
});

test("many writers and several sealers at once make one dense chain", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  await using others = openStores(url);
  const world = await makeWorld(stores);
  const sealers = [sealerOf(stores), sealerOf(others)];
  const writes = Array.from({ length: 60 }, (_, index) => world.declare({ name: `n-${index % 7}`, spec: { index } }));
  const writing = new AbortController();
  const sealing = sealers.map(async (sealer) => {
    while (!writing.signal.aborted) await sealer.sealAll();
  });
  await Promise.all(writes);
  writing.abort();
  await Promise.all(sealing);
  await sealers[0]?.sealAll();
  assert.deepEqual(await positions(url), upTo(62));
  assert.deepEqual((await sealers[0]?.check())?.holds, true);
  // Each resource's revisions are in order: a reader may drop what is not above what he has.
  const { organizationId } = world;
  const entries = await stores.read.sealedEntries({ organizationId, afterPosition: 0, limit: 100 });
  for (const group of Map.groupBy(entries, ({ uid }) => uid).values()) {
    const revisions = group.map(({ revision }) => revision ?? 0);
    assert.deepEqual(
      revisions,
      revisions.toSorted((left, right) => left - right),
    );
  }
});

test("every kind of tampering breaks the chain", async () => {
  const tampering = [
    "update setpoint.sealed_entry set actor = 'somebody else' where position = 3",
    `update setpoint.sealed_entry set data = '{"forged": true}' where position = 4`,
    "delete from setpoint.sealed_entry where position = 2",
    "delete from setpoint.sealed_entry where position = 5",
    "update setpoint.sealed_entry set position = 9 where position = 5",
    "update setpoint.sealed_entry set organization_id = null where position = 4",
    "update setpoint.sealed_entry set at_ms = at_ms + 1 where position = 4",
  ];
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const sealer = sealerOf(stores);
  for (const name of ["a", "b", "c"]) await world.declare({ name });
  await sealer.sealAll();
  assert.equal((await sealer.check()).holds, true);
  for (const text of tampering) {
    await query(url, "create table public.kept as select * from setpoint.sealed_entry");
    await query(url, text);
    assert.equal((await sealer.check()).holds, false, text);
    await query(url, "delete from setpoint.sealed_entry");
    await query(url, "insert into setpoint.sealed_entry select * from public.kept");
    await query(url, "drop table public.kept");
  }
  assert.equal((await sealer.check()).holds, true);
});

test("a poked sealer seals by itself and tells the new end", async () => {
  await using stores = openStores(await server.createDatabase());
  const heads: SealedHead[] = [];
  const sealer = sealerOf(stores, (head) => heads.push(head));
  const over = new AbortController();
  const running = sealer.run(over.signal);
  await makeWorld(stores);
  sealer.poke();
  await until(() => heads.length > 0, "the sealer to seal");
  over.abort();
  await running;
  assert.equal(heads.at(-1)?.position, 2);
});

test("retention removes what is old in small batches and keeps the chain verifiable", async () => {
  let nowMs = 1_700_000_000_000;
  const url = await server.createDatabase();
  await using stores = openStores(url, { nowMs: () => nowMs });
  const world = await makeWorld(stores);
  const sealer = sealerOf(stores);
  for (let index = 0; index < 8; index++) await world.declare({ name: "kept", spec: { index } });
  await stores.intent.pause({
    id: "over",
    organizationId: world.organizationId,
    scope: world.scope,
    level: "all",
    author: ada,
    reason: "short",
    forMs: 5,
  });
  await sealer.sealAll();
  nowMs += 10_000;
  for (let index = 0; index < 3; index++) await world.declare({ name: "young", spec: { index } });
  await sealer.sealAll();
  const keep = 5_000;
  const limits = {
    changesMs: keep,
    verdictsMs: keep,
    logMs: keep,
    grantsMs: keep,
    heldChangesMs: keep,
    pausesMs: keep,
    idleCyclesMs: keep,
    idempotencyKeysMs: keep,
    proposalsMs: keep,
    operationsMs: keep,
    credentialsMs: keep,
    notificationsMs: keep,
  };
  const bounded = { administration: stores.administration, limits, batchSize: 2, maxBatches: 2 };
  const removed = await removeOldHistory(bounded);
  assert.deepEqual([removed["log"], removed["pauses"]], [4, 1], "a run is bounded");
  assert.equal((await sealer.check()).holds, true);
  assert.equal((await removeOldHistory({ ...bounded, batchSize: 100 }))["log"], 7);
  assert.deepEqual(await positions(url), [12, 13, 14], "what is young stays");
  assert.equal((await sealer.check()).holds, true);
  await query(url, "update setpoint.log_head set checkpoint_hash = 'forged'");
  assert.equal((await sealer.check()).holds, false);
});
