import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { StoreError } from "../../src/store/errors.ts";
import { type Migration, migrate, readMigrations, requireServerVersion } from "../../src/store/migrate.ts";
import { query, startTestServer, type TestServer, withUrl } from "../support/postgres.ts";
import { openStores, silentLog } from "./support/stores.ts";
import { makeWorld, permitFor } from "./support/world.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server[Symbol.asyncDispose]());

const known = readMigrations();

function refusal(code: StoreError["code"], words: RegExp) {
  return (thrown: unknown) => {
    assert.ok(thrown instanceof StoreError, String(thrown));
    assert.equal(thrown.code, code);
    assert.match(thrown.message, words);
    return true;
  };
}

function migrateTo(url: string, migrations: readonly Migration[]) {
  return migrate({ url, log: silentLog, migrations });
}

test("a fresh database gets every migration, and a second run finds nothing to do", async () => {
  const url = await server.createDatabase();
  assert.deepEqual(await migrate({ url, log: silentLog }), { version: known.length, applied: known.length });
  assert.deepEqual(await migrate({ url, log: silentLog }), { version: known.length, applied: 0 });
});

test("processes that start together migrate once", async () => {
  const url = await server.createDatabase();
  const results = await Promise.all(Array.from({ length: 4 }, () => migrate({ url, log: silentLog })));
  assert.equal(
    results.reduce((sum, { applied }) => sum + applied, 0),
    known.length,
  );
});

test("databases of one server can be migrated at the same time", async () => {
  await using fresh = await startTestServer();
  const urls = await Promise.all([1, 2, 3].map(() => fresh.createDatabase()));
  for (const result of await Promise.all(urls.map((url) => migrate({ url, log: silentLog })))) {
    assert.equal(result.applied, known.length);
  }
});

test("a database from the future is refused, with nothing changed", async () => {
  const url = await server.createDatabase();
  await migrate({ url, log: silentLog });
  const older = known.slice(0, -2);
  await assert.rejects(migrateTo(url, older), refusal("DATABASE_FROM_FUTURE", /knows \d+\. A newer Setpoint wrote it/));
  const rows = await query(url, "select from setpoint.migration");
  assert.equal(rows.length, known.length);
});

test("a migration that was changed after it was applied is refused by name", async () => {
  const url = await server.createDatabase();
  await migrate({ url, log: silentLog });
  const changed = known.map((migration, index) => (index === 1 ? { ...migration, checksum: "0" } : migration));
  await assert.rejects(
    migrateTo(url, changed),
    refusal("MIGRATION_CHANGED", /0002-intent .* add changes as a new migration/),
  );
});

test("a migration that fails is undone whole, and the ones before it stay", async () => {
  const url = await server.createDatabase();
  const next = known.length + 1;
  const text = "create table setpoint.half (id int); select 1 / 0";
  const broken = { version: next, name: `000${next}-broken`, text, checksum: "b" };
  await assert.rejects(migrateTo(url, [...known, broken]), /division by zero/);
  const [row] = await query<{ version: number; half: string | null }>(
    url,
    "select max(version) as version, to_regclass('setpoint.half') as half from setpoint.migration",
  );
  assert.deepEqual(row, { version: known.length, half: null });
  const repaired = { ...broken, text: "create table setpoint.half (id int)" };
  assert.deepEqual(await migrateTo(url, [...known, repaired]), { version: next, applied: 1 });
});

test("an unreachable server, a wrong password and a missing database each say what to do", async () => {
  const nowhere = "postgres://setpoint@127.0.0.1:1/setpoint";
  await assert.rejects(
    migrate({ url: nowhere, log: silentLog }),
    refusal("DATABASE_UNREACHABLE", /Check that the server runs/),
  );
  const stranger = withUrl(server.url, { password: "wrong" });
  await assert.rejects(
    migrate({ url: stranger, log: silentLog }),
    refusal("DATABASE_REFUSED", /Check the user and the password/),
  );
  const missing = withUrl(server.url, { database: "none" });
  await assert.rejects(migrate({ url: missing, log: silentLog }), refusal("DATABASE_MISSING", /Create it/));
});

test("a server older than 15 is refused", () => {
  for (const version of ["15.0", "18.4", "16.2 (Debian 16.2-1)", "19beta1"]) requireServerVersion(version);
  for (const version of ["14.9", "9.6.24", "unknown"]) {
    assert.throws(() => requireServerVersion(version), refusal("DATABASE_TOO_OLD", /needs 15 or newer/));
  }
});

test("an ordinary user that owns his database can migrate and work", async () => {
  await using fresh = await startTestServer();
  await query(fresh.url, "create role owner login createrole password 'secret'");
  await query(fresh.url, "create database owned owner owner");
  const url = withUrl(fresh.url, { database: "owned", user: "owner", password: "secret" });
  assert.equal((await migrate({ url, log: silentLog })).applied, known.length);
  await using stores = openStores(url);
  const world = await makeWorld(stores);
  const input = await world.subject("works");
  assert.deepEqual(await stores.engine.permit(permitFor(world, input)), { granted: true });
  assert.equal((await stores.read.summary()).subjects, 1);
});

test("a user that may not make the roles is told what an administrator must run", async () => {
  await using fresh = await startTestServer();
  await query(fresh.url, "create role limited login password 'secret'");
  await query(fresh.url, "create database limited owner limited");
  const url = withUrl(fresh.url, { database: "limited", user: "limited", password: "secret" });
  await assert.rejects(migrate({ url, log: silentLog }), refusal("ROLES_MISSING", /create role setpoint_api nologin/));
  for (const role of ["setpoint_admin", "setpoint_api", "setpoint_engine"]) {
    await query(fresh.url, `create role ${role} nologin`);
    await query(fresh.url, `grant ${role} to limited`);
  }
  assert.equal((await migrate({ url, log: silentLog })).applied, known.length);
});

test("a database that was never migrated says so", async () => {
  await using stores = openStores(await server.createDatabase());
  await assert.rejects(stores.read.summary(), refusal("DATABASE_NOT_MIGRATED", /Run the migrations first/));
});
