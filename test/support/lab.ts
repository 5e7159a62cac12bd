import assert from "node:assert/strict";
import { Accounts } from "../../src/kernel/accounts.ts";
import type { Claim, CycleReport, Engine } from "../../src/kernel/claim.ts";
import { runCycle } from "../../src/kernel/cycle.ts";
import { type KindRegistry, parseSpec } from "../../src/kernel/kind.ts";
import type { EngineStore, Priority } from "../../src/ports/engine-store.ts";
import type { Json } from "../../src/ports/json.ts";
import type { GuardName, Mode, PauseLevel, Principal, ScopePolicy, Verdict } from "../../src/ports/records.ts";
import { MemoryStore } from "../sim/memory-store.ts";
import type { HeldChangeRow, SubjectRow } from "../sim/store/rows.ts";
import { labKinds } from "./lab-kinds.ts";
import { LabOutside, LabProvider } from "./lab-outside.ts";
import { ManualClock } from "./manual-clock.ts";

export const ada: Principal = { name: "ada", type: "person" };
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const organizationId = "o";
const scope = "organization/o";
/** Long enough for a listing to be too old for somebody who waits. */
const LATER_MS = 15_000;

/** The store's methods that write for a cycle. Taking calls from a budget is counted apart: it is taken in blocks. */
const writing = ["permit", "recordOutcome", "settle", "reserveDeletes", "recordAccount"] as const;

/** Cycles of the production kernel over the in-memory store and the lab, one at a time, on a clock that stands still. */
export class Lab {
  readonly clock = new ManualClock();
  readonly store: MemoryStore;
  readonly outside = new Map<string, LabOutside>();
  kinds: KindRegistry = labKinds;
  /** What cycles wrote to the store, by method. */
  readonly writes: string[] = [];
  settleMs = 0;
  leaseRemainingMs = Number.POSITIVE_INFINITY;
  /** Monotonic time since which this process leases; undefined after an orderly hand-over. */
  quietSinceMonotonicMs: number | undefined;
  readonly #lost = new Map<string, "before" | "after">();
  #ids = 0;
  #accounts: Accounts | undefined;
  #lease: ReadonlyMap<number, number> = new Map();

  private constructor() {
    this.store = new MemoryStore({ nowMs: () => this.clock.nowMs(), ids: { next: () => `id-${++this.#ids}` } });
  }

  static async open(options: { readonly settleMs?: number; readonly accounts?: readonly string[] } = {}): Promise<Lab> {
    const lab = new Lab();
    lab.settleMs = options.settleMs ?? 0;
    await lab.store.createOrganization({ id: organizationId, name: "organization" });
    for (const id of options.accounts ?? ["main"]) {
      lab.outside.set(id, new LabOutside(`fingerprint of ${id}`));
      const settings = {};
      const account = { id, organizationId, name: id, provider: "lab", settings, credentialRef: undefined };
      await lab.store.createAccount({ ...account, callsPerSecond: 10_000 });
    }
    await lab.restart();
    return lab;
  }

  /** A new process: nothing is remembered but what is stored. */
  async restart(): Promise<void> {
    this.#accounts = undefined;
    for (const row of this.store.state.tables.shards) row.untilMs = 0;
    const taken = await this.store.takeShards({ holder: "process", wanted: 64, leaseMs: 10 ** 12 });
    this.#lease = new Map(taken.map(({ shard, epoch }) => [shard, epoch]));
  }

  get main(): LabOutside {
    return this.at("main");
  }

  at(account: string): LabOutside {
    const outside = this.outside.get(account);
    assert.ok(outside !== undefined, `there is no account ${account}`);
    return outside;
  }

  async declare(
    name: string,
    spec: Json,
    options: { readonly mode?: Mode; readonly protect?: boolean; readonly author?: Principal } = {},
  ): Promise<void> {
    const [kind = "", short = ""] = name.split("/");
    const known = this.kinds.get(kind) ?? labKinds.get(kind);
    assert.ok(known !== undefined, `there is no kind ${kind}`);
    const parsed = parseSpec(known, spec);
    const row = this.#resource(name);
    const before = row === undefined ? undefined : parseSpec(known, row.spec);
    const usable = parsed.ok ? parsed : before?.ok === true ? before : undefined;
    assert.ok(usable !== undefined, "a resource is declared with a spec that parses");
    await this.store.declare({
      uid: row?.uid ?? `uid-of-${name}`,
      organizationId,
      kind,
      name: short,
      scope,
      spec,
      labels: {},
      author: options.author ?? ada,
      ifRevision: undefined,
      mode: options.mode,
      protect: options.protect,
      accounts: known.loop === undefined ? [] : known.accounts(usable.spec),
      links: known.links(usable.spec),
    });
  }

  async remove(name: string, options: { readonly orphan?: boolean; readonly confirmedCount?: number } = {}) {
    const uid = this.#resource(name)?.uid ?? "";
    const { orphan = false, confirmedCount } = options;
    const request = { organizationId, uid, ifRevision: undefined, author: ada, orphan, confirmedCount };
    const { found } = await this.store.requestDeletion(request);
    assert.ok(found, `${name} is not declared`);
  }

