import { readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EmbeddedServerError } from "./errors.ts";
import { isPostmasterOf, serverProcessesIn, stateOf } from "./process-table.ts";
import type { WriteLog } from "./write-log.ts";

export interface PreviousServerOptions {
  readonly pgData: string;
  /** Private to this data directory: nothing in it belongs to any other server. */
  readonly socketDirectory: string;
  readonly log: WriteLog;
  /** How long each step may take before the next, harder one. */
  readonly patienceMs?: number;
}

const POLL_MS = 25;
const STRAGGLERS_GRACE_MS = 500;

/**
 * Leaves the data directory without a server, whatever became of the last one. The caller holds the claim, so whoever
 * started that server is gone.
 *
 * PostgreSQL clears its own lock files when the process they name is gone, and then checks that nothing is attached
 * to the old shared memory, so those are left to it. It cannot tell a zombie or a reused process id from a living
 * server and would refuse to start for ever: these locks are cleared here, after looking for living server processes.
 */
export async function settlePreviousServer(options: PreviousServerOptions): Promise<void> {
  const { pgData, socketDirectory, log, patienceMs = 10_000 } = options;
  const lockFile = path.join(pgData, "postmaster.pid");
  const locks = [lockFile, ...socketFilesIn(socketDirectory).map((file) => `${file}.lock`)];
  const pid = locks.map((file) => readLock(file)?.pid).find((found) => found !== undefined);

  if (pid !== undefined && stateOf(pid) === "running" && isPostmasterOf(pid, pgData)) {
    log("embedded-postgres.taking-over", { pid, reason: "the process that started this server is gone" });
    await stopOrphan(pid, pgData, patienceMs);
  } else if (await isServing(socketDirectory)) {
    throw new EmbeddedServerError(
      "DATA_DIRECTORY_IN_USE",
      `A PostgreSQL server that cannot be seen from here (in another container?) serves ${pgData}. Stop it first, or ` +
        "choose another data directory.",
    );
  }
  if (pid !== undefined) await endStragglers(options, patienceMs);
  for (const file of locks) clearStaleLock(file, options);
}

/** True when something accepts connections on a socket of this directory; needs no password and no process id. */
export async function isServing(socketDirectory: string): Promise<boolean> {
  const answers = await Promise.all(socketFilesIn(socketDirectory).map(accepts));
  return answers.includes(true);
}

/** There may be several: with TCP each start takes another port, and a killed server leaves its socket behind. */
function socketFilesIn(socketDirectory: string): readonly string[] {
  const names = readdirSync(socketDirectory).map((name) => /^\.s\.PGSQL\.\d+/.exec(name)?.[0] ?? "");
  return [...new Set(names)].filter((name) => name !== "").map((name) => path.join(socketDirectory, name));
}

function accepts(socketFile: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ path: socketFile });
  socket.once("connect", () => {
    socket.destroy();
    resolve(true);
  });
  socket.once("error", () => resolve(false));
  return promise;
}

/** Fast shutdown, then an immediate one, then no questions: the write-ahead log makes all three safe for the data. */
async function stopOrphan(pid: number, pgData: string, patienceMs: number): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    send(pid, signal);
    if (await becomesTrue(() => stateOf(pid) !== "running", patienceMs)) return;
  }
  throw new EmbeddedServerError(
    "PREVIOUS_SERVER_STUCK",
    `The PostgreSQL server with process id ${pid} still runs in ${pgData} and does not stop. See what holds it ` +
      `(\`ps -p ${pid}\`; a disk that does not answer?), end it, then start again.`,
  );
}

/** Children of a killed postmaster notice its death when they next wait, which a long query delays past any limit. */
async function endStragglers({ pgData, log }: PreviousServerOptions, patienceMs: number): Promise<void> {
  const gone = () => serverProcessesIn(pgData).length === 0;
  if (await becomesTrue(gone, STRAGGLERS_GRACE_MS)) return;
  for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
    const stragglers = serverProcessesIn(pgData);
    log("embedded-postgres.ending-stragglers", { pids: stragglers, signal });
    for (const pid of stragglers) send(pid, signal);
    if (await becomesTrue(gone, patienceMs)) return;
  }
  throw new EmbeddedServerError(
    "PREVIOUS_SERVER_STUCK",
    `Processes ${serverProcessesIn(pgData).join(", ")} of an earlier PostgreSQL server still work in ${pgData} and do not ` +
      "stop. End them, then start again.",
  );
}

/** A lock that names a process which is gone stays: PostgreSQL clears it, with checks of its own. */
function clearStaleLock(file: string, { log }: PreviousServerOptions): void {
  const lock = readLock(file);
  if (lock === undefined || (lock.pid !== undefined && stateOf(lock.pid) === "gone")) return;
  const reason = lock.pid === undefined ? "it names no process (a torn write)" : "that process is not this server";
  log("embedded-postgres.stale-lock-cleared", { file, pid: lock.pid, reason });
  rmSync(file, { force: true });
}

/** The first line of PostgreSQL's lock files is a process id, negative for a single-user session. */
function readLock(file: string): { readonly pid: number | undefined } | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  const pid = Math.abs(Number.parseInt(text, 10));
  return { pid: Number.isSafeInteger(pid) && pid > 0 ? pid : undefined };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between looking and asking, which is what we wanted.
  }
}

async function becomesTrue(condition: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await wait(POLL_MS);
  }
  return true;
}
