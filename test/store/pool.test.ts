import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { DockAnswer } from "../../src/ports/engine-store.ts";
import type { CycleInput } from "../../src/ports/records.ts";
import { PostgresAccountCredentialStore } from "../../src/store/engine-keys.ts";
import { PostgresMemberStore } from "../../src/store/member-store.ts";
import { PostgresPoolStore } from "../../src/store/pool-store.ts";
import { statement } from "../../src/store/statement.ts";
import { query } from "../support/postgres.ts";
import { openStores, startStoreServer, type StoreServer, type Stores } from "./support/stores.ts";
import { ada, makeWorld, settlementFor, type World } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

interface Scene extends AsyncDisposable {
  readonly stores: Stores;
  readonly pool: PostgresPoolStore;
  /** An organization whose account comes from the pool. */
  tenant(): Promise<World>;
  add(name: string, rest?: { readonly provider?: string; readonly locations?: readonly string[] }): Promise<void>;
  states(): Promise<Readonly<Record<string, string>>>;
}

async function open(): Promise<Scene> {
  const stores = openStores(await server.createDatabase());
  const { api: database, administration } = stores;
  const pool = new PostgresPoolStore({ database, administration });
  return {
    stores,
    pool,
    tenant: async () => {
      const world = await makeWorld(stores);
      const accountId = randomUUID();
      const account = { id: accountId, name: "cloud", provider: "cloud", settings: {}, credentialRef: undefined };
      const { organizationId } = world;
      await stores.intent.createAccount({ ...account, organizationId, callsPerSecond: 10, fromPool: true });
      // What it declares lives at that account.
      return Object.assign(world, {
        accountId,
        subject: (name: string) => subjectOf(stores, world, accountId, name),
      });
    },
    add: async (name, { provider = "cloud", locations = [] } = {}) =>
      await pool.add({
        name,
        provider,
        locations,
        settings: { url: `https://${name}.test` },
        credentialRef: `env:${name.toUpperCase()}`,
        callsPerSecond: 7,
        author: ada,
      }),
    states: async () => Object.fromEntries((await pool.list()).map(({ name, state }) => [name, state])),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
}

async function subjectOf(stores: Stores, world: World, accountId: string, name: string): Promise<CycleInput> {
  const uid = await world.declare({ name, kind: "Host", accounts: [accountId] });
  const [row] = await query<{ id: number }>(
    stores.url,
    "select id::int from setpoint.subject where resource_uid = $1",
    [uid],
  );
  const input = await stores.engine.load(row?.id ?? 0);
  assert.ok(input, `${name} has no subject`);
  return input;
}

async function dock(world: World, input: CycleInput, location?: string): Promise<DockAnswer> {
  return await world.stores.engine.dock({ actor: world.actor(input), subject: input.subject, location });
}

/** It left: nothing of it is outside any more, and nothing names the account. */
async function gone({ stores, organizationId, ...world }: World, input: CycleInput): Promise<void> {
  const request = { organizationId, uid: input.resource.uid, ifRevision: undefined, author: ada };
  await stores.intent.requestDeletion({ ...request, orphan: false, confirmedCount: undefined });
  const leaving = await world.reload(input);
  const all = { stores, organizationId, ...world };
  assert.ok((await stores.engine.settle(settlementFor(all, leaving, { gone: true }))).kept);
}

test("many claims at once: each account of the pool has one claimant, and each organization one account", async () => {
  await using scene = await open();
  const tenants = await Promise.all(Array.from({ length: 6 }, () => scene.tenant()));
  for (const name of ["a", "b", "c", "d"]) await scene.add(name);
  const asked = await Promise.all(
    tenants.flatMap((world) =>
      ["one", "two", "three"].map(async (name) => [world, await world.subject(name)] as const),
    ),
  );
  const first = await Promise.all(asked.map(([world, input]) => dock(world, input)));
  // Whoever found the last free one in another's hands asks again, as an operation does.
  const answers = await Promise.all(
    first.map(async (answer, index) => {
      const [world, input] = asked[index] ?? assert.fail();
      return answer.result === "none-free" ? await dock(world, input) : answer;
    }),
  );
  const claimed = answers.flatMap((answer) => (answer.result === "claimed" ? [answer.poolAccount] : []));
  assert.deepEqual(claimed.toSorted(), ["a", "b", "c", "d"], "each was claimed once");
  const has = await Promise.all(asked.map(async ([world, input]) => (await world.reload(input)).account));
  const perTenant = Map.groupBy(has, (account) => account?.organizationId);
  for (const accounts of perTenant.values())
    assert.equal(
      new Set(accounts.map((account) => account?.pool?.account)).size,
      1,
      "all of a tenant are at one account",
    );
  assert.equal(has.filter((account) => account?.pool?.account === undefined).length, 2 * 3, "two tenants wait");
  const rows = await query<{ n: number }>(
    scene.stores.url,
    "select count(*)::int as n from setpoint.log_entry where type = 'account.claimed'",
  );
  assert.equal(rows[0]?.n, 4, "each claim is told once");
});

test("a claim gives the account what the pool has, wakes what lives there, and is made once", async () => {
  await using scene = await open();
  const world = await scene.tenant();
  await scene.add("elsewhere", { provider: "other" });
  await scene.add("north", { locations: ["n1"] });
  await scene.add("wide");
  const input = await world.subject("web-1");
  assert.deepEqual(input.account?.pool, {}, "it waits for its claim");
  assert.deepEqual(await dock(world, input, "s1"), { result: "claimed", poolAccount: "wide" });
  const docked = await world.reload(input);
  assert.ok(docked.inputVersion > input.inputVersion);
  assert.equal(docked.account?.credentialRef, "env:WIDE");
  assert.deepEqual(docked.account?.settings, { url: "https://wide.test" });
  assert.deepEqual(docked.account?.pool, { account: "wide", locations: [] });
  assert.deepEqual(await dock(world, docked, "n1"), { result: "docked" });
  assert.deepEqual(await scene.states(), { elsewhere: "free", north: "free", wide: "claimed" });
  const other = await scene.tenant();
  assert.deepEqual(await dock(other, await other.subject("web-1"), "s1"), { result: "none-free" });
  assert.deepEqual(await dock(other, await other.subject("web-2"), "n1"), { result: "claimed", poolAccount: "north" });
});

test("whoever lost the lease claims nothing, and an account of one's own is none of the pool", async () => {
  await using scene = await open();
  const world = await scene.tenant();
  await scene.add("a");
  const input = await world.subject("web-1");
  const { engine } = scene.stores;
  const stale = { ...world.actor(input), epoch: world.actor(input).epoch - 1 };
  assert.deepEqual(await engine.dock({ actor: stale, subject: input.subject, location: undefined }), {
    result: "lost",
  });
  const own = await makeWorld(scene.stores);
  assert.deepEqual(await dock(own, await own.subject("zone")), { result: "docked" });
  assert.deepEqual(await scene.states(), { a: "free" });
});

test("a claim that does not commit claimed nothing", async () => {
  await using scene = await open();
  const world = await scene.tenant();
  await scene.add("a");
  const input = await world.subject("web-1");
  // The log is written last: without it the whole is undone.
  await query(scene.stores.url, "revoke insert on setpoint.log_entry from setpoint_engine");
  await assert.rejects(dock(world, input));
  assert.deepEqual(await scene.states(), { a: "free" });
  assert.deepEqual((await world.reload(input)).account?.pool, {});
  await query(scene.stores.url, "grant insert on setpoint.log_entry to setpoint_engine");
  assert.deepEqual(await dock(world, input), { result: "claimed", poolAccount: "a" });
});

test("what is named is not given back; what is given back waits for an operator, and keeps what it is known by", async () => {
  await using scene = await open();
  const { pool, stores } = scene;
  const world = await scene.tenant();
  const { organizationId, accountId } = world;
  await scene.add("a");
  const giveBack = () => pool.giveBack({ organizationId, accountId, author: ada });
  assert.deepEqual(await giveBack(), { result: "waiting" });
  const input = await world.subject("web-1");
  await dock(world, input);
  await stores.engine.recordAccount({ accountId, fingerprint: "project 7", claimedIncarnation: 1 });
  const refused = await giveBack();
  assert.equal(refused.result, "in-use");
  assert.deepEqual(refused.result === "in-use" && refused.users.map(({ kind, name }) => `${kind}/${name}`), [
    "Host/web-1",
  ]);
  const inUse = { result: "in-use", organization: "acme", resources: 1 };
  assert.deepEqual(await pool.free({ name: "a", author: ada }), inUse);
  assert.deepEqual(await pool.remove({ name: "a", author: ada }), { result: "claimed", organization: "acme" });
  assert.deepEqual(await scene.states(), { a: "claimed" });

  await gone(world, input);
  assert.deepEqual(await giveBack(), { result: "returned", poolAccount: "a" });
  assert.deepEqual(await scene.states(), { a: "returned" });
  const [account] = (await stores.read.listAccounts(organizationId)).filter(({ id }) => id === accountId);
  assert.deepEqual(account?.pool, {});
  assert.deepEqual([account?.settings, account?.fingerprint], [{}, undefined]);
  const other = await scene.tenant();
  const theirs = await other.subject("web-1");
  assert.deepEqual(await dock(other, theirs), { result: "none-free" }, "nobody has said that it is empty");

  assert.deepEqual(await pool.free({ name: "a", author: ada }), { result: "freed" });
  assert.deepEqual(await dock(other, theirs), { result: "claimed", poolAccount: "a" });
  assert.equal((await other.reload(theirs)).account?.fingerprint, "project 7", "it must be the same account");
});

test("an operator puts back what nothing names, and takes out what nobody has", async () => {
  await using scene = await open();
  const world = await scene.tenant();
  await scene.add("a");
  const input = await world.subject("web-1");
  await dock(world, input);
  await gone(world, input);
  assert.deepEqual(await scene.pool.free({ name: "a", author: ada }), { result: "freed" });
  assert.deepEqual(
    (await scene.stores.read.listAccounts(world.organizationId)).map(({ pool }) => pool),
    [{}, undefined],
  );
  assert.deepEqual(await scene.pool.remove({ name: "a", author: ada }), { result: "removed" });
  assert.deepEqual(await scene.pool.remove({ name: "a", author: ada }), { result: "not-found" });
  assert.deepEqual(await scene.pool.free({ name: "a", author: ada }), { result: "not-found" });
});

test("an organization's role reads neither the pool nor another's claim, nor where a credential is", async () => {
  await using scene = await open();
  const [mine, theirs] = [await scene.tenant(), await scene.tenant()];
  for (const name of ["a", "b"]) await scene.add(name);
  await dock(mine, await mine.subject("web-1"));
  const as = { organizations: [theirs.organizationId] };
  const { api } = scene.stores;
  const run = (text: string) =>
    api.transaction(as, (tx) => tx.run(statement<object>(text.slice(0, 30), "tenants", text)));
  assert.deepEqual(await run("select name from setpoint.pool_account"), [], "neither what is free nor another's");
  for (const column of ["credential_ref", "settings"])
    await assert.rejects(run(`select ${column} from setpoint.pool_account`), /permission denied/);
  await assert.rejects(run("delete from setpoint.pool_account"), /permission denied/);
  const touched =
    "update setpoint.pool_account set state = 'returned', account_id = null where name = 'a' returning name";
  assert.deepEqual(await run(touched), []);
  const told = await run("select 1 where setpoint.told_to_tenants('pool.added')");
  assert.deepEqual(told, [], "what happens in the pool is no tenant's to read");
});

test("an account of the pool keeps the operator's credential, whoever asks", async () => {
  await using scene = await open();
  const world = await scene.tenant();
  await scene.add("a");
  const input = await world.subject("web-1");
  await dock(world, input);
  const credentials = new PostgresAccountCredentialStore({ database: scene.stores.api });
  const { organizationId, accountId } = world;
  const sealed = { write: "sealed:theirs", read: undefined, author: ada };
  assert.equal(await credentials.replace({ organizationId, accountId, ...sealed }), false);
  assert.equal((await world.reload(input)).account?.credentialRef, "env:A");
});

test("an organization that ends gives back what it has, and after a restore nothing is taken for empty", async () => {
  await using scene = await open();
  const { stores } = scene;
  const world = await scene.tenant();
  for (const name of ["a", "b"]) await scene.add(name);
  const input = await world.subject("web-1");
  await dock(world, input);
  await gone(world, input);
  const { api: database, administration } = stores;
  const roles = { seedRules: new Map(), platformRules: new Map() };
  const members = new PostgresMemberStore({ database, administration, ids: { next: randomUUID }, ...roles });
  const { organizationId } = world;
  assert.deepEqual(await members.deleteOrganization({ organizationId, author: ada }), { result: "deleted" });
  assert.deepEqual(await scene.states(), { a: "returned", b: "free" });
  await stores.intent.markRestored();
  assert.deepEqual(await scene.states(), { a: "returned", b: "returned" });
});

test("an operation that waits for the pool looks again when there is one", async () => {
  await using scene = await open();
  const { stores } = scene;
  const world = await scene.tenant();
  const input = await world.subject("web-1");
  const { organizationId } = world;
  const what = { organizationId, resourceUid: input.resource.uid, pipeline: "p", version: 1, input: {} };
  const who = { operationId: randomUUID(), author: ada, priority: "person" as const, ends: false };
  await stores.operationIntents.startOperation({ ...what, ...who });
  await query(stores.url, "update setpoint.operation set due_at_ms = setpoint.now_ms() + 300000");
  await query(stores.url, "update setpoint.operation_due set due_at_ms = setpoint.now_ms() + 300000");
  const shards = Array.from({ length: 64 }, (_, shard) => shard);
  const due = async () => (await stores.operations.dueOperations({ shards, limit: 10 })).length;
  assert.equal(await due(), 0);
  await scene.add("elsewhere", { provider: "other" });
  assert.equal(await due(), 0, "that is no use to it");
  await scene.add("a");
  assert.equal(await due(), 1);
});
