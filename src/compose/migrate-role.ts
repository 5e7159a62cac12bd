import type { Config } from "../config.ts";
import { createJsonLog } from "../runtime/json-log.ts";
import { migrate } from "../store/migrate.ts";

/** Brings the database to this version and ends: for those who want to do that apart from starting. */
export async function runMigrate(config: Config & { readonly databaseUrl: string }): Promise<number> {
  const write = (line: string) => void process.stderr.write(line);
  const log = createJsonLog({ level: config.logLevel, base: { role: "migrate" }, write });
  const { version, applied } = await migrate({ url: config.databaseUrl, log });
  process.stdout.write(`the database is at version ${version}; ${applied} migrations were applied\n`);
  return 0;
}
