import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountCredentialBinding } from "../../src/kernel/account-credential.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { createEngineOpener, engineSealer } from "../../src/runtime/engine-seal.ts";
import { RootKeyBox } from "../../src/runtime/root-key-box.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { PostgresAccountCredentialStore, registerEngineKey, resealAccounts } from "../../src/store/engine-keys.ts";
import { PostgresSecretStore } from "../../src/store/secret-store.ts";
import { query } from "../support/postgres.ts";
import { openStores, type StoreServer, type Stores, startStoreServer } from "./support/stores.ts";
import { ada, makeWorld, type World } from "./support/world.ts";

let server: StoreServer;
before(async () => {
  server = await startStoreServer();
});
after(() => server[Symbol.asyncDispose]());

const newKey = () => systemSecretRandom.bytes(32);
const random = systemSecretRandom;

function secretsOf(stores: Stores, box: RootKeyBox): PostgresSecretStore {
  return new PostgresSecretStore({ database: stores.api, administration: stores.administration, box, random });
}

function placeOf(world: World, name: string) {
  return { organizationId: world.organizationId, owner: `secret/${name}`, field: "value" };
}

async function rotateAll(store: PostgresSecretStore, batchSize = 3, steps = 100): Promise<void> {
  let startedAtMs: number | undefined;
  for (let step = 0; step < steps; step++) {
    const done = await store.rotate({ startedAtMs, tenantKeys: true, batchSize, author: ada });
    ({ startedAtMs } = done);
    if (done.left.underRoot + done.left.tenantKeys + done.left.secrets === 0) return;
  }
}

test("a secret comes out as it went in, and the tables have nothing of it", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const store = secretsOf(stores, new RootKeyBox(newKey()));
  const place = placeOf(world, "db");
  assert.equal((await store.put({ ...place, value: new Secret("first"), author: ada })).version, 1);
  assert.equal((await store.put({ ...place, value: new Secret("canary-second"), author: ada })).version, 2);
  assert.equal((await store.reveal(place))?.reveal(), "canary-second");
  const rows = await query<{ dump: string }>(
    url,
    "select coalesce(json_agg(s)::text, '') || (select json_agg(k)::text from setpoint.tenant_key k) || (select json_agg(l)::text from setpoint.log_entry l) as dump from setpoint.secret s",
  );
  assert.ok(!rows[0]?.dump.includes("canary-second"));
  assert.equal(await store.remove({ ...place, author: ada }), true);
  assert.equal(await store.remove({ ...place, author: ada }), false);
  assert.equal(await store.reveal(place), undefined);
});

test("a sealed value opens nowhere but where it belongs: not for another tenant, owner, field or version", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const [mine, theirs] = [await makeWorld(stores), await makeWorld(stores)];
  const store = secretsOf(stores, new RootKeyBox(newKey()));
  for (const world of [mine, theirs])
    for (const name of ["one", "two"])
      await store.put({
        ...placeOf(world, name),
        value: new Secret(`${name} of ${world.organizationId}`),
        author: ada,
      });
  const moves = [
    "set sealed_key = o.sealed_key, sealed_value = o.sealed_value from setpoint.secret o where s.owner = 'secret/one' and o.owner = 'secret/two' and s.organization_id = o.organization_id",
    "set sealed_key = o.sealed_key, sealed_value = o.sealed_value from setpoint.secret o where s.owner = o.owner and s.organization_id <> o.organization_id",
    "set version = s.version + 1",
    "set field = 'other'",
    "set sealed_value = o.sealed_value from setpoint.secret o where s.owner = 'secret/one' and o.owner = 'secret/two' and s.organization_id = o.organization_id",
  ];
  await query(url, "create table public.kept as select * from setpoint.secret");
  for (const move of moves) {
    await query(url, `update setpoint.secret s ${move}`);
    const field = move.includes("field") ? "other" : "value";
    await assert.rejects(store.reveal({ ...placeOf(mine, "one"), field }), /cannot be opened/, move);
    await query(url, "delete from setpoint.secret");
    await query(url, "insert into setpoint.secret select * from public.kept");
  }
  await query(
    url,
    "update setpoint.tenant_key a set sealed_key = b.sealed_key from setpoint.tenant_key b where a.organization_id <> b.organization_id",
  );
  await assert.rejects(store.reveal(placeOf(mine, "one")), /cannot be opened/);
});

