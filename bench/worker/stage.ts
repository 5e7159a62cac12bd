import { randomUUID } from "node:crypto";
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
const AT_ONCE = 64;

export interface Tenant {
  readonly id: string;
  readonly uids: readonly string[];
}

/** What starts operations and what runs them, in one process: both are measured. */
export class Stage {
  readonly #url: string;
  readonly #cleanup: AsyncDisposableStack;
  readonly #api: Database;
  readonly #intents: PostgresIntentStore;
  readonly #operations: PostgresOperationIntents;
  readonly #engine: OperationEngine;

  constructor(url: string, cleanup: AsyncDisposableStack) {
    this.#url = url;
    this.#cleanup = cleanup;
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
    this.#operations = new PostgresOperationIntents({ database: this.#api });
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
    await inTurns(uids, async (uid) => {
      const base = { uid, organizationId: id, kind: "Bench", name: uid, scope: `organization/${id}`, spec: {} };
      const rest = { labels: {}, author, ifRevision: 0, mode: undefined, protect: undefined };
      await this.#intents.declare({ ...base, ...rest, accounts: [undefined], links: [] });
    });
    return { id, uids };
  }

  async start({ id, uids }: Tenant): Promise<void> {
    await inTurns(uids, async (resourceUid) => {
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

  /** The tenants of operations in the order in which these ended, once so many have. */
  async ended(count: number): Promise<readonly string[]> {
    const { query } = await import("../../test/support/postgres.ts");
    for (;;) {
      const [row] = await query<{ left: string }>(this.#url, "select count(*) as left from setpoint.operation_due");
      if (Number(row?.left) === 0) break;
      await systemClock.wait(50);
    }
    const rows = await query<{ tenant: string }>(
      this.#url,
      "select organization_id as tenant from setpoint.operation where state = 'succeeded' order by ended_at_ms, id",
    );
    if (rows.length !== count) throw new Error(`${rows.length} of ${count} operations succeeded`);
    return rows.map(({ tenant }) => tenant);
  }
}

export async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
