import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { shardOf } from "../../src/kernel/hash.ts";
import { StoreError } from "../../src/store/errors.ts";
import { query } from "../support/postgres.ts";
import { openStores, type StoreServer, type Stores, startStoreServer } from "./support/stores.ts";
import { ada, grace, heldGroup, makeWorld, permitFor, robot, settlementFor, type World } from "./support/world.ts";

let server: StoreServer;
let stores: Stores;
let world: World;
before(async () => {
  server = await startStoreServer();
  stores = openStores(await server.createDatabase());
  world = await makeWorld(stores);
});
after(async () => {
  await stores[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

function withCode(code: StoreError["code"]) {
  return (thrown: unknown) => thrown instanceof StoreError && thrown.code === code;
}

test("of many who create the same name at once one wins, and the others change it or find it unchanged", async () => {
  const { organizationId, scope } = world;
  const before = stores.poked.length;
  const uids = await Promise.all(Array.from({ length: 12 }, () => world.declare({ name: "same" })));
  assert.equal(new Set(uids).size, 1);
  const view = await stores.read.getResource({ organizationId, scope, kind: "Zone", name: "same" });
  assert.deepEqual([view?.revision, view?.resource.generation, view?.subjects.length], [1, 1, 1]);
  assert.deepEqual(stores.poked.slice(before), [[shardOf(world.accountId)]], "one change, one poke");
});

test("concurrent changes of one resource are all counted", async () => {
  const uid = await world.declare({ name: "counted" });
  await Promise.all(
    Array.from({ length: 10 }, (_, index) => world.declare({ name: "counted", spec: { size: 10 + index } })),
  );
  const { organizationId, scope } = world;
  const view = await stores.read.getResource({ organizationId, scope, kind: "Zone", name: "counted" });
  assert.deepEqual([view?.resource.uid, view?.revision, view?.subjects[0]?.inputVersion], [uid, 11, 11]);
});

test("what people write freely is loaded as they wrote it, whatever is in it, and beside others", async () => {
  const odd = `a "name"\u001e with\u001f all, of\u001d, [these] \\n`;
  const spec = { text: odd, nothing: null, list: [odd], "key\u001f": { deep: true } };
  const input = await world.subject(odd, { spec, labels: { team: odd }, author: { name: odd, type: "person" } });
  const other = await world.subject("plain");
  const [again, beside] = await Promise.all([world.reload(input), world.reload(other)]);
  assert.deepEqual(
    [again.subject.name, again.resource.name, again.resource.spec, again.resource.labels, again.resource.author.name],
    [odd, odd, spec, { team: odd }, odd],
  );
  assert.equal(beside.resource.name, "plain");
  assert.deepEqual([again.hold, again.heldDigest, again.observationHash, again.status], Array(4).fill(undefined));
});

test("an input declared while its target is being made always wakes the target", async () => {
  for (let round = 0; round < 10; round++) {
    const name = `race-${round}`;
    const links = [{ kind: "Zone", name }];
    const [, input] = await Promise.all([
      world.declare({ name: `of-${name}`, kind: "Record", accounts: [], links }),
      world.subject(name),
    ]);
    const now = await world.reload(input);
    // Either the first look saw the record, or the record's commit raised the version.
    assert.equal(now.inputs.length, 1);
    assert.ok(input.inputs.length === 1 || now.inputVersion > input.inputVersion, `round ${round}`);
  }
});

test("a record wakes the zones that it is computed from and to, before and after", async () => {
  const [zone, other] = [await world.subject("woken-a"), await world.subject("woken-b")];
  const record = { name: "moving", kind: "Record", accounts: [] };
  await world.declare({ ...record, links: [{ kind: "Zone", name: "woken-a" }] });
  await world.declare({ ...record, links: [{ kind: "Zone", name: "woken-b" }], author: robot });
  const [one, two] = [await world.reload(zone), await world.reload(other)];
  assert.deepEqual([one.inputVersion, one.inputs.length], [3, 0]);
  assert.deepEqual([two.inputVersion, two.inputs.map(({ name }) => name)], [2, ["moving"]]);
});

test("the owner of a declaration owns its top-level fields", async () => {
  const owners = async (name: string) => {
    const text = "select field_owners from setpoint.resource where name = $1";
    return (await query<{ field_owners: unknown }>(stores.url, text, [name]))[0]?.field_owners;
  };
  await world.declare({ name: "owned", spec: { "a/b": 1, size: 2 } });
  assert.deepEqual(await owners("owned"), { "/a~1b": "ada", "/size": "ada" });
  await world.declare({ name: "owned", spec: { size: 3 }, owner: "pipeline" });
  assert.deepEqual(await owners("owned"), { "/size": "pipeline" });
  await world.declare({ name: "owned", spec: [1] });
  assert.deepEqual(await owners("owned"), {});
});

test("bad references are named and nothing is written", async () => {
  const { organizationId, scope } = world;
  await assert.rejects(world.declare({ name: "nowhere", scope: "project/none" }), withCode("NOT_FOUND"));
  await assert.rejects(world.declare({ name: "nowhere", accounts: ["none"] }), /has no account none/);
  await assert.rejects(stores.intent.createOrganization({ id: "acme", name: "acme" }), withCode("BAD_VALUE"));
  await assert.rejects(stores.intent.createOrganization({ id: organizationId, name: "x" }), withCode("ALREADY_EXISTS"));
  await assert.rejects(
    stores.intent.createScope({ organizationId, scope: "project/p", parent: "project/none" }),
    withCode("NOT_FOUND"),
  );
  const policy = { scope: "resource/none", mode: "observe" } as const;
  await assert.rejects(stores.intent.setPolicy({ organizationId, policy, author: ada }), withCode("NOT_FOUND"));
  const unscoped = { organizationId: undefined, policy: { scope }, author: ada };
  await assert.rejects(stores.intent.setPolicy(unscoped), withCode("NOT_FOUND"));
  await assert.rejects(world.declare({ name: "nul\0" }), withCode("BAD_VALUE"));
  assert.equal(await stores.read.getResource({ organizationId, scope, kind: "Zone", name: "nowhere" }), undefined);
});

test("a deleted resource leaves when its last subject has", async () => {
  const input = await world.subject("leaving");
  const { organizationId, scope } = world;
  const { uid } = input.resource;
  const source = await world.declare({
    name: "source",
    kind: "Record",
    accounts: [],
    links: [{ kind: "Zone", name: "leaving" }],
  });
  const deletion = { organizationId, author: ada, orphan: false, ifRevision: undefined, confirmedCount: 2 };
  assert.deepEqual(await stores.intent.requestDeletion({ ...deletion, uid: source }), { found: true, conflict: false });
  assert.deepEqual(await stores.intent.requestDeletion({ ...deletion, uid, ifRevision: 9 }), {
    found: true,
    conflict: true,
  });
  assert.deepEqual(await stores.intent.requestDeletion({ ...deletion, uid }), { found: true, conflict: false });
  const now = await world.reload(input);
  assert.equal(now.resource.deletion?.confirmedCount, 2);
  assert.equal(now.inputs[0]?.deletion?.author.name, "ada");
  assert.deepEqual(await stores.engine.settle(settlementFor(world, input, { gone: true })), {
    kept: true,
    dueAgain: true,
  });
  const settled = settlementFor(world, now, { gone: true, forgetSources: [source] });
  assert.deepEqual(await stores.engine.settle(settled), { kept: true, dueAgain: false });
  assert.equal(await stores.engine.load(input.subject.id), undefined);
  for (const [kind, name] of [
    ["Zone", "leaving"],
    ["Record", "source"],
  ] as const) {
    assert.equal(await stores.read.getResource({ organizationId, scope, kind, name }), undefined);
  }
  assert.deepEqual(await stores.intent.requestDeletion({ ...deletion, uid }), { found: false, conflict: false });
});

test("what waits under one limit is one held change, approved by digest and used once", async () => {
  const inputs = [await world.subject("held-a"), await world.subject("held-b")];
  const { organizationId } = world;
  await Promise.all(
    inputs.map((input, index) => {
      const held = { digest: `waiting-${index}`, groups: [heldGroup("account", [`item-${index}`])] };
      return stores.engine.settle(settlementFor(world, input, { held }));
    }),
  );
  const list = () => stores.read.listHeldChanges({ organizationId, states: ["open"], limit: 10 });
  const [held, ...others] = await list();
  assert.ok(held);
  assert.deepEqual([others.length, held.items.length, held.level], [0, 2, "account"]);

  const request = { organizationId, heldChangeId: held.id, digest: held.digest, grantForMs: 60_000 };
  assert.deepEqual(await stores.intent.approve({ ...request, approver: robot }), { result: "refused-principal" });
  assert.deepEqual(await stores.intent.approve({ ...request, digest: "old", approver: grace }), {
    result: "moved",
    digest: held.digest,
  });
  const policy = { scope: world.scope, fourEyes: true };
  await stores.intent.setPolicy({ organizationId, policy, author: ada });
  assert.deepEqual(await stores.intent.approve({ ...request, approver: ada }), { result: "four-eyes" });
  const answers = await Promise.all([1, 2, 3].map(() => stores.intent.approve({ ...request, approver: grace })));
  assert.deepEqual(answers.map(({ result }) => result).sort(), ["approved", "closed", "closed"]);

  const [first] = inputs;
  assert.ok(first);
  const now = await world.reload(first);
  assert.deepEqual([now.grants.length, now.heldDigest, now.dueStored], [1, undefined, true]);
  const grantIds = now.grants.map(({ id }) => id);
  const uses = await Promise.all([1, 2].map(() => stores.engine.permit(permitFor(world, now, { grantIds, forMs: 0 }))));
  assert.equal(uses.filter(({ granted }) => granted).length, 1, "a grant is usable once");
  assert.deepEqual(await list(), []);
});

test("a rejected change stays closed while it waits unchanged, and opens again when it moves", async () => {
  const input = await world.subject("rejected");
  const { organizationId } = world;
  const hold = (digests: readonly string[]) =>
    stores.engine.settle(
      settlementFor(world, input, { held: { digest: digests.join(), groups: [heldGroup("subject", digests)] } }),
    );
  const states = ["open", "rejected", "withdrawn"] as const;
  const mine = async () => {
    const found = await stores.read.listHeldChanges({ organizationId, states, limit: 50 });
    return found.find((row) => row.items.some((item) => item.subjectId === input.subject.id));
  };
  await hold(["r1"]);
  const held = await mine();
  assert.ok(held);
  assert.equal(await stores.intent.reject({ organizationId, heldChangeId: held.id, author: ada }), true);
  await hold(["r1"]);
  assert.equal((await mine())?.state, "rejected");
  await hold(["r1", "r2"]);
  assert.deepEqual([(await mine())?.id, (await mine())?.state], [held.id, "open"]);
  await stores.engine.settle(settlementFor(world, input, { held: { digest: "", groups: [] } }));
  const all = await stores.read.listHeldChanges({ organizationId, states: ["withdrawn"], limit: 50 });
  const closed = all.find(({ id }) => id === held.id);
  assert.deepEqual([closed?.state, closed?.items.length], ["withdrawn", 0]);
});

test("a person's try again forgets failures, and a restore clears leases and permits", async () => {
  await using fresh = openStores(await server.createDatabase());
  const there = await makeWorld(fresh);
  const input = await there.subject("tried");
  const memory = { ...input.memory, attempts: 7 };
  assert.deepEqual(await fresh.engine.permit(permitFor(there, input, { memory })), { granted: true });
  await fresh.intent.reconcileNow({ organizationId: there.organizationId, uid: input.resource.uid });
  assert.equal((await there.reload(input)).memory.attempts, 0);
  assert.deepEqual(
    await fresh.engine.dueSubjects({ shards: [input.subject.shard], limit: 1 }).then((due) => due[0]?.priority),
    "person",
  );
  assert.equal(await fresh.intent.markRestored(), 2);
  assert.deepEqual(await fresh.engine.shardHolders(), []);
  const [lease] = await fresh.engine.takeShards({ holder: "after", wanted: 1, leaseMs: 60_000 });
  assert.deepEqual([lease?.epoch, lease?.quiet], [2, true]);
});

test("a poke names what became due, after the commit and not without one", async () => {
  const edges: unknown[] = [];
  const { PostgresIntentStore } = await import("../../src/store/intent-store.ts");
  let logged = 0;
  const intent = new PostgresIntentStore({
    database: stores.api,
    administration: stores.administration,
    ids: { next: () => randomUUID() },
    poke: (shards, due) => edges.push([shards, due.map(({ priority, shard }) => [priority, shard])]),
    logged: () => {
      logged += 1;
    },
  });
  const { organizationId, scope, accountId } = world;
  const shard = shardOf(accountId);
  const request = {
    uid: randomUUID(),
    organizationId,
    kind: "Zone",
    name: "poked",
    scope,
    spec: {},
    labels: {},
    author: robot,
    ifRevision: 0,
    mode: undefined,
    protect: undefined,
    accounts: [accountId],
    links: [],
  };
  assert.equal((await intent.declare(request)).result, "created");
  assert.deepEqual(edges, [[[shard], [["event", shard]]]]);
  assert.equal((await intent.declare(request)).result, "conflict");
  await assert.rejects(intent.declare({ ...request, name: "other", accounts: ["none"] }));
  assert.deepEqual([edges.length, logged > 0], [1, true]);
});
