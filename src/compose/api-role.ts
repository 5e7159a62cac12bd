import { Registry } from "@prometheus-io/client";
import type { Config } from "../config.ts";
import { createApp } from "../control-api/app.ts";
import type { ApiContext, ServiceState } from "../control-api/context.ts";
import { defaultRequestLimits } from "../control-api/limits/request-limits.ts";
import { organizationIdOf } from "../control-api/names.ts";
import { PostgresSignalSender } from "../fabric/postgres-signals.ts";
import { signalOf } from "../fabric/signal-text.ts";
import type { DueEdge } from "../ports/signal.ts";
import { RootKeyBox } from "../runtime/root-key-box.ts";
import { createSmtpMailer } from "../runtime/smtp-mailer.ts";
import { systemSecretRandom } from "../runtime/system-secret-random.ts";
import { StoreError } from "../store/errors.ts";
import { composeContext, type StoredContext } from "./api-context.ts";
import { readConsole } from "./console-files.ts";
import { demoOf } from "./demo/demo.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { installedKinds } from "./installed-kinds.ts";
import { mergeMetrics, processMetrics } from "./metrics-text.ts";
import { registerPlatformMetrics } from "./platform-metrics.ts";
import { listenAddress, portError } from "./port-error.ts";
import { type RoleHost, type RunningRole, runRoleProcess } from "./role-process.ts";
import { rootKeys } from "./root-key.ts";
import { composeNotifying } from "./notify.ts";
import { openDatabases } from "./stores.ts";
import { composeTracing } from "./tracing.ts";
import { readToken } from "./token-file.ts";
import type { World } from "./world.ts";

const defaultOrganization = "default";

export function runApi(config: Config & { readonly databaseUrl: string }, world: World): Promise<number> {
  return runRoleProcess("api", { config, world, start: (host) => startApi(config, world, host) });
}

/** The Control API in a process of its own. It is given no provider and no credential. */
async function startApi(
  config: Config & { readonly databaseUrl: string },
  world: World,
  host: RoleHost,
): Promise<RunningRole> {
  const { log } = host;
  const { clock, ids, random, version } = world;
  const kinds = await installedKinds({ modules: config.kindModules, dataDirectory: config.dataDirectory });
  await using undo = new AsyncDisposableStack();
  const { databases, end } = openDatabases(config.databaseUrl, log, { setpoint_api: 8, setpoint_admin: 4 });
  undo.defer(end);
  const stores = { database: databases.setpoint_api, administration: databases.setpoint_admin };
  const signals = undo.use(new PostgresSignalSender({ url: config.databaseUrl, clock, log }));
  const { sealer, followSealed } = undo.use(
    startHousekeeping({ administration: stores.administration, clock, log, retention: false, appends: true }),
  );
  const logged = () => sealer.poke();
  const ports = {
    secretBox: new RootKeyBox(rootKeys(config)),
    secretRandom: systemSecretRandom,
    mailer: config.smtp === undefined ? undefined : createSmtpMailer(config.smtp.url, config.smtp.from),
    clock,
    ids,
    log,
  };
  const operatorToken = config.operatorToken ?? readToken(config.dataDirectory);
  const poke = (shards: readonly number[], due: readonly DueEdge[]) => signals.send(signalOf(shards, due));
  const setup = { config, operatorToken, version, kinds, ...stores, ports, poke, logged };
  const stored = await composeContext(setup, undo);
  await ensureDefaultOrganization(stored);
  const notifying = composeNotifying(config, { ...stores, ...ports, random, logged });
  const metrics = metricsOf(stored);
  const tracer = composeTracing(config, { role: "api", version, log }, undo);
  const context: ApiContext = {
    ...stored,
    notifications: notifying.notifications,
    webhooks: notifying.webhooks,
    limits: { ...defaultRequestLimits, rate: config.rateLimit },
    ...(tracer === undefined ? {} : { tracer }),
    console: readConsole(),
    demo: config.demo ? demoOf(config) : undefined,
    services: async () => host.services() ?? (await servicesFromLeases(stored.reads)),
    metrics: async () => mergeMetrics([await metrics(), ...(await host.otherMetrics())]),
  };
  const app = createApp(context);
  await listen(() => app.listen({ host: listenAddress, port: config.port }), config.port);
  const telling = undo.use(notifying.start());
  followSealed(() => {
    stored.watches.poke();
    telling.poke();
  });
  undo.defer(() => app.close());
  const running = undo.move();
  return { detail: `http://${listenAddress}:${config.port}`, metrics, stop: () => running.disposeAsync() };
}

/** Without the database the figures of this process are still worth having. */
function metricsOf({ reads, governance, clock }: StoredContext): () => Promise<string> {
  const registry = new Registry();
  const refresh = registerPlatformMetrics(registry, { reads, governance }, clock);
  const ofProcess = processMetrics("api", registry);
  return () =>
    refresh()
      .catch(() => undefined)
      .then(ofProcess);
}

/** So that the first command of a newcomer needs nothing created before it. */
async function ensureDefaultOrganization({ intents, reads }: StoredContext): Promise<void> {
  const id = organizationIdOf(defaultOrganization);
  if ((await reads.listScopes(id)).length > 0) return;
  try {
    await intents.createOrganization({ id, name: defaultOrganization });
  } catch (thrown) {
    // Another API started at the same moment.
    if (!(thrown instanceof StoreError) || thrown.code !== "ALREADY_EXISTS") throw thrown;
  }
}

/** Without a supervisor, what is known of the schedulers is what they hold. */
async function servicesFromLeases(reads: ApiContext["reads"]): Promise<readonly ServiceState[]> {
  const { shardsLeased } = await reads.summary();
  return [
    { name: "api", state: "running", detail: "this process" },
    shardsLeased > 0
      ? { name: "scheduler", state: "running", detail: `${shardsLeased} shards leased` }
      : { name: "scheduler", state: "missing", detail: "no scheduler holds a lease" },
  ];
}

async function listen(start: () => Promise<unknown>, port: number): Promise<void> {
  try {
    await start();
  } catch (thrown) {
    throw portError(thrown, port);
  }
}