  /** One cycle over a resource's subject. */
  async cycle(
    name: string,
    options: { readonly trigger?: Priority; readonly signal?: AbortSignal } = {},
  ): Promise<CycleReport> {
    const { id, shard } = this.subject(name);
    const claim: Claim = {
      subjectId: id,
      actor: { holder: "process", shard, epoch: this.#lease.get(shard) ?? 0 },
      quietSinceMonotonicMs: this.quietSinceMonotonicMs,
      trigger: options.trigger ?? "person",
      leaseRemainingMs: () => this.leaseRemainingMs,
      signal: options.signal ?? new AbortController().signal,
    };
    return await runCycle(this.#engine(), claim);
  }

  /** Some time later: cycles whenever the last one asked for another, until none is asked for. */
  async rest(name: string): Promise<CycleReport> {
    this.clock.advance(LATER_MS);
    for (let round = 0; round < 40; round++) {
      const report = await this.cycle(name);
      if (report.nextInMs === undefined && !report.dueAgain) return report;
      if (report.result === "gone") return report;
      this.clock.advance(Math.max(1, report.nextInMs ?? 1));
    }
    assert.fail(`${name} does not come to rest: ${this.ready(name)}`);
  }

  subject(name: string): SubjectRow {
    const rows = [...this.store.state.tables.subjects.values()].filter((row) => `${row.kind}/${row.name}` === name);
    const [row] = rows;
    assert.ok(row !== undefined, `${name} has no subject`);
    return row;
  }

  spec(name: string): Json {
    const row = this.#resource(name);
    assert.ok(row !== undefined, `${name} is not declared`);
    return row.spec;
  }

  isDeclared(name: string): boolean {
    return this.#resource(name) !== undefined;
  }

  ready(name: string): string {
    const ready = this.subject(name).status?.conditions.find(({ type }) => type === "Ready");
    return ready === undefined ? "not looked at" : `${ready.reason}: ${ready.message}`;
  }

  /** Keys of what the store says is ours. */
  owned(name: string): readonly string[] {
    return this.subject(name).memory.owned.map(({ key }) => key);
  }

  held(): readonly HeldChangeRow[] {
    return [...this.store.state.tables.heldChanges.values()].filter(({ state }) => state === "open");
  }

  async approve(held: HeldChangeRow | undefined, digest = held?.digest ?? ""): Promise<string> {
    assert.ok(held !== undefined, "nothing is held");
    const request = { organizationId, heldChangeId: held.id, digest, grantForMs: 3_600_000 };
    return (await this.store.approve({ ...request, approver: { name: "grace", type: "person" } })).result;
  }

  async policy(policy: Omit<ScopePolicy, "scope">): Promise<void> {
    await this.store.setPolicy({ organizationId, policy: { scope, ...policy }, author: ada });
  }

  async pause(level: PauseLevel): Promise<() => Promise<void>> {
    const id = `pause-${++this.#ids}`;
    const request = { id, organizationId, scope, level, author: ada, reason: "incident", forMs: 3_600_000 };
    await this.store.pause(request);
    return async () => {
      await this.store.endPause({ id, organizationId, author: ada });
    };
  }

  async hold(name: string): Promise<() => Promise<void>> {
    const request = { organizationId, uid: this.#resource(name)?.uid ?? "", operationId: "operation-1" };
    assert.ok(await this.store.placeHold({ ...request, reason: "creates it" }));
    return async () => await this.store.releaseHold(request);
  }

  /** The connection to the store is lost before or after its next work of this sort is done. */
  loseStore(method: (typeof writing)[number], when: "before" | "after"): void {
    this.#lost.set(method, when);
  }

  /** What the record says was done or tried, as `action key result`. */
  changes(): readonly string[] {
    return [...this.store.state.tables.changes.values()]
      .filter(({ record }) => record.key !== "account sentinel")
      .map(({ record, outcome }) => `${record.action} ${record.key} ${outcome?.result ?? "open"}`);
  }

  #resource(name: string) {
    return [...this.store.state.tables.resources.values()].find((row) => `${row.kind}/${row.name}` === name);
  }

  #engine(): Engine {
    const provider = new LabProvider(({ id }) => this.at(id), this.settleMs);
    const store = this.#counted();
    this.#accounts ??= new Accounts({ providers: new Map([["lab", provider]]), store, clock: this.clock });
    const ids = { next: () => `id-${++this.#ids}` };
    const { clock, kinds } = this;
    return { store, clock, random: { next: () => 0.5 }, ids, log: silent, kinds, accounts: this.#accounts };
  }

  #counted(): EngineStore {
    const { store, writes } = this;
    return new Proxy<EngineStore>(store, {
      get: (target, method: keyof EngineStore) => {
        if (writing.some((name) => name === method)) writes.push(method);
        const lost = this.#lost.get(method);
        if (lost === undefined) return target[method];
        this.#lost.delete(method);
        return async (request: never) => {
          if (lost === "after") await target[method](request);
          throw new Error(`the connection to the database was lost ${lost} ${method}`);
        };
      },
    });
  }
}

export function verdictOf(report: CycleReport, guard: GuardName): Verdict | undefined {
  return report.verdicts.find((verdict) => verdict.guard === guard);
}

/** The items of a set, all alike but for their names. */
export function items(...keys: readonly string[]): Json {
  return Object.fromEntries(keys.map((key) => [key, { value: "x", size: 1 }]));
}

export function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `k${String(index + 1).padStart(2, "0")}`);
}
