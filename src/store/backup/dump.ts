import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { Log } from "../../ports/log.ts";
import type { SecretRandom } from "../../ports/secret-random.ts";
import { migrate } from "../migrate.ts";
import type { TableSource } from "./archive.ts";
import { BackupError } from "./backup-error.ts";
import { readBackupFile, writeBackupFile } from "./backup-file.ts";
import { type BackupHeader, type Manifest, rootKeyNote } from "./manifest.ts";
import type { NamedRootKey } from "./root-keys.ts";

export interface BackupReport {
  readonly header: BackupHeader;
  readonly manifest: Manifest;
}

/** Told of each table as it begins: large ones take minutes, and whoever waits wants to see where it is. */
export type BackupProgress = (doing: "writing" | "checking" | "restoring", table: string) => void;

/** What runs the product at the moment of the backup and nothing else; it is made anew by whoever runs it next. */
const notKept = new Set(["migration"]);

/** Every table in one snapshot, into one encrypted file, which is then read back whole. */
export async function createBackup(options: {
  readonly url: string;
  readonly file: string;
  /** The first one seals. */
  readonly rootKeys: readonly [NamedRootKey, ...NamedRootKey[]];
  readonly nowMs: number;
  readonly random: SecretRandom;
  readonly log: Log;
  readonly progress?: BackupProgress;
}): Promise<BackupReport> {
  const { url, file, rootKeys, nowMs, random, log, progress } = options;
  const [rootKey] = rootKeys;
  // A backup is of this version's tables, whatever runs on them.
  await migrate({ url, log });
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(
      "set role setpoint_admin; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0",
    );
    await client.query("begin isolation level repeatable read, read only");
    const about = await aboutDatabase(client);
    const header: BackupHeader = {
      format: "setpoint-backup/1",
      createdAtMs: nowMs,
      installationId: about.installationId,
      incarnation: about.incarnation,
      schemaVersion: about.migrations.length,
      salt: Buffer.from(random.bytes(32)).toString("base64"),
      note: rootKeyNote,
    };
    const { migrations, sequences } = about;
    await writeBackupFile(file, {
      header,
      rootKey,
      tables: tablesOf(client, progress),
      about: { migrations, sequences },
    });
    await client.query("commit");
  } finally {
    await client.end().catch(() => undefined);
  }
  return await verifyBackup(file, rootKeys, progress);
}

/** Reads a backup to its end: every chunk, every count, every hash. Writes nothing. */
export function verifyBackup(
  file: string,
  rootKeys: readonly NamedRootKey[],
  progress?: BackupProgress,
): Promise<BackupReport> {
  return readBackupFile(file, rootKeys, async (table, _columns, rows) => {
    progress?.("checking", table);
    const blocks = rows[Symbol.asyncIterator]();
    while ((await blocks.next()).done !== true);
  });
}

async function aboutDatabase(client: pg.Client) {
  const { rows: installations } = await client.query<{ id: string; incarnation: string }>(
    "select id, incarnation from setpoint.installation",
  );
  const { rows: migrations } = await client.query<{ version: number; name: string; checksum: string }>(
    "select version, name, checksum from setpoint.migration order by version",
  );
  const { rows: sequences } = await client.query<{ sequence: string; value: string }>(
    `select sequencename as sequence, last_value as value from pg_sequences
     where schemaname = 'setpoint' and last_value is not null order by sequencename`,
  );
  return {
    installationId: installations[0]?.id ?? "",
    incarnation: Number(installations[0]?.incarnation ?? 1),
    migrations,
    sequences: sequences.map(({ sequence, value }) => ({ sequence, value: Number(value) })),
  };
}

interface CatalogueTable {
  readonly table: string;
  readonly columns: readonly string[];
  readonly refersTo: readonly string[];
}

/** From the catalogue, so that no table can be forgotten. */
async function* tablesOf(client: pg.Client, progress?: BackupProgress): AsyncGenerator<TableSource, void, undefined> {
  const { rows } = await client.query<CatalogueTable>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns,
       array(select t.relname::text from pg_constraint as k join pg_class as t on t.oid = k.confrelid
             where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as "refersTo"
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace and n.nspname = 'setpoint'
     join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind in ('r', 'p') and not c.relispartition
     group by c.oid, c.relname order by c.relname`,
  );
  for (const { table, columns } of inOrder(rows)) {
    if (notKept.has(table)) continue;
    const names = columns.map((column) => pg.escapeIdentifier(column)).join(", ");
    const from = `copy (select ${names} from setpoint.${pg.escapeIdentifier(table)}) to stdout`;
    progress?.("writing", table);
    yield { table, columns, rows: client.query(copyTo(from)) };
  }
}

/** What others refer to comes first, so that a restore can write one table after the other. */
function inOrder(tables: readonly CatalogueTable[]): readonly CatalogueTable[] {
  const placed = new Set<string>();
  const ordered: CatalogueTable[] = [];
  let waiting = [...tables];
  while (waiting.length > 0) {
    const ready = waiting.filter(({ refersTo }) => refersTo.every((other) => placed.has(other)));
    if (ready.length === 0)
      throw new BackupError(`Tables refer to each other in a circle: ${waiting.map(({ table }) => table).join(", ")}`);
    for (const one of ready) placed.add(one.table);
    ordered.push(...ready);
    waiting = waiting.filter(({ table }) => !placed.has(table));
  }
  return ordered;
}
