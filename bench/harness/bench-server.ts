import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client } from "pg";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/store/embedded/server.ts";
import type { WriteLog } from "../../src/store/embedded/write-log.ts";

/** The magic number of a file system in memory: there, a flush to disk costs nothing and would flatter everybody. */
const TMPFS_MAGIC = 0x01021994;

/** Only while data is being made: nothing is measured then, and a lost database is simply made again. */
const SEEDING_SETTINGS: Readonly<Record<string, string>> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "8GB",
  checkpoint_timeout: "1h",
  autovacuum: "off",
  maintenance_work_mem: "256MB",
  shared_buffers: "1GB",
};

export interface BenchServer {
  readonly url: string;
  readonly postmasterPid: number;
}

/** A folder on a disk, removed with everything in it. */
export function benchFolder(cleanup: AsyncDisposableStack): string {
  const inMemory = statfsSync(os.tmpdir()).type === TMPFS_MAGIC;
  const folder = mkdtempSync(path.join(inMemory ? "/var/tmp" : os.tmpdir(), `setpoint-bench-${process.pid}-`));
  chmodSync(folder, 0o711);
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * The embedded server as the product runs it: fsync and synchronous_commit on, its own settings. The data is made
 * first, by a server on the same directory with durability off, and flushed when that one stops.
 */
export async function startSeededServer(
  cleanup: AsyncDisposableStack,
  seed: (url: string) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const dataDirectory = path.join(benchFolder(cleanup), "data");
  const seeding = await start(cleanup, dataDirectory, SEEDING_SETTINGS);
  await seed(seeding.url);
  await seeding.stop();
  // Else the disk would still be writing the data out while the first figures are taken.
  spawnSync("sync", ["-f", dataDirectory]);
  const server = await start(cleanup, dataDirectory, settings);
  await requireDurable(server.url);
  return server;
}

async function start(
  cleanup: AsyncDisposableStack,
  dataDirectory: string,
  settings: Readonly<Record<string, string>>,
): Promise<BenchServer & Pick<EmbeddedServer, "stop">> {
  let postmasterPid: unknown;
  const log: WriteLog = (event, fields) => {
    if (event === "embedded-postgres.ready") postmasterPid = fields?.["pid"];
  };
  const server = await startEmbeddedServer({ dataDirectory, settings, log });
  cleanup.defer(() => server.stop());
  if (typeof postmasterPid !== "number") throw new Error("The embedded server started without naming its process");
  return { url: server.url, postmasterPid, stop: () => server.stop() };
}

async function requireDurable(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')",
    );
    const off = rows.filter((row) => row.setting !== "on").map((row) => row.name);
    if (off.length > 0) throw new Error(`The measured server must be durable, but these are not on: ${off.join(", ")}`);
  } finally {
    await client.end();
  }
}
