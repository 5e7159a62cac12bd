import { hostname } from "node:os";
import { Registry } from "@prometheus-io/client";
import type { Config, Environment } from "../config.ts";
import { PostgresSignalListener } from "../fabric/postgres-signals.ts";
import type { Engine } from "../kernel/claim.ts";
import { runCycle } from "../kernel/cycle.ts";
import type { Signal } from "../ports/signal.ts";
import { prometheusMetrics } from "../scheduler/prometheus-metrics.ts";
import { startScheduler } from "../scheduler/scheduler.ts";
import { PostgresOperationIntents } from "../store/operation-intents.ts";
import { composeChildren } from "./children.ts";
import { CycleSpans } from "./cycle-spans.ts";
import { composeEngine } from "./engine.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { installedKinds } from "./installed-kinds.ts";
import { processMetrics } from "./metrics-text.ts";
import { startRoleListener } from "./role-listener.ts";
import { type RoleHost, type RunningRole, runRoleProcess } from "./role-process.ts";
import { openDatabases } from "./stores.ts";
import { composeTracing } from "./tracing.ts";
import type { World } from "./world.ts";

export function runScheduler(
  config: Config & { readonly databaseUrl: string },
  environment: Environment,
  world: World,
): Promise<number> {
  return runRoleProcess("scheduler", { config, world, start: (host) => start(config, environment, world, host) });
}

/** A scheduler in a process of its own: beside workers the only one that opens providers and reads credentials. */
async function start(
  config: Config & { readonly databaseUrl: string },
  environment: Environment,
  world: World,
  host: RoleHost,
): Promise<RunningRole> {
  const { log } = host;
  const { clock } = world;
  const kinds = await installedKinds({ modules: config.kindModules, dataDirectory: config.dataDirectory });
  await using undo = new AsyncDisposableStack();
  const { databases, end } = openDatabases(config.databaseUrl, log, {
    setpoint_engine: 8,
    setpoint_api: 2,
    setpoint_admin: 1,
  });
  undo.defer(end);
  undo.use(
    startHousekeeping({ administration: databases.setpoint_admin, clock, log, retention: true, appends: false }),
  );
  const tracer = composeTracing(config, { role: "scheduler", version: world.version, log }, undo);
  const cycles = tracer === undefined ? undefined : new CycleSpans(tracer);
  const declaring = composeChildren({ databases, kinds, clock, ids: world.ids });
  const composed = composeEngine({ config, environment, world, log, kinds, databases, tracer, cycles }, undo);
  const starting = new PostgresOperationIntents({ database: databases.setpoint_api, clock });
  const engine: Engine = { ...composed, declaring, starting };
  const registry = new Registry();
  const metrics = processMetrics("scheduler", registry);
  const scheduler = startScheduler(engine, {
    holder: `${hostname()}/${process.pid}`,
    metrics: prometheusMetrics(registry, [...kinds.keys()]),
    run: cycles?.around(runCycle),
  });
  undo.defer(() => scheduler.drain());
  const heard = (signal: Signal | "perhaps") => (signal === "perhaps" ? scheduler.poke() : scheduler.hear(signal));
  undo.use(new PostgresSignalListener({ url: config.databaseUrl, clock, log, heard }));
  if (config.schedulerPort !== undefined) undo.use(await startRoleListener(config.schedulerPort, metrics));
  const running = undo.move();
  return { detail: "leases shards and runs cycles", metrics, stop: () => running.disposeAsync() };
}
