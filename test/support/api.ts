import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { permissionCatalogue } from "../../src/control-api/access/permission-keys.ts";
import { platformRules, seedRules } from "../../src/control-api/access/seed-roles.ts";
import { composeIdentity } from "../../src/compose/identity.ts";
import { createApp } from "../../src/control-api/app.ts";
import { Authenticator } from "../../src/control-api/authentication/authenticator.ts";
import { OperatorFile } from "../../src/control-api/authentication/operator-file.ts";
import { TokenReader } from "../../src/control-api/authentication/token-reader.ts";
import { TokenUses } from "../../src/control-api/authentication/token-uses.ts";
import type { ApiContext } from "../../src/control-api/context.ts";
import { organizationIdOf } from "../../src/control-api/names.ts";
import { kinds } from "../../src/kinds/registry.ts";
import type { Log } from "../../src/ports/log.ts";
import { powerDnsSettingsSchema } from "../../src/providers/powerdns/settings.ts";
import { engineSealer } from "../../src/runtime/engine-seal.ts";
import { RootKeyBox } from "../../src/runtime/root-key-box.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { PostgresAuditStore } from "../../src/store/audit-store.ts";
import { PostgresCredentialStore } from "../../src/store/credential-store.ts";
import { createWebhookSender } from "../../src/runtime/webhook-sender.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresAccountCredentialStore } from "../../src/store/engine-keys.ts";
import { PostgresEngineStore } from "../../src/store/engine-store.ts";
import { PostgresGovernanceStore } from "../../src/store/governance-store.ts";
import { PostgresIdentityStore } from "../../src/store/identity-store.ts";
import { PostgresNotificationStore } from "../../src/store/notification-store.ts";
import { PostgresIntentStore } from "../../src/store/intent-store.ts";
import { PostgresMemberStore } from "../../src/store/member-store.ts";
import { migrate } from "../../src/store/migrate.ts";
import { PostgresReadStore } from "../../src/store/read-store.ts";
import { PostgresSecretStore } from "../../src/store/secret-store.ts";
import { composeDeclaring } from "../../src/compose/declaring.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { startTestServer } from "./postgres.ts";

export const token = "test-token-of-the-operator";

export interface TestApi extends AsyncDisposable {
  readonly app: FastifyInstance;
  /** The database, as the superuser. */
  readonly url: string;
  readonly context: ApiContext;
  readonly engine: PostgresEngineStore;
  /** Seals what was appended to the log so far, and pokes those who watch. */
  seal(): Promise<void>;
  /** With the operator's token; `body` is sent as JSON. */
  send(
    method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE",
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/** `If-Match: *`: for tests that are about something else than who changed it meanwhile. */
export const whatever: Readonly<Record<string, string>> = Object.freeze({ "if-match": "*" });

export interface Answer {
  readonly status: number;
  readonly headers: LightMyRequestResponse["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Passwords in tests are not worth protecting. */
const quickCost = { memoryKiB: 64, passes: 1, lanes: 1 };
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The Control API over a real PostgreSQL of its own, with the organization `default`. */
export async function startTestApi(
  changes: Partial<ApiContext> = {},
  settings: { readonly signUp?: boolean; readonly publicUrl?: string } = {},
): Promise<TestApi> {
  await using undo = new AsyncDisposableStack();
  const { url } = undo.use(await startTestServer());
  await migrate({ url, log: silent });
  const open = (role: "setpoint_api" | "setpoint_admin" | "setpoint_engine") =>
    undo.adopt(new Database({ url, role, log: silent, max: 4 }), (database) => database.end());
  const stores = { database: open("setpoint_api"), administration: open("setpoint_admin") };
  const ids = createSystemIds();
  const intents = new PostgresIntentStore({ ...stores, ids });
  const reads = new PostgresReadStore(stores);
  const engine = new PostgresEngineStore({ database: open("setpoint_engine"), clock: systemClock, ids });
  const catalogue = permissionCatalogue(kinds);
  const roles = { seedRules: seedRules(catalogue), platformRules: platformRules(catalogue) };
  const members = new PostgresMemberStore({ ...stores, ids, ...roles });
  await intents.createOrganization({ id: organizationIdOf("default"), name: "default" });
  const credentials = new PostgresCredentialStore(stores);
  const uses = undo.use(new TokenUses({ store: credentials, clock: systemClock, log: silent }));
  const ports = {
    secretBox: new RootKeyBox(new Uint8Array(32).fill(7)),
    secretRandom: systemSecretRandom,
    mailer: changes.mailer,
    clock: changes.clock ?? systemClock,
    ids,
    log: silent,
  };
  const { identity, rights, makerOf } = composeIdentity(
    { signUp: settings.signUp ?? true, publicUrl: settings.publicUrl, port: 7780 },
    ports,
    { store: new PostgresIdentityStore(stores), members, cost: quickCost },
  );
  const declaring = composeDeclaring({ reads, kinds: changes.kinds ?? kinds, clock: ports.clock, log: silent }, stores);
  const sealer = new Sealer({ administration: stores.administration, clock: systemClock, log: silent });
  const context: ApiContext = {
    intents,
    reads,
    ...declaring,
    governance: new PostgresGovernanceStore({ ...stores, ids }),
    notifications: new PostgresNotificationStore({ ...stores, ids }),
    webhooks: createWebhookSender({ allowPrivate: ["127.0.0.0/8"] }),
    kinds,
    accountSettings: new Map([["powerdns", powerDnsSettingsSchema]]),
    ...ports,
    authenticator: new Authenticator([
      new OperatorFile(token, systemClock),
      identity.sessions,
      new TokenReader({ store: credentials, makerOf, uses, clock: systemClock }),
    ]),
    credentials,
    secrets: new PostgresSecretStore({ ...stores, box: ports.secretBox, random: systemSecretRandom }),
    accountCredentials: new PostgresAccountCredentialStore(stores),
    engineSealer,
    audit: new PostgresAuditStore(stores),
    rights,
    identity,
    members,
    verifyOrganizations: false,
    version: "0.0.0-test",
    checkDatabase: async () => void (await reads.listOrganizations()),
    services: async () => [{ name: "api", state: "running", detail: "test" }],
    metrics: async () => "# no metrics\n",
    ...changes,
  };
  const app = undo.adopt(createApp(context), (it) => it.close());
  await app.ready();
  const owned = undo.move();
  return {
    app,
    url,
    context,
    engine,
    seal: async () => {
      await sealer.sealAll();
      context.watches.poke();
    },
    send: async (method, url_, body, headers = {}) => {
      const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
      const type = body === undefined ? {} : { "content-type": "application/json" };
      const answer = await app.inject({
        method,
        url: url_,
        headers: { authorization: `Bearer ${token}`, ...type, ...headers },
        ...payload,
      });
      return { status: answer.statusCode, headers: answer.headers, body: parsed(answer.body) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { text };
  }
}
