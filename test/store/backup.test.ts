import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import type { Log } from "../../src/ports/log.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { type BackupProgress, createBackup, verifyBackup } from "../../src/store/backup/dump.ts";
import { restoreBackup } from "../../src/store/backup/load.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresIntentStore } from "../../src/store/intent-store.ts";
import { migrate } from "../../src/store/migrate.ts";
import { startTestServer } from "../support/postgres.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const rootKeys = [{ id: "nine", key: Buffer.alloc(32, 9) }] as const;
const organizationId = "0b54a3a2-0000-8000-8000-000000000001";
const scope = `organization/${organizationId}`;

/** What a restore changes on purpose; everything else must come back as it was. */
const changed = new Set([
  "credential",
  "installation",
  "invite",
  "log_entry",
  "membership",
  "migration",
  "one_time_link",
  "pause",
  "person",
  "policy",
  "session",
  "shard",
  "shard_holder",
]);

/** What somebody at a terminal is shown meanwhile. */
function watchedProgress() {
  const seen = { writing: new Set<string>(), checking: new Set<string>(), restoring: new Set<string>() };
  const progress: BackupProgress = (doing, table) => void seen[doing].add(table);
  const requireAll = (tables: readonly string[]) => {
    for (const [doing, some] of Object.entries(seen)) assert.deepEqual([...some], tables, `whoever waits saw ${doing}`);
  };
  return { progress, requireAll };
}

test("a backup is put back whole, and lets nobody in", async (t) => {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "setpoint-backup-"));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const source = undo.use(await startTestServer());
  const target = undo.use(await startTestServer());
  await migrate({ url: source.url, log: silent });
  await fill(source.url, undo);
  const before = await tablesOf(source.url);
  const file = join(folder, "setpoint.backup");
  const watched = watchedProgress();
  const made = await createBackup({
    url: source.url,
    file,
    rootKeys,
    nowMs: 1_000,
    random: systemSecretRandom,
    log: silent,
    progress: watched.progress,
  });

  await t.test("it names what it holds, and a second reading agrees", async () => {
    const counts = new Map(made.manifest.tables.map(({ table, rows }) => [table, rows]));
    assert.equal(counts.get("resource"), 3);
    assert.equal(counts.get("session"), 1);
    assert.deepEqual(
      [...counts.keys(), "migration"].sort(),
      [...before.keys()].sort(),
      "every table of the catalogue is in it",
    );
    assert.deepEqual(await verifyBackup(file, rootKeys), made);
  });

  const report = await restoreBackup({ url: target.url, file, rootKeys, log: silent, progress: watched.progress });
  watched.requireAll(made.manifest.tables.map(({ table }) => table));
  const after = await tablesOf(target.url);

  await t.test("every row comes back, but for what a restore takes out of force", () => {
    for (const [table, rows] of before) if (!changed.has(table)) assert.deepEqual(after.get(table), rows, table);
  });

  await t.test("it is frozen and observing under a new incarnation", async () => {
    assert.equal(report.quarantined.incarnation, 2);
    await assertFrozen(target.url, made.header.installationId);
  });

  await t.test("sessions, links, tokens and invites in it are worth nothing, and memberships wait", async () => {
    await assertNobodyIsLetIn(target.url);
    assert.deepEqual(report.quarantined.memberships, [
      { organization: "acme", person: "ada@example.org", roles: `owner at ${scope}` },
    ]);
  });

  await t.test("numbers go on from where they were", () => assertNumbersGoOn(target.url));

  await t.test("a database that is in use is not touched", async () => {
    await assert.rejects(restoreBackup({ url: target.url, file, rootKeys, log: silent }), /not empty/);
    assert.deepEqual(await tablesOf(target.url), after);
  });

  await t.test("a backup that cannot be read whole changes nothing", async () => {
    const other = undo.use(await startTestServer());
    await assert.rejects(
      restoreBackup({ url: other.url, file, rootKeys: [{ id: "one", key: Buffer.alloc(32, 1) }], log: silent }),
      /made under the root key nine, and here there is one/,
    );
    assert.deepEqual(await query(other.url, "select 1 from pg_namespace where nspname = 'setpoint'"), []);
  });
});

async function assertNumbersGoOn(url: string): Promise<void> {
  const [{ next } = { next: 0 }] = await query(
    url,
    "select nextval(pg_get_serial_sequence('setpoint.subject', 'id'))::integer as next",
  );
  const [{ last } = { last: 0 }] = await query(url, "select max(id)::integer as last from setpoint.subject");
  assert.ok(Number(next) > Number(last));
}

