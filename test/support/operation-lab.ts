import assert from "node:assert/strict";
import { Accounts } from "../../src/kernel/accounts.ts";
import type { Kind } from "../../src/kernel/kind.ts";
import { runOperation } from "../../src/kernel/operation.ts";
import type { OperationEngine } from "../../src/kernel/operation-scene.ts";
import type { OperationRecord, SteerCommand } from "../../src/ports/operation-store.ts";
import type { Json } from "../../src/ports/json.ts";
import type { Provider } from "../../src/ports/provider.ts";
import type { Mode, Principal } from "../../src/ports/records.ts";
import { MemoryStore, transactions } from "../sim/memory-store.ts";
import type { OperationRow, SubjectRow } from "../sim/store/rows.ts";
import { Boxes, boxKind, type Point } from "./box-kind.ts";
import { ManualClock } from "./manual-clock.ts";

export const organizationId = "o";
export const ada: Principal = { name: "ada", type: "person" };
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const leaseMs = 15_000;

/** Kinds and providers of the scenario's own, in place of the boxes. */
export interface Furnishing {
  kinds(point: Point): readonly Kind[];
  providers?(point: Point): readonly Provider[];
}
export const labAccount = "account";

/** Operations of the production kernel over the in-memory store, one turn at a time, on a clock that stands still. */
export class OperationLab {
  readonly clock = new ManualClock();
  readonly store: MemoryStore;
  readonly outside = new Boxes();
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #point: Point;
  #ids = 0;
  #worker = 0;
  #leases: ReadonlyMap<number, number> = new Map();
  #leasedAtMs = 0;

