import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { Accounts } from "../../src/kernel/accounts.ts";
import type { OperationEngine } from "../../src/kernel/operation-scene.ts";
import type { Principal } from "../../src/ports/records.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresEngineStore } from "../../src/store/engine-store.ts";
import { PostgresIntentStore } from "../../src/store/intent-store.ts";
import { migrate } from "../../src/store/migrate.ts";
import { PostgresOperationIntents } from "../../src/store/operation-intents.ts";
import { PostgresOperationStore } from "../../src/store/operation-store.ts";
import { startWorker, type Worker } from "../../src/worker/worker.ts";
import { twoStepKind } from "./two-steps.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const author: Principal = { name: "bench", type: "person" };
/** So many operations are started, and rows of the floor written, at a time. */
export const AT_ONCE = 64;

export interface Tenant {
  readonly id: string;
  readonly uids: readonly string[];
}

/** What starts operations and what runs them, in one process: both are measured. */
export class Stage {
  readonly #cleanup: AsyncDisposableStack;
  readonly #client: Promise<Client>;
  readonly #api: Database;
  readonly #intents: PostgresIntentStore;
  readonly #operations: PostgresOperationIntents;
  readonly #engine: OperationEngine;

  constructor(url: string, cleanup: AsyncDisposableStack) {
    this.#cleanup = cleanup;
    this.#client = connected(url, cleanup);
    const open = (role: "setpoint_api" | "setpoint_engine" | "setpoint_admin") => {
      const database = new Database({ url, role, log: silent });
      cleanup.defer(() => database.end());
      return database;
    };
    this.#api = open("setpoint_api");
    const ids = createSystemIds();
    const clock = systemClock;
    this.#intents = new PostgresIntentStore({
      database: this.#api,
      administration: open("setpoint_admin"),
      ids,
      clock,
    });
    this.#operations = new PostgresOperationIntents({ database: this.#api, clock });
    const database = open("setpoint_engine");
    const store = new PostgresEngineStore({ database, clock, ids });
    const operations = new PostgresOperationStore({ database, clock });
    const accounts = new Accounts({ providers: new Map(), store, clock });
    const kinds = new Map([["Bench", twoStepKind()]]);
    this.#engine = { store, operations, clock, random: { next: () => 0.5 }, ids, log: silent, kinds, accounts };
  }

  static async prepare(url: string): Promise<void> {
    await migrate({ url, log: silent });
  }

  /** A tenant with so many resources, none of which has anything outside. */
  async tenant(resources: number): Promise<Tenant> {
    const id = randomUUID();
    await this.#intents.createOrganization({ id, name: id });
    const uids = Array.from({ length: resources }, () => randomUUID());
    await inTurns(uids, AT_ONCE, async (uid) => {
      const base = { uid, organizationId: id, kind: "Bench", name: uid, scope: `organization/${id}`, spec: {} };
      const rest = { labels: {}, author, ifRevision: 0, mode: undefined, protect: undefined };
      await this.#intents.declare({ ...base, ...rest, accounts: [undefined], links: [] });
    });
    return { id, uids };
  }

  /** The first so many of its resources get an operation. */
  async start({ id, uids }: Tenant, operations: number): Promise<void> {
    await inTurns(uids.slice(0, operations), AT_ONCE, async (resourceUid) => {
      const what = { pipeline: "bench.two", version: 1, input: {}, priority: "person" as const, ends: false };
      const who = { organizationId: id, operationId: this.#engine.ids.next(), resourceUid, author };
      const answer = await this.#operations.startOperation({ ...who, ...what });
      if (answer.result !== "started") throw new Error(`An operation was not started: ${answer.result}`);
    });
  }

  worker(): Worker {
    const worker = startWorker(this.#engine, { holder: "bench", pollMs: 50, runningPerAccountMax: 256 });
    this.#cleanup.defer(() => worker.drain());
    return worker;
  }

  moment(): Promise<void> {
    return systemClock.wait(20);
  }

  /** Asked over a connection that is there already: making one costs as much CPU as an operation. */
  async allEnded(): Promise<void> {
    const client = await this.#client;
    for (;;) {
      const { rows } = await client.query({ name: "left", text: "select from setpoint.operation_due limit 1" });
      if (rows.length === 0) break;
      await this.moment();
    }
    const { rows } = await client.query("select message from setpoint.operation where state <> 'succeeded' limit 1");
    if (rows.length > 0) throw new Error(`An operation did not succeed: ${JSON.stringify(rows[0])}`);
  }

  /** The tenants of their operations, in the order in which these ended. */
  async endedOf(tenants: readonly Tenant[]): Promise<readonly string[]> {
    const { rows } = await (await this.#client).query<{ tenant: string }>(
      `select organization_id as tenant from setpoint.operation
       where organization_id = any ($1) order by ended_at_ms, id`,
      [tenants.map(({ id }) => id)],
    );
    return rows.map(({ tenant }) => tenant);
  }
}

async function connected(url: string, cleanup: AsyncDisposableStack): Promise<Client> {
  const client = new Client(url);
  cleanup.defer(() => client.end());
  await client.connect();
  return client;
}

export async function inTurns<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
