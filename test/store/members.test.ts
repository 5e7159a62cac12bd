import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { StoreError } from "../../src/store/errors.ts";
import { query } from "../support/postgres.ts";
import { openStores, type StoreServer, startStoreServer } from "./support/stores.ts";
import { memberStore } from "./support/use-members.ts";
import { ada, makeWorld } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

test("a project that is deleted while things are declared in it ends with both or with neither", async () => {
  await using stores = openStores(await server.createDatabase());
  const members = memberStore(stores);
  const world = await makeWorld(stores);
  const { organizationId } = world;
  const ends = { kept: 0, deleted: 0 };
  for (let round = 0; round < 20; round++) {
    const scope = `project/race:${round}`;
    await stores.intent.createScope({ organizationId, scope, parent: world.scope });
    const declared = world.declare({ name: `zone-${round}`, scope }).catch((thrown: unknown) => {
      // Refused because there is no such scope, and for no other reason.
      assert.ok(thrown instanceof StoreError && thrown.code === "NOT_FOUND", String(thrown));
    });
    const [answer] = await Promise.all([members.deleteScope({ organizationId, scope, author: ada }), declared]);
    const inside = await query<{ name: string }>(stores.url, "select name from setpoint.resource where scope = $1", [
      scope,
    ]);
    const scopes = await query(stores.url, "select from setpoint.scope where scope = $1", [scope]);
    assert.equal(inside.length, scopes.length, `round ${round}: ${answer.result}`);
    ends[answer.result === "deleted" ? "deleted" : "kept"]++;
  }
  assert.equal(ends.kept + ends.deleted, 20);
});

test("a workspace cannot be made in a project that is being deleted", async () => {
  await using stores = openStores(await server.createDatabase());
  const members = memberStore(stores);
  const world = await makeWorld(stores);
  const { organizationId } = world;
  for (let round = 0; round < 20; round++) {
    const [scope, below] = [`project/race:${round}`, `workspace/race:${round}:w`];
    await stores.intent.createScope({ organizationId, scope, parent: world.scope });
    await Promise.allSettled([
      members.deleteScope({ organizationId, scope, author: ada }),
      stores.intent.createScope({ organizationId, scope: below, parent: scope }),
    ]);
    const known = (await stores.read.listScopes(organizationId)).map((entry) => entry.scope);
    assert.equal(known.includes(below), known.includes(scope), `round ${round}: ${known.join(", ")}`);
  }
});

test("what is done to members is in the log, with who did it and from where, and without secrets", async () => {
  await using stores = openStores(await server.createDatabase());
  const members = memberStore(stores);
  const { organizationId } = await makeWorld(stores);
  const via = { credential: "session/1", address: "192.0.2.1", requestId: "request" };
  const author = { ...ada, via };
  const request = { organizationId, id: randomUUID(), email: "x@example.test", secretHash: "hash-of-it", author };
  await members.createInvite({ ...request, bindings: [], inviterId: undefined, forMs: 1_000 });
  const rules = [{ key: "organization", actions: ["read"] as const }];
  await members.createRole({ organizationId, name: "reader", description: "", rules, author });
  const entries = await query<{ type: string; actor: string; data: unknown; trail: { address: string } }>(
    stores.url,
    "select type, actor, data, trail from setpoint.log_entry where organization_id = $1 and type ~ '^(invite|role)'",
    [organizationId],
  );
  assert.deepEqual(entries.map(({ type }) => type).toSorted(), ["invite.created", "role.created"]);
  for (const { actor, trail } of entries) assert.deepEqual([actor, trail.address], [ada.name, "192.0.2.1"]);
  assert.ok(!JSON.stringify(entries).includes("hash-of-it"));
});
