import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Log } from "../ports/log.ts";
import { createJsonLog } from "../runtime/json-log.ts";
import { PostgresIntentStore } from "../store/intent-store.ts";
import { openDatabases } from "./stores.ts";
import type { World } from "./world.ts";

/** Says that this database was restored: a new incarnation, which every account must be given back to by one approval. */
async function markRestored(options: {
  readonly url: string;
  readonly world: World;
  readonly log: Log;
}): Promise<number> {
  const { databases, end } = openDatabases(options.url, options.log, { setpoint_api: 1, setpoint_admin: 1 });
  try {
    const stores = { database: databases.setpoint_api, administration: databases.setpoint_admin };
    return await new PostgresIntentStore({ ...stores, ids: options.world.ids }).markRestored();
  } finally {
    await end();
  }
}

/** The role for an external database, to be run after a restore and before anything else. */
export async function runRestored(config: Config & { readonly databaseUrl: string }, world: World): Promise<number> {
  const write = (line: string) => void process.stderr.write(line);
  const log = createJsonLog({ level: config.logLevel, base: { role: "restored" }, write });
  const incarnation = await markRestored({ url: config.databaseUrl, world, log });
  process.stdout.write(
    `this is incarnation ${incarnation} now; every account waits for one approval before anything is written there\n`,
  );
  return 0;
}

/** Where the identity of the database's folder is remembered. */
export function folderFileOf(dataDirectory: string): string {
  return join(dataDirectory, "database-folder");
}

/** Stays the same when a folder is moved; a copy has another one. */
export function folderIdOf(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  return `${dev}:${ino}`;
}

/**
 * An embedded database remembers the folder it lives in. A copy or a restored backup is another folder under the same name, and
 * is older than the world it would act on: it starts as a new incarnation. Moving the folder keeps it the same one.
 */
export async function noticeRestore(
  config: Config,
  database: { readonly url: string; readonly where: string; readonly fresh: boolean },
  about: { readonly world: World; readonly log: Log },
): Promise<boolean> {
  const file = folderFileOf(config.dataDirectory);
  const folder = folderIdOf(database.where);
  const known = existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  if (known === folder) return false;
  const restored = !database.fresh;
  // Marked before the folder is remembered: a crash in between marks it twice, which costs nothing but another approval.
  if (restored) {
    const incarnation = await markRestored({ url: database.url, ...about });
    about.log.warn("supervisor.restored", { folder, known, incarnation });
  }
  writeFileSync(file, `${folder}\n`);
  return restored;
}
