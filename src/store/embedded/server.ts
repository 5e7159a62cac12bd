import { existsSync } from "node:fs";
import { prepareBinaries } from "./binaries.ts";
import { findBinaryPackage } from "./binary-package.ts";
import { openDataDirectory, requireReadable } from "./data-directory.ts";
import { toDirectoryError } from "./errors.ts";
import { freePort } from "./free-port.ts";
import { initialise, readPassword, writeAccessRules } from "./initdb.ts";
import { claimDirectory } from "./locks.ts";
import { isServing } from "./previous-server.ts";
import { ServerLog } from "./server-log.ts";
import { prepareSocketDirectory, removeSpareSocketDirectory } from "./socket-directory.ts";
import { SOCKET_PORT } from "./socket-url.ts";
import { type ExitListener, Supervisor } from "./supervisor.ts";
import type { WriteLog } from "./write-log.ts";

/** A PostgreSQL server of our own, kept running until it is stopped. */
export interface EmbeddedServer extends AsyncDisposable {
  /** The product's database, as the superuser (for migrations). Stays the same across restarts of the server. */
  readonly url: string;
  /** Where the data really is; differs from the requested directory when root was given one that `nobody` cannot enter. */
  readonly dataDirectory: string;
  readonly port: number;
  readonly socketDirectory: string;
  readonly logFile: string;
  /** This start made the database: there was no data before. */
  readonly startedFresh: boolean;
  /** Resolves when the server takes queries: at once unless it is being restarted. Rejects when it never will again. */
  whenReady(): Promise<void>;
  /** Called after each end of the server that nobody asked for, with the reason and what happens next. */
  onExit(listener: ExitListener): void;
  /** Shuts the server down cleanly and releases the data directory. May be called twice. */
  stop(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /** A directory for this purpose alone: new, empty, or made by an earlier start. */
  readonly dataDirectory: string;
  readonly log: WriteLog;
  /** PostgreSQL settings over the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Listen on a free port of 127.0.0.1 too; otherwise the socket is the only way in. */
  readonly tcp?: boolean;
  /** How long recovery after a crash may take before the start counts as failed. */
  readonly startTimeoutMs?: number;
  /** How often a server that keeps ending is started again, without a minute of calm between, before we give up. */
  readonly restartLimit?: number;
  /** More words for `initdb`, used when the database is made. */
  readonly initdbArguments?: readonly string[];
}

const START_TIMEOUT_MS = 120_000;
/** With the pauses between them about 20 s of trying. */
const RESTART_LIMIT = 8;

/** Starts the server on its data directory, making the database when there is none. Throws an `EmbeddedServerError`. */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { log } = options;
  // First, so that a machine without the programs is told so before anything is written.
  const source = findBinaryPackage();
  const data = openDataDirectory(options.dataDirectory, log);
  const binaries = await prepareBinaries(source, data.user);
  const held = new DisposableStack();
  try {
    const tcp = options.tcp === true;
    const port = tcp ? await freePort() : SOCKET_PORT;
    const socketDirectory = prepareSocketDirectory(data.path, port, data.user);
    held.use(await claimDirectory(data.path, () => isServing(socketDirectory)));
    held.defer(() => removeSpareSocketDirectory(data.path, socketDirectory));

    // Asked again under the claim: two processes may have found the directory empty.
    const startedFresh = !existsSync(data.pgData);
    if (startedFresh) await initialise(data, binaries, options.initdbArguments);
    else requireReadable(data, binaries.majorVersion);

    const supervisor = new Supervisor({
      data,
      binaries,
      settings: { ...options.settings, hba_file: writeAccessRules(data.path) },
      password: readPassword(data.path),
      socketDirectory,
      port,
      tcp,
      serverLog: held.use(new ServerLog(data.path, data.user)),
      held,
      startedFresh,
      startTimeoutMs: options.startTimeoutMs ?? START_TIMEOUT_MS,
      restartLimit: options.restartLimit ?? RESTART_LIMIT,
      log,
    });
    await supervisor.start();
    return supervisor;
  } catch (thrown) {
    held.dispose();
    throw toDirectoryError(data.path, thrown);
  }
}
