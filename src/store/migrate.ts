import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { thrownMessage } from "../kernel/errors.ts";
import type { Log } from "../ports/log.ts";
import { StoreError, toStoreError } from "./errors.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

const oldestServerVersion = 15;
/** Any number, the same in every process: whoever has this lock migrates. */
const migrationLock = 7_305_220_001;
const folder = new URL("./migrations/", import.meta.url);
const roles = ["setpoint_admin", "setpoint_api", "setpoint_engine"] as const;

/** The migrations of this version of Setpoint, in order: plain SQL, numbered from 1 without gaps, forward only. */
export function readMigrations(): readonly Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .sort();
  return files.map((file, index) => {
    const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1]);
    if (version !== index + 1)
      throw new Error(`Migration ${file} should be number ${index + 1}: NNNN-what-it-does.sql`);
    const text = readFileSync(new URL(file, folder), "utf8");
    const checksum = createHash("sha256").update(text).digest("hex");
    return { version, name: file.slice(0, -".sql".length), text, checksum };
  });
}

/**
 * Brings the database to this version's schema. Safe to run from many processes at once and as often as one likes.
 * Throws a `StoreError` that says what to do, and then has changed nothing that is not a whole migration.
 */
export async function migrate(options: {
  readonly url: string;
  readonly log: Log;
  readonly migrations?: readonly Migration[];
}): Promise<{ readonly version: number; readonly applied: number }> {
  const migrations = options.migrations ?? readMigrations();
  const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 10_000 });
  // A server that goes away between two statements must not end the process; the next statement reports it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    requireServerVersion(rows[0]?.server_version ?? "unknown");
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    await ensureRoles(client);
    await prepareSchema(client);
    return await applyMissing(client, migrations, options.log);
  } catch (thrown) {
    throw toStoreError(thrown);
  } finally {
    // Also gives the lock back.
    await client.end().catch(() => undefined);
  }
}

/** `version` is what the server calls itself: `18.4`, or `15.3 (Debian 15.3-1)`. */
export function requireServerVersion(version: string): void {
  if (Number.parseInt(version, 10) >= oldestServerVersion) return;
  throw new StoreError(
    "DATABASE_TOO_OLD",
    `This PostgreSQL is version ${version}; Setpoint needs ${oldestServerVersion} or newer. Upgrade the server, or leave ` +
      "DATABASE_URL unset to use the embedded one.",
  );
}

/** Roles belong to the whole server, where other databases may be migrating at this moment. */
async function ensureRoles(client: pg.Client): Promise<void> {
  try {
    for (const role of roles) {
      await client.query(`do $$
        begin
          if not exists (select from pg_roles where rolname = '${role}') then
            create role ${role} nologin;
          end if;
        exception when duplicate_object or unique_violation then null;
        end $$`);
      // Since version 16 whoever makes a role may give it away, and may take it on only when it was given to him.
      await client.query(`do $$
        declare
          needed text := case when current_setting('server_version_num')::integer >= 160000 then 'set' else 'member' end;
        begin
          if not pg_has_role(session_user, '${role}', needed) then
            execute format('grant ${role} to %I', session_user);
          end if;
        end $$`);
    }
  } catch (thrown) {
    const message = thrownMessage(thrown);
    const statements = roles.map((role) => `create role ${role} nologin; grant ${role} to <this user>;`).join(" ");
    throw new StoreError(
      "ROLES_MISSING",
      `The database user may not create the roles that Setpoint works under (${message}). Run this once as an ` +
        `administrator of the server: ${statements}`,
      { cause: thrown },
    );
  }
}

async function prepareSchema(client: pg.Client): Promise<void> {
  await client.query(`
    begin;
    create schema if not exists setpoint authorization setpoint_admin;
    set local role setpoint_admin;
    create table if not exists setpoint.migration (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default clock_timestamp()
    );
    commit`);
}

async function applyMissing(client: pg.Client, migrations: readonly Migration[], log: Log) {
  const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
    "select version, name, checksum from setpoint.migration order by version",
  );
  for (const row of rows) requireSame(row, migrations);
  const missing = migrations.slice(rows.length);
  for (const migration of missing) {
    await applyOne(client, migration);
    log.info("store.migrated", { version: migration.version, name: migration.name });
  }
  return { version: migrations.length, applied: missing.length };
}

function requireSame(row: { version: number; name: string; checksum: string }, migrations: readonly Migration[]): void {
  const known = migrations[row.version - 1];
  if (known === undefined) {
    throw new StoreError(
      "DATABASE_FROM_FUTURE",
      `The database has migration ${row.name}; this Setpoint knows ${migrations.length}. A newer Setpoint wrote it: run ` +
        "that version or a later one, or restore a backup from before the upgrade.",
    );
  }
  if (known.checksum === row.checksum) return;
  throw new StoreError(
    "MIGRATION_CHANGED",
    `Migration ${row.name} was applied to this database with another content than this Setpoint has as ${known.name}. ` +
      "Migrations never change once released: install the released version, and add changes as a new migration.",
  );
}

async function applyOne(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query("begin");
    await client.query("set local role setpoint_admin");
    await client.query(migration.text);
    await client.query("insert into setpoint.migration (version, name, checksum) values ($1, $2, $3)", [
      migration.version,
      migration.name,
      migration.checksum,
    ]);
    await client.query("commit");
  } catch (thrown) {
    await client.query("rollback").catch(() => undefined);
    const failure = toStoreError(thrown);
    if (failure instanceof StoreError && failure.code !== "INTERNAL") throw failure;
    throw new StoreError("INTERNAL", `Migration ${migration.name} failed and was undone whole: ${failure.message}`, {
      cause: thrown,
    });
  }
}
