import { explainFailure } from "./compose/explain-failure.ts";
import { StartError } from "./compose/start-error.ts";
import { realWorld } from "./compose/world.ts";
import { type Config, parseConfig } from "./config.ts";

/** The composition root: one program, one role per process. Each role loads only what it needs, so that it starts quickly. */
async function main(role: string | undefined): Promise<number> {
  const config = parseConfig(process.env);
  const world = realWorld();
  switch (role) {
    case "dev": {
      const { runDev } = await import("./compose/supervisor.ts");
      return await runDev(config, process.env, world);
    }
    case "api": {
      const { runApi } = await import("./compose/api-role.ts");
      return await runApi(withDatabase(config, role), world);
    }
    case "scheduler": {
      const { runScheduler } = await import("./compose/scheduler-role.ts");
      return await runScheduler(withDatabase(config, role), process.env, world);
    }
    case "worker": {
      const { runWorker } = await import("./compose/worker-role.ts");
      return await runWorker(withDatabase(config, role), process.env, world);
    }
    case "demo": {
      const { runDemo } = await import("./compose/demo-role.ts");
      return await runDemo(withDatabase(config, role), world);
    }
    case "migrate": {
      const { runMigrate } = await import("./compose/migrate-role.ts");
      return await runMigrate(withDatabase(config, role));
    }
    case "restored": {
      const { runRestored } = await import("./compose/restore.ts");
      return await runRestored(withDatabase(config, role), world);
    }
    case "world": {
      const { runWorld } = await import("./compose/world-role.ts");
      return await runWorld(process.argv[3], world);
    }
    case "backup-create":
    case "backup-verify":
    case "backup-restore": {
      const { runBackup } = await import("./compose/backup-role.ts");
      return await runBackup(role, process.argv[3], { config, world });
    }
    default:
      throw new StartError(`There is no role "${role ?? ""}". Roles: dev, api, scheduler, worker, migrate, restored`);
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
