import assert from "node:assert/strict";
import { Accounts } from "../../../src/kernel/accounts.ts";
import type { Kind } from "../../../src/kernel/kind.ts";
import { kinds as shipped } from "../../../src/kinds/registry.ts";
import { systemClock } from "../../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../../src/runtime/system-ids.ts";
import { Database } from "../../../src/store/database.ts";
import { PostgresOperationStore } from "../../../src/store/operation-store.ts";
import { startWorker } from "../../../src/worker/worker.ts";
import { type Answer, startTestApi, type TestApi } from "../api.ts";
import { crateKind } from "./crate-kind.ts";
import { CrateOutside } from "./crate-outside.ts";

export type Document = Readonly<Record<string, unknown>>;
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** The API over a real database, the outside of crates, and one worker between them. */
export class CrateScene implements AsyncDisposable {
  static readonly base = "/v1/organizations/default";
  readonly api: TestApi;
  readonly outside: CrateOutside;
  readonly #undo: AsyncDisposableStack;

  private constructor(api: TestApi, outside: CrateOutside, undo: AsyncDisposableStack) {
    this.api = api;
    this.outside = outside;
    this.#undo = undo;
  }

  static async open(): Promise<CrateScene> {
    const undo = new AsyncDisposableStack();
    const outside = undo.use(await CrateOutside.open());
    const kinds = new Map<string, Kind>([...shipped, ["Crate", crateKind(outside.url, 2)]]);
    const api = undo.use(await startTestApi({ kinds }));
    const open = () => new Database({ url: api.url, role: "setpoint_engine", log });
    const database = undo.adopt(open(), (it) => it.end());
    const operations = new PostgresOperationStore({ database, clock: systemClock });
    const accounts = new Accounts({ providers: new Map(), store: api.engine, clock: systemClock });
    const ports = { clock: systemClock, random: { next: () => 0 }, ids: createSystemIds(), log };
    const engine = { store: api.engine, operations, ...ports, kinds, accounts };
    undo.use(startWorker(engine, { holder: "test", pollMs: 20, balanceEveryMs: 50, renewEveryMs: 100 }));
    return new CrateScene(api, outside, undo);
  }

  declare(name: string): Promise<Answer> {
    const manifest = { apiVersion: "setpoint/v1", kind: "Crate", metadata: { name }, spec: {} };
    return this.api.send("POST", `${CrateScene.base}/crates`, manifest);
  }

  async newest(name: string): Promise<Document> {
    const { body } = await this.api.send("GET", `${CrateScene.base}/crates/${name}/operations`);
    const [first] = body["items"] as readonly Document[];
    assert.ok(first, `there is an operation on ${name}`);
    return first;
  }

  /** The newest operation on it, once it is as it should be. */
  async reached(name: string, state: string, step?: string): Promise<Document> {
    for (;;) {
      const operation = await this.newest(name);
      if (operation["state"] === state && (step === undefined || operation["step"] === step)) return operation;
      await systemClock.wait(20);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#undo.disposeAsync();
  }
}
