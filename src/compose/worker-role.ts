import { hostname } from "node:os";
import { Registry } from "@prometheus-io/client";
import type { Config, Environment } from "../config.ts";
import { PostgresSignalListener } from "../fabric/postgres-signals.ts";
import type { OperationEngine } from "../kernel/operation-scene.ts";
import { PostgresOperationStore } from "../store/operation-store.ts";
import { WorkerPresence } from "../store/worker-presence.ts";
import { prometheusWorkerMetrics } from "../worker/prometheus-metrics.ts";
import { startWorker } from "../worker/worker.ts";
import { composeEngine } from "./engine.ts";
import { installedKinds } from "./installed-kinds.ts";
import { processMetrics } from "./metrics-text.ts";
import { startRoleListener } from "./role-listener.ts";
import { type RoleHost, type RunningRole, runRoleProcess } from "./role-process.ts";
import { openDatabases } from "./stores.ts";
import { composeTracing } from "./tracing.ts";
import type { World } from "./world.ts";

export function runWorker(
  config: Config & { readonly databaseUrl: string },
  environment: Environment,
  world: World,
): Promise<number> {
  return runRoleProcess("worker", { config, world, start: (host) => start(config, environment, world, host) });
}

/** Long enough for everybody who has a turn at a slow account; a turn may take four times as long. */
const CALL_PATIENCE_MS = 30_000;

/** A worker in a process of its own: it opens providers and reads credentials like a scheduler does. */
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
  const { databases, end } = openDatabases(config.databaseUrl, log, { setpoint_engine: 8, setpoint_admin: 1 });
  undo.defer(end);
  const tracer = composeTracing(config, { role: "worker", version: world.version, log }, undo);
  const composed = composeEngine(
    { config, environment, world, log, kinds, databases, tracer, callPatienceMs: CALL_PATIENCE_MS },
    undo,
  );
  const presence = undo.use(new WorkerPresence({ url: config.databaseUrl, clock, log }));
  const operations = new PostgresOperationStore({
    database: databases.setpoint_engine,
    clock,
    presence: () => presence.number,
  });
  const engine: OperationEngine = { ...composed, operations };
  const registry = new Registry();
  const metrics = processMetrics("worker", registry);
  const worker = startWorker(engine, {
    holder: `${hostname()}/${process.pid}`,
    metrics: prometheusWorkerMetrics(registry),
  });
  undo.defer(() => worker.drain());
  // A signal names what became due for the loops; an operation that was started with it is due as well.
  undo.use(new PostgresSignalListener({ url: config.databaseUrl, clock, log, heard: () => worker.poke() }));
  if (config.workerPort !== undefined) undo.use(await startRoleListener(config.workerPort, metrics));
  const running = undo.move();
  return { detail: "leases operations and runs their steps", metrics, stop: () => running.disposeAsync() };
}
