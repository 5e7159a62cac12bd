import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { DeclareChange } from "../../src/ports/declaring-store.ts";
import type { CycleInput, PublishedValues, SubjectStatus } from "../../src/ports/records.ts";
import { PostgresDeclaringStore } from "../../src/store/declaring-store.ts";
import { openStores, startStoreServer, type StoreServer } from "./support/stores.ts";
import { ada, makeWorld, settlementFor, type World } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

const status: SubjectStatus = { observedGeneration: 1, conditions: [], differences: 0, owned: 1, failing: false };

/** A part of the zone that refers to a host. */
function recordOf({ organizationId, scope }: World, name: string, host: string): DeclareChange {
  const links = [{ kind: "Zone", name: "zone", scope }];
  return {
    action: "declare",
    declare: {
      uid: randomUUID(),
      organizationId,
      kind: "Record",
      name,
      scope,
      spec: { size: 1 },
      labels: {},
      author: ada,
      ifRevision: undefined,
      mode: undefined,
      protect: undefined,
      accounts: [],
      links,
    },
    references: [
      { scope, kind: "Zone", name: "zone", pointer: "/spec", part: true },
      { scope, kind: "Host", name: host, pointer: "/spec", part: false },
    ],
  };
}

test("what a resource shows reaches what is computed from those that refer to it, and wakes it in the same transaction", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const { organizationId } = world;
  const zone = await world.subject("zone");
  const other = await world.subject("other");
  const host = await world.subject("web", { kind: "Host" });
  const declaring = new PostgresDeclaringStore({ database: stores.api, administration: stores.administration });
  const made = await declaring.change({ organizationId, changes: [recordOf(world, "www", "web")] });
  assert.ok(made.made);
  const settle = async (input: CycleInput, change: Parameters<typeof settlementFor>[2]) =>
    assert.ok((await stores.engine.settle(settlementFor(world, await world.reload(input), change))).kept);
  const show = (values: PublishedValues) => settle(host, { status: { ...status, values }, publishes: true });
  for (const one of [zone, other, host]) await settle(one, {});
  assert.equal((await world.reload(zone)).published, undefined, "nothing is shown yet");

  const before = await world.reload(zone);
  assert.equal(before.dueStored, false);
  await show({ ipv4: ["192.0.2.1"] });
  const now = await world.reload(zone);
  assert.deepEqual(
    now.published?.map(({ kind, name, scope, values }) => ({ kind, name, scope, values })),
    [{ kind: "Host", name: "web", scope: world.scope, values: { ipv4: ["192.0.2.1"] } }],
  );
  assert.equal(now.published?.[0]?.inputUid, now.inputs[0]?.uid);
  assert.deepEqual([now.inputVersion, now.dueStored], [before.inputVersion + 1, true]);
  const untouched = await world.reload(other);
  assert.deepEqual([untouched.dueStored, untouched.published], [false, undefined], "nobody else is woken");

  await settle(zone, {});
  await settle(host, { status: { ...status, values: { ipv4: ["192.0.2.1"] } } });
  assert.equal((await world.reload(zone)).dueStored, false, "what shows the same wakes nobody");
  await show({});
  assert.deepEqual((await world.reload(zone)).published?.[0]?.values, {}, "that nothing is shown is told too");
});

test("a host that a record takes its address from is not deleted, and the record is named", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const { organizationId, scope } = world;
  await world.subject("zone");
  await world.subject("web", { kind: "Host" });
  const declaring = new PostgresDeclaringStore({ database: stores.api, administration: stores.administration });
  const missing = await declaring.change({ organizationId, changes: [recordOf(world, "www", "web-2")] });
  assert.ok(!missing.made && missing.refusal.result === "references");
  assert.ok((await declaring.change({ organizationId, changes: [recordOf(world, "www", "web")] })).made);
  const deletion = { action: "delete", scope, kind: "Host", name: "web", ifRevision: undefined, author: ada } as const;
  const refused = await declaring.change({
    organizationId,
    changes: [{ ...deletion, orphan: true, confirmedCount: undefined }],
  });
  assert.ok(!refused.made && refused.refusal.result === "in-use");
  assert.deepEqual(
    refused.refusal.users.map(({ kind, name }) => `${kind}/${name}`),
    ["Record/www"],
  );
});
