import { startApiRole } from "./compose/api-role.ts";
import { explainFailure } from "./compose/explain-failure.ts";
import { runRoleProcess } from "./compose/role-process.ts";
import { startSchedulerRole } from "./compose/scheduler-role.ts";
import { StartError } from "./compose/start-error.ts";
import { runDev } from "./compose/supervisor.ts";
import { realWorld } from "./compose/world.ts";
import { type Config, parseConfig } from "./config.ts";
import { createJsonLog } from "./runtime/json-log.ts";
import { migrate } from "./store/migrate.ts";

/** The composition root: one program, one role per process. */
async function main(role: string | undefined): Promise<number> {
  const config = parseConfig(process.env);
  const world = realWorld();
  switch (role) {
    case "dev":
      return await runDev(config, process.env, world);
    case "api":
      return await runRoleProcess("api", {
        level: config.logLevel,
        world,
        start: (host) => startApiRole(withDatabase(config, "api"), world, host),
      });
    case "scheduler":
      return await runRoleProcess("scheduler", {
        level: config.logLevel,
        world,
        start: (host) => startSchedulerRole(withDatabase(config, "scheduler"), process.env, world, host),
      });
    case "migrate": {
      const log = createJsonLog({
        level: config.logLevel,
        base: { role: "migrate" },
        write: (line) => void process.stderr.write(line),
      });
      const { version, applied } = await migrate({ url: withDatabase(config, "migrate").databaseUrl, log });
      process.stdout.write(`the database is at version ${version}; ${applied} migrations were applied\n`);
      return 0;
    }
    default:
      throw new StartError(`There is no role "${role ?? ""}". Roles: dev, api, scheduler, migrate`);
  }
}

function withDatabase(config: Config, role: string): Config & { readonly databaseUrl: string } {
  const { databaseUrl } = config;
  if (databaseUrl !== undefined) return { ...config, databaseUrl };
  throw new StartError(
    `"${role}" needs DATABASE_URL, the PostgreSQL that all roles share. "dev" brings one of its own.`,
  );
}

/** Everything was stopped and given back; a channel or a socket that is still open must not keep the process. */
function end(code: number): void {
  process.stdout.write("", () => process.exit(code));
}

try {
  end(await main(process.argv[2]));
} catch (thrown) {
  process.stderr.write(`setpoint: ${explainFailure(thrown)}\n`);
  if (process.argv.includes("--debug") && thrown instanceof Error) process.stderr.write(`${thrown.stack ?? ""}\n`);
  end(1);
}
