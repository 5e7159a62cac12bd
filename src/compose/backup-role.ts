import { existsSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config.ts";
import { isoTime } from "../kernel/iso-time.ts";
import type { Log } from "../ports/log.ts";
import { systemSecretRandom } from "../runtime/system-secret-random.ts";
import { rootKeyIdOf } from "../runtime/root-key-box.ts";
import { createJsonLog } from "../runtime/json-log.ts";
import { type BackupProgress, type BackupReport, createBackup, verifyBackup } from "../store/backup/dump.ts";
import { type RestoreReport, restoreBackup } from "../store/backup/load.ts";
import { rootKeyNote } from "../store/backup/manifest.ts";
import type { NamedRootKey } from "../store/backup/root-keys.ts";
import { runningServerUrl } from "../store/embedded/running-server.ts";
import { startEmbeddedServer } from "../store/embedded/server.ts";
import { folderFileOf, folderIdOf } from "./restore.ts";
import { rootKeyFileOf, rootKeys } from "./root-key.ts";
import { StartError } from "./start-error.ts";
import type { World } from "./world.ts";

export type BackupRole = "backup-create" | "backup-verify" | "backup-restore";

/** Backups are made and put back beside the database, by whoever has the root key: never through the API. */
export async function runBackup(
  role: BackupRole,
  file: string | undefined,
  about: { readonly config: Config; readonly world: World },
): Promise<number> {
  if (file === undefined) throw new StartError(`"${role}" needs the name of a file`);
  const { config, world } = about;
  const log = createJsonLog({
    level: "warn",
    base: { role },
    write: (line) => void process.stderr.write(line),
  });
  const path = resolve(file);
  const keys = requireRootKeys(config);
  process.stdout.write(await reportOf(role, config, { log, world, path, keys }));
  return 0;
}

async function reportOf(
  role: BackupRole,
  config: Config,
  about: Omit<Work, "progress"> & { readonly world: World },
): Promise<string> {
  // Gone again before the report is written.
  using line = progressLine();
  const work = { ...about, progress: line.show };
  switch (role) {
    case "backup-create":
      return created(work.path, await create(config, work));
    case "backup-verify":
      return `${work.path} is whole.\n${told(await verifyBackup(work.path, work.keys, line.show), work.keys)}`;
    case "backup-restore":
      return restored(await restore(config, work), work.keys);
  }
}

/** One line that says what is under way, for whoever watches a terminal; nothing in a log or a pipe. */
function progressLine(): Disposable & { readonly show: BackupProgress } {
  const write = (text: string) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
  };
  return { show: (doing, table) => write(`${doing} ${table}`), [Symbol.dispose]: () => write("") };
}

/** Never made here: a new key opens nothing that exists. */
function requireRootKeys(config: Config): RootKeys {
  if (config.rootKey === undefined && !existsSync(rootKeyFileOf(config.dataDirectory))) {
    throw new StartError(
      `There is no root key: put the installation's root.key into ${config.dataDirectory}, or set SETPOINT_ROOT_KEY. Without it a backup can neither be made nor read.`,
    );
  }
  const [current, ...older] = rootKeys(config).map((key) => ({ id: rootKeyIdOf(key), key: Buffer.from(key) }));
  if (current === undefined) throw new StartError("There is no root key. Set SETPOINT_ROOT_KEY");
  return [current, ...older];
}

/** The current one, and those from before a rotation: older backups are under them. */
type RootKeys = readonly [NamedRootKey, ...NamedRootKey[]];

interface Work {
  readonly log: Log;
  readonly path: string;
  readonly keys: RootKeys;
  readonly progress: BackupProgress;
}

async function create(config: Config, { log, world, path, keys, progress }: Work & { readonly world: World }) {
  await using undo = new AsyncDisposableStack();
  const folder = join(config.dataDirectory, "postgres");
  const url =
    config.databaseUrl ??
    (await runningServerUrl(folder)) ??
    undo.use(await startEmbeddedServer({ dataDirectory: existing(folder), log: () => undefined })).url;
  return await createBackup({
    url,
    file: path,
    rootKeys: keys,
    nowMs: world.clock.nowMs(),
    random: systemSecretRandom,
    log,
    progress,
  });
}

function existing(folder: string): string {
  if (existsSync(folder)) return folder;
  throw new StartError(`There is no database in ${folder}. Set SETPOINT_DATA or DATABASE_URL to the one to back up.`);
}

async function restore(config: Config, { log, path, keys, progress }: Work): Promise<RestoreReport> {
  await using undo = new AsyncDisposableStack();
  if (config.databaseUrl !== undefined)
    return await restoreBackup({ url: config.databaseUrl, file: path, rootKeys: keys, log, progress });
  const folder = join(config.dataDirectory, "postgres");
  if ((await runningServerUrl(folder)) !== undefined)
    throw new StartError(`Setpoint is running on ${config.dataDirectory}. Stop it, and restore into a new directory.`);
  const server = undo.use(await startEmbeddedServer({ dataDirectory: folder, log: () => undefined }));
  const report = await restoreBackup({ url: server.url, file: path, rootKeys: keys, log, progress });
  // The next start would take the folder for a copy and count the incarnation once more.
  writeFileSync(folderFileOf(config.dataDirectory), `${folderIdOf(server.dataDirectory)}\n`);
  return report;
}

function created(path: string, report: BackupReport): string {
  return `${path}: ${Math.ceil(statSync(path).size / 1024)} KiB\n${contents(report)}${rootKeyNote}\n`;
}

function contents({ header, manifest }: BackupReport): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const when = isoTime(header.createdAtMs);
  return `installation ${header.installationId}, incarnation ${header.incarnation}, made ${when}: ${manifest.tables.length} tables, ${rows} rows, schema ${header.schemaVersion}\n`;
}

/** A backup from before a rotation says so: whoever takes the old key away loses it. */
function told(report: BackupReport, [current]: RootKeys): string {
  const { rootKeyId } = report.header;
  if (rootKeyId === undefined || rootKeyId === current.id) return contents(report);
  return `${contents(report)}It was made under the root key ${rootKeyId}, which is no longer the current one (${current.id}): keep both.\n`;
}

function restored(report: RestoreReport, keys: RootKeys): string {
  const { incarnation, ended, memberships } = report.quarantined;
  const endings = Object.entries(ended).map(([what, count]) => `${count} ${what}`);
  return [
    told(report, keys).trimEnd(),
    `This is incarnation ${incarnation} now: frozen, and observing only. Ended: ${endings.join(", ")}.`,
    memberships.length === 0
      ? "It has no memberships."
      : "Nobody is a member before you say so. These were, when the backup was made:",
    ...memberships.map(({ organization, person, roles }) => `  ${organization}  ${person}  ${roles}`),
    "Next: start it, sign in with `setpoint auth link`, confirm members with `setpoint member confirm`, look at what is there,",
    "approve one held change per account, then `setpoint mode platform enforce` and `setpoint resume`.",
    "",
  ].join("\n");
}
