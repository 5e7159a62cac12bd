import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DeclareRequest } from "../../src/ports/intent-store.ts";
import { openStores, startStoreServer, type StoreServer } from "./support/stores.ts";
import { ada, grace, makeWorld } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

test("of a deleted resource the mode and protection can still be changed, and nothing else", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const { organizationId, scope, accountId } = world;
  const first = await world.subject("leaving", { mode: "observe", protect: true });
  const { uid } = first.resource;
  const deletion = { organizationId, uid, ifRevision: undefined, author: ada, orphan: false, confirmedCount: 1 };
  await stores.intent.requestDeletion(deletion);
  const standing: DeclareRequest = {
    uid: "another",
    organizationId,
    scope,
    kind: "Zone",
    name: "leaving",
    spec: { size: 1 },
    labels: {},
    author: grace,
    ifRevision: undefined,
    mode: "observe",
    protect: true,
    accounts: [accountId],
    links: [],
  };
  const refused = { result: "conflict", revision: 2 };
  assert.deepEqual(await stores.intent.declare(standing), refused, "to say the same again does not bring it back");
  const open = { ...standing, mode: "enforce" as const, protect: undefined };
  assert.deepEqual(await stores.intent.declare({ ...open, spec: { size: 2 } }), refused);
  assert.deepEqual(await stores.intent.declare({ ...open, labels: { team: "red" } }), refused);
  assert.deepEqual(await stores.intent.declare({ ...open, ifRevision: 1 }), refused);

  // The accounts it was spread over may be gone already: a subject that has left does not come back.
  const before = await world.reload(first);
  const answer = await stores.intent.declare({ ...open, ifRevision: 2, accounts: [accountId, undefined] });
  assert.ok(answer.result === "changed");
  assert.deepEqual([answer.revision, answer.resource.generation], [3, before.resource.generation]);
  assert.equal(answer.resource.deletion?.author.name, "ada");
  const now = await world.reload(first);
  assert.deepEqual(now.policies.at(-1), { scope: `resource/${uid}`, mode: "enforce", protect: undefined });
  assert.equal(now.resource.deletion?.confirmedCount, 1);
  assert.deepEqual(
    [now.policyVersion, now.inputVersion, now.dueStored],
    [before.policyVersion + 1, before.inputVersion + 1, true],
  );
  const view = await stores.read.getResource({ organizationId, scope, kind: "Zone", name: "leaving" });
  assert.equal(view?.subjects.length, 1);
});
