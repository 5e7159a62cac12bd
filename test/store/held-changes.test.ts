import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStores, startStoreServer, type StoreServer } from "./support/stores.ts";
import { grace, heldGroup, makeWorld, settlementFor } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

test("what different guards hold at one account never shares a held change", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const { organizationId, accountId } = world;
  const [over, restored, both] = [await world.subject("a"), await world.subject("b"), await world.subject("c")];
  const budget = (digest: string) => heldGroup("account", [digest]);
  const [item] = heldGroup("account", ["reclaim"]).items;
  assert.ok(item);
  const reclaim = heldGroup("account", [], {
    guard: "account-identity",
    verdict: { guard: "account-identity", answer: "hold", reason: "restored", numbers: {}, keys: [] },
    items: [{ ...item, externalId: accountId }],
  });
  const holds = [
    { input: over, groups: [budget("delete-1")] },
    { input: restored, groups: [reclaim] },
    { input: both, groups: [budget("delete-2"), reclaim] },
  ];
  for (const { input, groups } of holds)
    await stores.engine.settle(settlementFor(world, input, { held: { digest: `of ${input.subject.name}`, groups } }));

  const list = async () => {
    const found = await stores.read.listHeldChanges({ organizationId, states: ["open"], limit: 10 });
    return new Map(found.map((held) => [held.guard, held]));
  };
  const open = await list();
  const keys = (guard: "delete-budget" | "account-identity") =>
    open
      .get(guard)
      ?.items.map(({ digest }) => digest)
      .sort();
  assert.deepEqual(keys("delete-budget"), ["delete-1", "delete-2"]);
  assert.deepEqual(keys("account-identity"), ["reclaim", "reclaim"]);
  assert.equal(open.get("account-identity")?.verdict.reason, "restored");

  // An approval answers the one guard: what the other one holds still waits, and nothing of it is granted.
  const held = open.get("account-identity");
  assert.ok(held);
  const approval = { organizationId, heldChangeId: held.id, digest: held.digest, approver: grace, grantForMs: 60_000 };
  assert.deepEqual(await stores.intent.approve(approval), { result: "approved", grants: 0 });
  assert.deepEqual([...(await list()).keys()], ["delete-budget"]);
  assert.deepEqual((await world.reload(both)).grants, []);
});
