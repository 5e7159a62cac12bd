import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { PostgresDeclaringStore } from "../../../src/store/declaring-store.ts";
import { PostgresPoolStore } from "../../../src/store/pool-store.ts";
import type { Stores } from "./stores.ts";
import { ada, settlementFor, type World } from "./world.ts";

/** Claims an account of the pool, gives it back, and asks for everything around that. */
export async function usePool(stores: Stores, world: World): Promise<void> {
  const { engine, intent, api: database, administration } = stores;
  const { organizationId } = world;
  const pool = new PostgresPoolStore({ database, administration });
  const accountId = randomUUID();
  const uid = randomUUID();
  const declaring = new PostgresDeclaringStore({ database, administration });
  const declare = {
    uid,
    organizationId,
    scope: world.scope,
    kind: "Host",
    name: "pooled",
    spec: {},
    labels: {},
    author: ada,
    ifRevision: 0,
    mode: undefined,
    protect: undefined,
    accounts: [accountId],
    links: [],
  };
  const pooled = { id: accountId, name: "pooled", provider: "cloud" };
  const changes = [{ action: "declare" as const, declare, references: [], pooled }];
  assert.ok((await declaring.change({ organizationId, changes })).made);
  const what = { organizationId, resourceUid: uid, pipeline: "p", version: 1, input: {} };
  const who = { operationId: randomUUID(), author: ada, priority: "person" as const, ends: false };
  assert.equal((await stores.operationIntents.startOperation({ ...what, ...who })).result, "started");
  for (const name of ["one", "two"])
    await pool.add({
      name,
      provider: "cloud",
      settings: {},
      credentialRef: "env:POOL",
      locations: [],
      callsPerSecond: 5,
      author: ada,
    });
  assert.equal((await pool.list()).length, 2);
  await stores.operationIntents.steerOperation({
    organizationId,
    operationId: who.operationId,
    command: { verb: "release" },
    author: ada,
    reason: "test",
  });
  const shards = Array.from({ length: 64 }, (_, shard) => shard);
  const entries = await Promise.all(shards.map((shard) => engine.listSubjects({ shard, afterId: 0, limit: 1_000 })));
  const subject = entries.flat().find((entry) => entry.accountId === accountId);
  const input = await engine.load(subject?.id ?? 0);
  assert.ok(input);
  const dock = () => engine.dock({ actor: world.actor(input), subject: input.subject, location: undefined });
  assert.equal((await dock()).result, "claimed");
  const author = ada;
  assert.equal((await pool.giveBack({ organizationId, accountId, author })).result, "in-use");
  assert.equal((await pool.free({ name: "one", author })).result, "in-use");
  const deletion = { organizationId, uid, author, ifRevision: undefined, orphan: false, confirmedCount: undefined };
  await intent.requestDeletion(deletion);
  await engine.settle(settlementFor(world, await world.reload(input), { gone: true }));
  assert.equal((await pool.giveBack({ organizationId, accountId, author })).result, "returned");
  assert.equal((await pool.free({ name: "one", author })).result, "freed");
  assert.equal((await pool.remove({ name: "one", author })).result, "removed");
}
