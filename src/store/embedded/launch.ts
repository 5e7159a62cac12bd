import { type Client, type ClientConfig, escapeIdentifier } from "pg";
import { thrownMessage } from "../../kernel/errors.ts";
import type { Binaries } from "./binaries.ts";
import type { DataDirectory } from "./data-directory.ts";
import { diskFullError, EmbeddedServerError, USE_EXTERNAL_SERVER } from "./errors.ts";
import { SUPERUSER } from "./initdb.ts";
import { settlePreviousServer } from "./previous-server.ts";
import { type Postmaster, startPostmaster } from "./process.ts";
import { connectWhenReady } from "./readiness.ts";
import { complaintsIn, type ServerLog } from "./server-log.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import type { WriteLog } from "./write-log.ts";

/** The product's database; `postgres` stays free for maintenance. */
export const DATABASE = "setpoint";

export interface LaunchOptions {
  readonly data: DataDirectory;
  readonly binaries: Binaries;
  readonly settings: Readonly<Record<string, string>>;
  readonly password: string;
  readonly socketDirectory: string;
  readonly port: number;
  readonly tcp: boolean;
  readonly serverLog: ServerLog;
  readonly startTimeoutMs: number;
  readonly log: WriteLog;
}

/** Starts the server once and returns when it takes queries. Leaves no process behind when it fails. */
export async function launch(options: LaunchOptions, stopping: AbortSignal): Promise<Postmaster> {
  const { data, binaries, socketDirectory, serverLog, log } = options;
  await settlePreviousServer({ pgData: data.pgData, socketDirectory, log });
  const saidBefore = serverLog.sizeBytes();
  const settings = allSettings(options);
  const postmaster = await startPostmaster({ binaries, data, settings, logDescriptor: serverLog.descriptor });
  const gone = new AbortController();
  void postmaster.ended.then((how) => gone.abort(how));
  const timeout = AbortSignal.timeout(options.startTimeoutMs);
  try {
    const client = await connectWhenReady(
      maintenanceConnection(options),
      AbortSignal.any([gone.signal, timeout, stopping]),
    );
    await ensureDatabase(client);
    await client.end();
    return postmaster;
  } catch (thrown) {
    const end = gone.signal.aborted ? String(gone.signal.reason) : undefined;
    await postmaster.stop();
    stopping.throwIfAborted();
    if (timeout.aborted) throw timedOut(options);
    throw startFailed(options, { said: serverLog.readSince(saidBefore), end, thrown });
  }
}

function allSettings({ settings, socketDirectory, port, tcp }: LaunchOptions): Readonly<Record<string, string>> {
  return {
    ...DEFAULT_SETTINGS,
    ...settings,
    port: String(port),
    listen_addresses: tcp ? "127.0.0.1" : "",
    // A list of paths, in which blanks and commas need quotes.
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
  };
}

function maintenanceConnection({ socketDirectory, port, password }: LaunchOptions): ClientConfig {
  return { host: socketDirectory, port, user: SUPERUSER, password, database: "postgres", ssl: false };
}

/** Asked at every start: the first one may have been killed between making the server's data and this database. */
async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [DATABASE]);
  if (rowCount === 0) await client.query(`create database ${escapeIdentifier(DATABASE)}`);
}

interface Failure {
  readonly said: string;
  readonly end: string | undefined;
  readonly thrown: unknown;
}

function startFailed(options: LaunchOptions, { said, end, thrown }: Failure): EmbeddedServerError {
  const { data, serverLog } = options;
  if (/No space left on device|Disk quota exceeded/.test(`${said}\n${thrownMessage(thrown)}`))
    return diskFullError(data.path);
  const why = end === undefined ? `${thrownMessage(thrown)}.` : `it ended with ${end}: ${complaintsIn(said)}`;
  return new EmbeddedServerError(
    "START_FAILED",
    `The embedded PostgreSQL on ${data.path} did not start; ${why} Its log is ${serverLog.file}. Correct that and start ` +
      `again, ${USE_EXTERNAL_SERVER}.`,
    end === undefined ? { cause: thrown } : undefined,
  );
}

function timedOut({ data, serverLog, startTimeoutMs }: LaunchOptions): EmbeddedServerError {
  return new EmbeddedServerError(
    "START_TIMED_OUT",
    `The embedded PostgreSQL on ${data.path} took no queries within ${startTimeoutMs / 1000} s. Its log ${serverLog.file} ` +
      "says what it was doing (a long recovery after a crash, a slow disk?). The data is untouched; start again.",
  );
}