async function assertFrozen(url: string, installationId: string): Promise<void> {
  const [pause] = await query(url, "select scope, level, organization_id from setpoint.pause");
  assert.deepEqual(pause, { scope: "platform", level: "writes", organization_id: null });
  const [policy] = await query(url, "select body ->> 'mode' as mode from setpoint.policy where scope = 'platform'");
  assert.deepEqual(policy, { mode: "observe" });
  const [installation] = await query(url, "select id, incarnation::integer from setpoint.installation");
  assert.deepEqual(installation, { id: installationId, incarnation: 2 });
}

async function assertNobodyIsLetIn(url: string): Promise<void> {
  const [left] = await query(
    url,
    `select (select count(*)::integer from setpoint.session) as sessions,
         (select count(*)::integer from setpoint.one_time_link) as links,
         (select count(*)::integer from setpoint.credential where revoked_at_ms is null) as tokens,
         (select count(*)::integer from setpoint.invite where revoked_at_ms is null) as invites,
         (select count(*)::integer from setpoint.membership where confirmed) as memberships,
         (select count(*)::integer from setpoint.person where platform_role <> 'none') as administrators`,
  );
  assert.deepEqual(left, { sessions: 0, links: 0, tokens: 0, invites: 0, memberships: 0, administrators: 0 });
}

async function fill(url: string, undo: AsyncDisposableStack): Promise<void> {
  const open = (role: "setpoint_api" | "setpoint_admin") =>
    undo.adopt(new Database({ url, role, log: silent, max: 2 }), (database) => database.end());
  const ids = createSystemIds();
  const intents = new PostgresIntentStore({
    database: open("setpoint_api"),
    administration: open("setpoint_admin"),
    ids,
  });
  await intents.createOrganization({ id: organizationId, name: "acme" });
  for (const name of ["one", "two", 'odd\t"name\\']) {
    await intents.declare({
      uid: ids.next(),
      organizationId,
      kind: "Thing",
      name,
      scope,
      spec: { text: "line\nbreak\tand \\N", items: [1, null, "ü"] },
      labels: { tier: "one" },
      author: { name: "ada@example.org", type: "person" },
      ifRevision: 0,
      mode: undefined,
      protect: undefined,
      accounts: [undefined],
      links: [],
    });
  }
  await query(
    url,
    `insert into setpoint.person (id, email, name, platform_role, created_at_ms)
       values ('p1', 'ada@example.org', 'Ada', 'administrator', 1);
     insert into setpoint.session (id, token_hash, person_id, created_at_ms, proven_at_ms, last_seen_at_ms, ends_at_ms, address, user_agent)
       values ('s1', 'h', 'p1', 1, 1, 1, 9999999999999, '127.0.0.1', 'test');
     insert into setpoint.one_time_link (token_hash, purpose, person_id, expires_at_ms) values ('l', 'sign-in', 'p1', 9999999999999);
     insert into setpoint.membership (organization_id, person_id, added_by, added_at_ms) values ('${organizationId}', 'p1', 'x', 1);
     insert into setpoint.role_binding (organization_id, id, person_id, scope, role, made_by, made_at_ms)
       values ('${organizationId}', 'b1', 'p1', '${scope}', 'owner', 'x', 1);
     insert into setpoint.invite (organization_id, id, email, secret_hash, bindings, invited_by, created_at_ms, expires_at_ms)
       values ('${organizationId}', 'i1', 'eve@example.org', 'h', '[]', 'x', 1, 9999999999999);
     insert into setpoint.credential (id, organization_id, type, name, hash, scope, maker, made_at_ms, expires_at_ms)
       values ('c1', '${organizationId}', 'service-token', 'ci', 'h', '${scope}', 'x', 1, 9999999999999)`,
  );
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const answer = (await client.query(text)) as pg.QueryResult<Record<string, unknown>>;
    return answer.rows;
  } finally {
    await client.end();
  }
}

async function tablesOf(url: string): Promise<Map<string, unknown[]>> {
  const tables = await query(url, "select tablename from pg_tables where schemaname = 'setpoint' order by tablename");
  const found = new Map<string, unknown[]>();
  for (const { tablename } of tables) {
    const rows = await query(url, `select to_jsonb(t)::text as row from setpoint.${String(tablename)} as t order by 1`);
    found.set(
      String(tablename),
      rows.map(({ row }) => row),
    );
  }
  return found;
}
