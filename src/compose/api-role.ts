import { Registry } from "@prometheus-io/client";
import type { Config } from "../config.ts";
import { permissionCatalogue } from "../control-api/access/permission-keys.ts";
import { platformRules, seedRules } from "../control-api/access/seed-roles.ts";
import { createApp } from "../control-api/app.ts";
import { Authenticator } from "../control-api/authentication/authenticator.ts";
import { OperatorFile } from "../control-api/authentication/operator-file.ts";
import { TokenReader } from "../control-api/authentication/token-reader.ts";
import { TokenUses } from "../control-api/authentication/token-uses.ts";
import type { ApiContext, ServiceState } from "../control-api/context.ts";
import { defaultRequestLimits } from "../control-api/limits/request-limits.ts";
import { organizationIdOf } from "../control-api/names.ts";
import { PostgresSignalSender } from "../fabric/postgres-signals.ts";
import { signalOf } from "../fabric/signal-text.ts";
import type { DueEdge } from "../ports/signal.ts";
import { powerDnsSettingsSchema } from "../providers/powerdns/settings.ts";
import { engineSealer } from "../runtime/engine-seal.ts";
import { RootKeyBox } from "../runtime/root-key-box.ts";
import { createSmtpMailer } from "../runtime/smtp-mailer.ts";
import { systemSecretRandom } from "../runtime/system-secret-random.ts";
import { PostgresAuditStore } from "../store/audit-store.ts";
import { PostgresCredentialStore } from "../store/credential-store.ts";
import { PostgresAccountCredentialStore } from "../store/engine-keys.ts";
import { StoreError } from "../store/errors.ts";
import { PostgresGovernanceStore } from "../store/governance-store.ts";
import { PostgresIdentityStore } from "../store/identity-store.ts";
import { PostgresIntentStore } from "../store/intent-store.ts";
import { PostgresMemberStore } from "../store/member-store.ts";
import { PostgresReadStore } from "../store/read-store.ts";
import { PostgresSecretStore } from "../store/secret-store.ts";
import { composeDeclaring } from "./declaring.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { composeIdentity, requireSameRootKey } from "./identity.ts";
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
  const kinds = await installedKinds({ modules: config.kindModules, dataDirectory: config.dataDirectory });
  await using undo = new AsyncDisposableStack();
  const { databases, end } = openDatabases(config.databaseUrl, log, { setpoint_api: 8, setpoint_admin: 4 });
  undo.defer(end);
  const stores = { database: databases.setpoint_api, administration: databases.setpoint_admin };
  const reads = new PostgresReadStore(stores);
  const { clock, ids } = world;
  const signals = undo.use(new PostgresSignalSender({ url: config.databaseUrl, clock, log }));
  const { sealer, followSealed } = undo.use(
    startHousekeeping({ administration: stores.administration, clock, log, retention: false, appends: true }),
  );
  const poke = (shards: readonly number[], due: readonly DueEdge[]) => signals.send(signalOf(shards, due));
  const intents = new PostgresIntentStore({ ...stores, ids, clock, poke, logged: () => sealer.poke() });
  const catalogue = permissionCatalogue(kinds);
  const members = new PostgresMemberStore({
    ...stores,
    ids,
    seedRules: seedRules(catalogue),
    platformRules: platformRules(catalogue),
    logged: () => sealer.poke(),
  });
  await ensureDefaultOrganization(intents, reads);
  const credentials = new PostgresCredentialStore({ ...stores, logged: () => sealer.poke() });
  const uses = undo.use(new TokenUses({ store: credentials, clock, log }));
  const secretBox = new RootKeyBox(rootKeys(config));
  const people = new PostgresIdentityStore({ administration: stores.administration, logged: () => sealer.poke() });
  await requireSameRootKey(people, secretBox);
  const mailer = config.smtp === undefined ? undefined : createSmtpMailer(config.smtp.url, config.smtp.from);
  const ports = { secretBox, secretRandom: systemSecretRandom, mailer, clock, ids, log };
  const { identity, rights, makerOf } = composeIdentity(config, ports, { store: people, members });
  const notifying = composeNotifying(config, {
    ...stores,
    ...ports,
    random: world.random,
    logged: () => sealer.poke(),
  });
  const governance = new PostgresGovernanceStore({ ...stores, ids, poke, logged: () => sealer.poke() });
  const registry = new Registry();
  const refresh = registerPlatformMetrics(registry, { reads, governance }, clock);
  const ofProcess = processMetrics("api", registry);
  // Without the database the figures of this process are still worth having.
  const metrics = () =>
    refresh()
      .catch(() => undefined)
      .then(ofProcess);
  const declaring = composeDeclaring({ reads, kinds, clock, log }, { ...stores, poke, logged: () => sealer.poke() });
  followSealed(() => declaring.watches.poke());
  const context: ApiContext = {
    intents,
    reads,
    ...declaring,
    governance,
    notifications: notifying.notifications,
    webhooks: notifying.webhooks,
    limits: { ...defaultRequestLimits, rate: config.rateLimit },
    kinds,
    accountSettings: new Map([["powerdns", powerDnsSettingsSchema]]),
    ...ports,
    authenticator: new Authenticator([
      new OperatorFile(config.operatorToken ?? readToken(config.dataDirectory), clock),
      identity.sessions,
      new TokenReader({ store: credentials, makerOf, uses, clock }),
    ]),
    credentials,
    secrets: new PostgresSecretStore({
      ...stores,
      box: secretBox,
      random: systemSecretRandom,
      logged: () => sealer.poke(),
    }),
    accountCredentials: new PostgresAccountCredentialStore({ ...stores, poke, logged: () => sealer.poke() }),
    engineSealer,
    audit: new PostgresAuditStore({ ...stores, logged: () => sealer.poke() }),
    rights,
    identity,
    members,
    verifyOrganizations: config.verifyOrganizations,
    version: world.version,
    checkDatabase: async () => void (await reads.listOrganizations()),
    services: async () => host.services() ?? (await servicesFromLeases(reads)),
    metrics: async () => mergeMetrics([await metrics(), ...(await host.otherMetrics())]),
  };
  const tracer = composeTracing(config, { role: "api", version: world.version, log }, undo);
  const app = createApp(tracer === undefined ? context : { ...context, tracer });
  await listen(() => app.listen({ host: listenAddress, port: config.port }), config.port);
  const telling = undo.use(notifying.start());
  followSealed(() => telling.poke());
  undo.defer(() => app.close());
  const running = undo.move();
  return { detail: `http://${listenAddress}:${config.port}`, metrics, stop: () => running.disposeAsync() };
}

/** So that the first command of a newcomer needs nothing created before it. */
async function ensureDefaultOrganization(intents: PostgresIntentStore, reads: PostgresReadStore): Promise<void> {
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
async function servicesFromLeases(reads: PostgresReadStore): Promise<readonly ServiceState[]> {
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