test("root key and tenants' keys rotate online: interrupted anywhere, nothing is unreadable and the end is whole", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const worlds = [await makeWorld(stores), await makeWorld(stores), await makeWorld(stores)];
  const [old, young] = [newKey(), newKey()];
  const first = secretsOf(stores, new RootKeyBox(old));
  const names = ["a", "b", "c", "d"];
  for (const world of worlds)
    for (const name of names) await first.put({ ...placeOf(world, name), value: new Secret(name), author: ada });

  const readAll = async (store: PostgresSecretStore) => {
    for (const world of worlds)
      for (const name of names) assert.equal((await store.reveal(placeOf(world, name)))?.reveal(), name);
  };
  const both = secretsOf(stores, new RootKeyBox([young, old]));
  let startedAtMs: number | undefined;
  // Each step is one batch; whoever stops after any of them finds everything readable.
  for (let step = 0; step < 50; step++) {
    const done = await both.rotate({ startedAtMs, tenantKeys: true, batchSize: 2, author: ada });
    ({ startedAtMs } = done);
    await readAll(both);
    if (done.left.underRoot + done.left.tenantKeys + done.left.secrets === 0) break;
    assert.ok(step < 49, "it ends");
  }
  // The old root key is not needed any more.
  await readAll(secretsOf(stores, new RootKeyBox(young)));
  const versions = await query<{ version: string; keys: string }>(
    url,
    "select max(version)::text as version, count(*)::text as keys from setpoint.tenant_key group by organization_id",
  );
  assert.deepEqual(
    versions,
    [1, 2, 3].map(() => ({ version: "2", keys: "1" })),
    "old keys of tenants are gone",
  );
});

test("writers and readers during a rotation lose nothing", async () => {
  await using stores = openStores(await server.createDatabase());
  const world = await makeWorld(stores);
  const [old, young] = [newKey(), newKey()];
  await secretsOf(stores, new RootKeyBox(old)).put({ ...placeOf(world, "s-0"), value: new Secret("0"), author: ada });
  const store = secretsOf(stores, new RootKeyBox([young, old]));
  const writes = Array.from({ length: 40 }, async (_, index) => {
    const place = placeOf(world, `s-${index % 8}`);
    await store.put({ ...place, value: new Secret(`value ${index % 8}`), author: ada });
    assert.equal((await store.reveal(place))?.reveal(), `value ${index % 8}`);
  });
  await Promise.all([...writes, rotateAll(store), rotateAll(store)]);
  await rotateAll(store);
  const last = secretsOf(stores, new RootKeyBox(young));
  for (let index = 0; index < 8; index++)
    assert.equal((await last.reveal(placeOf(world, `s-${index}`)))?.reveal(), `value ${index}`);
});

test("the first scheduler's key counts, a stranger's does not, and a rotation seals everything anew", async () => {
  const url = await server.createDatabase();
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const input = await world.subject("zone");
  const [old, young] = [newKey(), newKey()];
  const first = createEngineOpener([old]);
  const store = new PostgresAccountCredentialStore({ database: stores.api });
  assert.equal(await store.engineKey(), undefined);
  assert.deepEqual(await registerEngineKey(stores.administration, first), { state: "registered" });
  assert.deepEqual(await registerEngineKey(stores.administration, first), { state: "known" });
  const stranger = await registerEngineKey(stores.administration, createEngineOpener([newKey()]));
  assert.deepEqual(stranger, { state: "other", currentId: first.key.id });
  assert.deepEqual(await store.engineKey(), first.key);

  const { organizationId, accountId } = world;
  const account = { organizationId, id: accountId };
  const sealed = (part: "read" | "write", value: string) =>
    `sealed:${engineSealer.seal(first.key, value, accountCredentialBinding(account, part))}`;
  const request = { organizationId, accountId, write: sealed("write", "w"), read: sealed("read", "r"), author: ada };
  assert.equal(await store.replace(request), true);
  assert.equal(await store.replace({ ...request, accountId: "none" }), false);
  const woken = await world.reload(input);
  assert.equal(woken.inputVersion, input.inputVersion + 1, "a plan of the old credential is void");
  assert.equal(woken.policyVersion, input.policyVersion + 1);
  assert.equal(woken.account?.credentialRef, request.write);
  assert.equal(woken.account?.readCredentialRef, request.read);

  const both = createEngineOpener([young, old]);
  assert.deepEqual(await registerEngineKey(stores.administration, both), { state: "registered" });
  assert.equal(await resealAccounts(stores.administration, { opener: both, sealer: engineSealer }, 10), 1);
  assert.equal(await resealAccounts(stores.administration, { opener: both, sealer: engineSealer }, 10), 0);
  const { account: moved } = await world.reload(input);
  const opened = createEngineOpener([young]);
  const openedOf = (reference: string | undefined, part: "read" | "write") =>
    opened.open(reference?.slice("sealed:".length) ?? "", accountCredentialBinding(account, part));
  assert.equal(openedOf(moved?.credentialRef, "write"), "w");
  assert.equal(openedOf(moved?.readCredentialRef, "read"), "r");
  assert.throws(() => openedOf(moved?.credentialRef, "read"), /something else/);
});
