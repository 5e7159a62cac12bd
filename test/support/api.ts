import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { composeContext } from "../../src/compose/api-context.ts";
import { createApp } from "../../src/control-api/app.ts";
import type { ApiContext } from "../../src/control-api/context.ts";
import { organizationIdOf } from "../../src/control-api/names.ts";
import { kinds } from "../../src/kinds/registry.ts";
import type { Log } from "../../src/ports/log.ts";
import { RootKeyBox } from "../../src/runtime/root-key-box.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { createWebhookSender } from "../../src/runtime/webhook-sender.ts";
import { Database, type DatabaseOptions, type DatabaseRole } from "../../src/store/database.ts";
import { PostgresEngineStore } from "../../src/store/engine-store.ts";
import { PostgresNotificationStore } from "../../src/store/notification-store.ts";
import { migrate } from "../../src/store/migrate.ts";
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

export interface TestSettings {
  readonly signUp?: boolean;
  readonly publicUrl?: string;
  /** Sees every statement of the API before it is sent; what it throws is what a process that died there leaves. */
  readonly onStatement?: DatabaseOptions["onStatement"];
  /** The store's clock; the server's own otherwise. */
  readonly storeNowMs?: DatabaseOptions["nowMs"];
}

function openDatabase(url: string, role: DatabaseRole, { onStatement, storeNowMs }: TestSettings): Database {
  const seen = role === "setpoint_engine" ? undefined : onStatement;
  return new Database({ url, role, log: silent, max: 4, onStatement: seen, nowMs: storeNowMs });
}

/** The Control API over a real PostgreSQL of its own, with the organization `default`. */
export async function startTestApi(changes: Partial<ApiContext> = {}, settings: TestSettings = {}): Promise<TestApi> {
  await using undo = new AsyncDisposableStack();
  const { url } = undo.use(await startTestServer());
  await migrate({ url, log: silent });
  const open = (role: DatabaseRole) => undo.adopt(openDatabase(url, role, settings), (database) => database.end());
  const stores = { database: open("setpoint_api"), administration: open("setpoint_admin") };
  const ids = createSystemIds();
  const ports = {
    secretBox: new RootKeyBox(new Uint8Array(32).fill(7)),
    secretRandom: systemSecretRandom,
    mailer: changes.mailer,
    clock: changes.clock ?? systemClock,
    ids,
    log: silent,
  };
  const setup = {
    config: { signUp: settings.signUp ?? true, publicUrl: settings.publicUrl, port: 7780, verifyOrganizations: false },
    operatorToken: token,
    version: "0.0.0-test",
    kinds: changes.kinds ?? kinds,
    ...stores,
    ports,
    passwordCost: quickCost,
  };
  const context: ApiContext = {
    ...(await composeContext(setup, undo)),
    notifications: new PostgresNotificationStore({ ...stores, ids }),
    webhooks: createWebhookSender({ allowPrivate: ["127.0.0.0/8"] }),
    services: async () => [{ name: "api", state: "running", detail: "test" }],
    metrics: async () => "# no metrics\n",
    ...changes,
  };
  await context.intents.createOrganization({ id: organizationIdOf("default"), name: "default" });
  const engine = new PostgresEngineStore({ database: open("setpoint_engine"), clock: systemClock, ids });
  const sealer = new Sealer({ administration: stores.administration, clock: systemClock, log: silent });
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
    send: (method, path, body, headers = {}) => send(app, { method, path, body, headers }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function send(
  app: FastifyInstance,
  request: {
    readonly method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
    readonly path: string;
    readonly body: unknown;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<Answer> {
  const { method, path, body, headers } = request;
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await app.inject({
    method,
    url: path,
    headers: { authorization: `Bearer ${token}`, ...type, ...headers },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, headers: answer.headers, body: parsed(answer.body) };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { text };
  }
}
