import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { Log } from "../../ports/log.ts";
import { migrate, readMigrations } from "../migrate.ts";
import { BackupError } from "./backup-error.ts";
import { readBackupFile, readBackupHeader } from "./backup-file.ts";
import { type BackupProgress, type BackupReport, verifyBackup } from "./dump.ts";
import type { Manifest } from "./manifest.ts";
import { type Quarantined, quarantine } from "./quarantine.ts";
import type { NamedRootKey } from "./root-keys.ts";

export interface RestoreReport extends BackupReport {
  readonly quarantined: Quarantined;
}

/**
 * Puts a backup into an empty database. The file is read whole before anything is written; all rows and everything that
 * makes them safe come with one commit. Afterwards it is brought to this version's schema.
 */
export async function restoreBackup(options: {
  readonly url: string;
  readonly file: string;
  readonly rootKeys: readonly NamedRootKey[];
  readonly log: Log;
  readonly progress?: BackupProgress;
}): Promise<RestoreReport> {
  const { url, file, rootKeys, log, progress } = options;
  const { schemaVersion } = await readBackupHeader(file);
  const known = readMigrations();
  if (schemaVersion > known.length) {
    throw new BackupError(
      `The backup was made by a newer Setpoint (schema ${schemaVersion}, this one knows ${known.length}). Nothing was written; install that version or a later one`,
    );
  }
  const report = await verifyBackup(file, rootKeys, progress);
  requireOurMigrations(report.manifest);
  await migrate({ url, log, migrations: known.slice(0, schemaVersion) });
  const quarantined = await load({ url, file, rootKeys, ...(progress === undefined ? {} : { progress }) });
  await migrate({ url, log });
  return { ...report, quarantined };
}

function requireOurMigrations({ migrations }: Manifest): void {
  const known = readMigrations();
  const other = migrations.find(({ version, checksum }) => known[version - 1]?.checksum !== checksum);
  if (other === undefined) return;
  throw new BackupError(
    `The backup's schema differs from this Setpoint's at ${other.name}. Nothing was written; restore it with the version that made it`,
  );
}

async function load(options: {
  readonly url: string;
  readonly file: string;
  readonly rootKeys: readonly NamedRootKey[];
  readonly progress?: BackupProgress;
}) {
  const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(
      "set role setpoint_admin; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0",
    );
    await client.query("begin");
    await requireEmpty(client);
    const { manifest } = await readBackupFile(options.file, options.rootKeys, (table, columns, rows) => {
      options.progress?.("restoring", table);
      return loadTable(client, { table, columns, rows });
    });
    for (const { sequence, value } of manifest.sequences) {
      await client.query("select setval(format('setpoint.%I', $1::text), $2)", [sequence, value]);
    }
    const quarantined = await quarantine(client);
    await client.query("commit");
    return quarantined;
  } finally {
    // Without the commit above, closing undoes everything.
    await client.end().catch(() => undefined);
  }
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ used: boolean }>(
    "select exists (select from setpoint.organization) or exists (select from setpoint.sealed_entry) as used",
  );
  if (rows[0]?.used !== true) return;
  throw new BackupError(
    "The database is not empty. Nothing was written; restore into a new one (an empty DATABASE_URL, or another SETPOINT_DATA)",
  );
}

/** COPY does not write where row-level security applies, so rows come through a table that ends with the transaction. */
async function loadTable(
  client: pg.Client,
  {
    table,
    columns,
    rows,
  }: { readonly table: string; readonly columns: readonly string[]; readonly rows: AsyncIterable<Buffer> },
): Promise<void> {
  const target = `setpoint.${pg.escapeIdentifier(table)}`;
  const names = columns.map((column) => pg.escapeIdentifier(column)).join(", ");
  // What triggers keep beside a table is in the backup too.
  await client.query(`alter table ${target} disable trigger user`);
  // Migrations leave rows of their own, such as the installation's.
  await client.query(`delete from ${target}`);
  await client.query(`create temporary table loading on commit drop as select ${names} from ${target} with no data`);
  await pipeline(
    Readable.from(rows, { objectMode: false }),
    client.query(copyFrom(`copy loading (${names}) from stdin`)),
  );
  await client.query(`insert into ${target} (${names}) overriding system value select ${names} from loading`);
  await client.query("drop table loading");
  await client.query(`alter table ${target} enable trigger user`);
}
