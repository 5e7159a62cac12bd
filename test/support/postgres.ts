import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmSync, statfsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, escapeIdentifier } from "pg";
import { findBinaryPackage } from "../../src/store/embedded/binary-package.ts";
import { stateOf } from "../../src/store/embedded/process-table.ts";
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from "../../src/store/embedded/server.ts";

/** A server of its own for one test file, gone with its data when the file ends. */
export interface TestServer extends AsyncDisposable {
  readonly server: EmbeddedServer;
  /** The server's first database, as the superuser. */
  readonly url: string;
  /** Makes a database and returns its URL. A template (one that is migrated, say) must have no open connections. */
  createDatabase(options?: { readonly name?: string; readonly template?: string }): Promise<string>;
}

/** A folder that goes away with everything in it. */
export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

/** Data that is thrown away anyway need not survive a power cut. A killed server still loses nothing. */
export const QUICK_SETTINGS: Readonly<Record<string, string>> = {
  fsync: "off",
  full_page_writes: "off",
  shared_buffers: "32MB",
};
const FOLDER_PREFIX = "setpoint-test-";
const QUICK_INITDB: readonly string[] = ["--no-sync", "--wal-segsize=1"];

/** `await using db = await startTestServer()`: about a third of a second, because initdb runs once per machine. */
export async function startTestServer(options: Partial<EmbeddedServerOptions> = {}): Promise<TestServer> {
  await using undo = new AsyncDisposableStack();
  const folder = undo.use(temporaryFolder());
  const dataDirectory = await copyOfTemplate(folder.path);
  const settings = { ...QUICK_SETTINGS, ...options.settings };
  const server = undo.use(await startEmbeddedServer({ log: () => undefined, ...options, dataDirectory, settings }));
  const owned = undo.move();
  return {
    server,
    url: server.url,
    createDatabase: (wanted) => createDatabase(server.url, wanted),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A folder the run user can enter, also when the tests run as root and the server as `nobody`. */
export function temporaryFolder(): TemporaryFolder {
  const root = temporaryRoot();
  sweepLeftovers(root);
  const folder = mkdtempSync(path.join(root, `${FOLDER_PREFIX}${process.pid}-`));
  chmodSync(folder, 0o711);
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * In memory, where Linux offers enough of it: ext4 takes up to ten times as long to make a thousand files right after
 * as many were deleted, which is what one test after the other does. `TMPDIR` decides otherwise.
 */
function temporaryRoot(): string {
  if (process.env["TMPDIR"] !== undefined || !existsSync("/dev/shm")) return os.tmpdir();
  const { bavail, bsize } = statfsSync("/dev/shm");
  return bavail * bsize > 2 ** 30 ? "/dev/shm" : os.tmpdir();
}

/** Folders of test processes that were killed before they could clean up. */
function sweepLeftovers(root: string): void {
  for (const name of readdirSync(root)) {
    const pid = name.startsWith(FOLDER_PREFIX) ? name.split("-")[2] : undefined;
    if (pid === undefined || stateOf(Number(pid)) === "running") continue;
    // Another user's are not ours to remove.
    const folder = path.join(root, name);
    if (lstatSync(folder, { throwIfNoEntry: false })?.uid === process.geteuid?.())
      rmSync(folder, { recursive: true, force: true });
  }
}

/** A data directory of a server that was made and stopped cleanly, copied into `folder`. */
export async function copyOfTemplate(folder: string): Promise<string> {
  const template = await ensureTemplate();
  const target = path.join(folder, "data");
  // Not `fs.cp`: it takes three times as long and does not keep the owner.
  const { status, stderr } = spawnSync("cp", ["-a", template, target], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Copying ${template} failed: ${stderr}`);
  return target;
}

/** The URL of another database, or of another role, of the same server. */
export function withUrl(url: string, change: { database?: string; user?: string; password?: string }): string {
  const changed = new URL(url);
  if (change.database !== undefined) changed.pathname = `/${change.database}`;
  if (change.user !== undefined) changed.username = change.user;
  if (change.password !== undefined) changed.password = change.password;
  return changed.href;
}

/** Runs one statement on a connection of its own and returns its rows. */
export async function query<Row>(url: string, text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  const client = new Client(url);
  // A server that is killed under the query fails the query; the event says it a second time.
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query(text, [...values]);
    return rows as Row[];
  } finally {
    await client.end();
  }
}

async function createDatabase(
  url: string,
  { name = `test_${randomBytes(6).toString("hex")}`, template = "template1" } = {},
): Promise<string> {
  const statement = `create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`;
  await query(withUrl(url, { database: "postgres" }), statement);
  return withUrl(url, { database: name });
}

/** Made once per machine, user and version of the programs, and renamed into place when it is whole. */
async function ensureTemplate(): Promise<string> {
  const { version } = findBinaryPackage();
  const uid = process.geteuid?.() ?? 0;
  const template = path.join(temporaryRoot(), `setpoint-template-${uid}-${version}`);
  if (existsSync(template)) return requireOwn(template, uid);

  using folder = temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  const server = await startEmbeddedServer({
    dataDirectory,
    log: () => undefined,
    settings: QUICK_SETTINGS,
    initdbArguments: QUICK_INITDB,
  });
  await server.stop();
  try {
    renameSync(dataDirectory, template);
  } catch (thrown) {
    // Another test file was quicker.
    if (!existsSync(template)) throw thrown;
  }
  return requireOwn(template, uid);
}

function requireOwn(template: string, uid: number): string {
  const found = lstatSync(template);
  if (found.isDirectory() && found.uid === uid) return template;
  throw new Error(`${template} should be a folder of user ${uid}. Remove it and run the tests again.`);
}