  private constructor(point: Point, furnishing: Furnishing | undefined) {
    this.#point = point;
    this.store = new MemoryStore({ nowMs: () => this.clock.nowMs(), ids: { next: () => this.#id() } });
    const kinds = furnishing?.kinds(point) ?? [boxKind(this.outside, point)];
    this.kinds = new Map(kinds.map((kind) => [kind.kind, kind]));
    this.#providers = new Map((furnishing?.providers?.(point) ?? []).map((provider) => [provider.name, provider]));
  }

  static async open(point: Point = async (_, handle) => handle(), furnishing?: Furnishing): Promise<OperationLab> {
    const lab = new OperationLab(point, furnishing);
    await lab.store.createOrganization({ id: organizationId, name: "organization" });
    const wide = { count: 100, percent: 100, atLeast: 100 };
    const limits = { deletesPerCycle: wide, deletesPerHour: { account: wide, organization: wide, platform: wide } };
    await lab.store.setPolicy({ organizationId: undefined, policy: { scope: "platform", limits }, author: ada });
    const account = { id: labAccount, organizationId, name: labAccount, provider: "outside", settings: {} };
    await lab.store.createAccount({ ...account, credentialRef: undefined, callsPerSecond: 1_000 });
    await lab.newWorker();
    return lab;
  }

  #id(): string {
    return `id-${String(++this.#ids).padStart(5, "0")}`;
  }

  /** The last worker is gone without a word; another one takes over when its leases have run out. */
  async newWorker(): Promise<void> {
    if (this.#worker > 0) this.clock.advance(leaseMs + 5_001);
    const holder = `worker-${++this.#worker}`;
    this.#leasedAtMs = this.clock.monotonicMs();
    const taken = await this.store.takeWorkerShards({ holder, wanted: 64, leaseMs });
    this.#leases = new Map(taken.map(({ shard, epoch }) => [shard, epoch]));
  }

  async declare(
    name: string,
    values: Record<string, string>,
    options: { mode?: Mode; adopt?: boolean; protect?: boolean } = {},
  ) {
    const spec = { values, adopt: options.adopt ?? false };
    await this.declareAs("Box", name, spec, { ...options, accounts: [undefined] });
  }

  async declareAs(
    kind: string,
    name: string,
    spec: Json,
    options: {
      readonly mode?: Mode | undefined;
      readonly protect?: boolean | undefined;
      readonly accounts?: readonly (string | undefined)[];
      readonly links?: readonly { readonly kind: string; readonly name: string }[];
    } = {},
  ) {
    await this.store.declare({
      uid: `uid-of-${name}`,
      organizationId,
      kind,
      name,
      scope: `organization/${organizationId}`,
      spec,
      labels: {},
      author: ada,
      ifRevision: undefined,
      mode: options.mode,
      protect: options.protect,
      accounts: options.accounts ?? [],
      links: options.links ?? [],
    });
  }

  async remove(name: string, confirmedCount?: number): Promise<void> {
    const base = { organizationId, uid: `uid-of-${name}`, ifRevision: undefined, author: ada };
    await this.store.requestDeletion({ ...base, orphan: false, confirmedCount });
  }

  async start(pipeline: string, name: string, input: Json = {}): Promise<OperationRecord> {
    const base = { organizationId, operationId: `operation-${++this.#ids}`, resourceUid: `uid-of-${name}` };
    const version = Math.max(1, ...this.#versionsOf(pipeline));
    const rest = { pipeline, version, input, author: ada, priority: "person" as const };
    const answer = await this.store.startOperation({ ...base, ...rest, ends: /\.(delete|withdraw)$/.test(pipeline) });
    assert.ok("operation" in answer, `not started: ${answer.result}`);
    return answer.operation;
  }

  #versionsOf(pipeline: string): readonly number[] {
    const all = [...this.kinds.values()].flatMap(({ pipelines = [] }) => pipelines);
    return all.filter(({ name }) => name === pipeline).map(({ version }) => version);
  }

  async steer(operationId: string, command: SteerCommand): Promise<string> {
    const request = { organizationId, operationId, command, author: ada, reason: "because" };
    return (await this.store.steerOperation(request)).result;
  }

  row(operationId: string): OperationRow {
    const row = this.store.state.tables.operations.get(operationId);
    assert.ok(row, `there is no operation ${operationId}`);
    return row;
  }

  subject(name: string): SubjectRow {
    const found = [...this.store.state.tables.subjects.values()].find((row) => row.name === name);
    assert.ok(found, `there is no subject ${name}`);
    return found;
  }

  engine(): OperationEngine {
    const methods = Object.entries(transactions).map(([name, transaction]) => {
      const run = transaction as (state: MemoryStore["state"], request: unknown) => unknown;
      return [name, (request: unknown) => this.#point(name, () => run(this.store.state, request))];
    });
    const store = Object.fromEntries(methods) as MemoryStore;
    const { clock } = this;
    const accounts = new Accounts({ providers: this.#providers, store, clock });
    const ids = { next: () => this.#id() };
    const { kinds } = this;
    return { store, operations: store, clock, random: { next: () => 0 }, ids, log: silent, kinds, accounts };
  }

  /** One turn of an operation by the present worker, if it is due. */
  async turn(operationId: string, signal: AbortSignal = new AbortController().signal): Promise<void> {
    const { shard, dueAtMs } = this.row(operationId);
    if (dueAtMs === undefined || dueAtMs > this.clock.nowMs()) return;
    const holder = `worker-${this.#worker}`;
    const renewed = { holder, leaseMs, shards: [...this.#leases].map(([one, epoch]) => ({ shard: one, epoch })) };
    await this.store.renewWorkerShards(renewed);
    const sentMs = this.clock.monotonicMs();
    await runOperation(this.engine(), {
      organizationId,
      operationId,
      actor: { holder, shard, epoch: this.#leases.get(shard) ?? 0, operationId },
      quietSinceMonotonicMs: this.#leasedAtMs,
      leaseRemainingMs: () => leaseMs - (this.clock.monotonicMs() - sentMs),
      signal,
    });
  }

  /** Turns until it ends or waits for somebody, a second at a time. */
  async finish(operationId: string, seconds = 120): Promise<OperationRow> {
    for (let second = 0; second < seconds; second++) {
      await this.turn(operationId);
      const { state } = this.row(operationId);
      if (state !== "running") break;
      this.clock.advance(1_000);
    }
    return this.row(operationId);
  }
}
