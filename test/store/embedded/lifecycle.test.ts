import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { stateOf } from "../../../src/store/embedded/process-table.ts";
import { startEmbeddedServer } from "../../../src/store/embedded/server.ts";
import {
  copyOfTemplate,
  QUICK_SETTINGS,
  query,
  startTestServer,
  temporaryFolder,
  withUrl,
} from "../../support/postgres.ts";

test("a first start makes the database, a second one finds its rows, a clean stop leaves no process", async () => {
  using folder = temporaryFolder();
  const dataDirectory = path.join(folder.path, "new", "data");
  const pids: number[] = [];
  const log = (_event: string, fields?: Record<string, unknown>) => {
    pids.push(...[fields?.["pid"], fields?.["guardPid"]].filter((pid) => typeof pid === "number"));
  };
  // With the settings of the product: this is the one test that makes a database the way `npm start` does.
  {
    await using server = await startEmbeddedServer({ dataDirectory, log });
    assert.equal(server.startedFresh, true);
    await query(server.url, "create table kept (n int)");
    await query(server.url, "insert into kept values (42)");
  }
  {
    await using server = await startEmbeddedServer({ dataDirectory, log });
    assert.equal(server.startedFresh, false);
    assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 42 }]);
  }
  assert.equal(pids.length, 4, "each start has a server and a guard");
  assert.deepEqual(pids.map(stateOf), ["gone", "gone", "gone", "gone"]);
});

test("it runs with durable settings, UTC, UTF-8 and byte order, and says where its log is", async () => {
  await using db = await startTestServer({ settings: { fsync: "on", full_page_writes: "on" } });
  const rows = await query<{ name: string; setting: string }>(
    db.url,
    `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes',
       'max_wal_size', 'min_wal_size', 'wal_level', 'jit', 'TimeZone', 'server_encoding', 'listen_addresses')`,
  );
  assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
    TimeZone: "UTC",
    fsync: "on",
    full_page_writes: "on",
    jit: "off",
    listen_addresses: "",
    max_wal_size: "256",
    min_wal_size: "80",
    server_encoding: "UTF8",
    synchronous_commit: "on",
    wal_level: "replica",
  });
  assert.deepEqual(await query(db.url, "select 'a' < 'B' as natural, upper('é') as upper"), [
    { natural: false, upper: "É" },
  ]);
  assert.match(readFileSync(db.server.logFile, "utf8"), /database system is ready to accept connections/);
});

test("the socket is for the run user alone and asks for a password; over TCP a free port answers", async () => {
  await using db = await startTestServer({ tcp: true });
  assert.equal(statSync(db.server.socketDirectory).mode & 0o777, 0o700);
  assert.equal(new URL(db.url).port, String(db.server.port));
  assert.notEqual(db.server.port, 5432);
  assert.deepEqual(await query(db.url, "select inet_server_addr()::text as at"), [{ at: "127.0.0.1/32" }]);

  const overSocket = `${db.url}?host=${encodeURIComponent(db.server.socketDirectory)}`;
  assert.deepEqual(await query(overSocket, "select inet_server_addr()::text as at"), [{ at: null }]);
  for (const url of [db.url, overSocket]) {
    await assert.rejects(query(withUrl(url, { password: "guess" }), "select 1"), /password authentication failed/);
  }
});

test("a data directory whose path is too long for a socket gets its socket elsewhere", async () => {
  using folder = temporaryFolder();
  const long = path.join(folder.path, "l".repeat(60), 'o ng, "path'.repeat(6));
  const server = await startEmbeddedServer({
    dataDirectory: long,
    log: () => undefined,
    settings: QUICK_SETTINGS,
    initdbArguments: ["--no-sync"],
  });
  assert.ok(!server.socketDirectory.startsWith(long));
  assert.deepEqual(await query(server.url, "select current_setting('data_directory') as at"), [
    { at: path.join(long, "postgres") },
  ]);
  await server.stop();
  assert.ok(!existsSync(server.socketDirectory), "the spare folder is gone with the server");
});

test("a setting PostgreSQL does not know is one message with the server's own words, and leaves nothing behind", async () => {
  using folder = temporaryFolder();
  const dataDirectory = await copyOfTemplate(folder.path);
  const options = { dataDirectory, log: () => undefined };
  await assert.rejects(startEmbeddedServer({ ...options, settings: { max_wall_size: "1MB" } }), {
    name: "EmbeddedServerError",
    code: "START_FAILED",
    message: /unrecognized configuration parameter "max_wall_size".*DATABASE_URL/,
  });
  await using server = await startEmbeddedServer({ ...options, settings: QUICK_SETTINGS });
  assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
});

test("fresh databases come from a template", async () => {
  await using db = await startTestServer();
  const migrated = await db.createDatabase({ name: "migrated" });
  await query(migrated, "create table schema_version as select 7 as version");
  const [first, second] = await Promise.all([
    db.createDatabase({ template: "migrated" }),
    db.createDatabase({ name: "second one" }),
  ]);
  assert.deepEqual(await query(first, "select version from schema_version"), [{ version: 7 }]);
  await assert.rejects(query(second, "select version from schema_version"), /does not exist/);
});
