import type { PermitRequest } from "../../../src/ports/engine-store.ts";
import type { ChangeAction, ChangeRecord, Limits, Mode, OwnedItem } from "../../../src/ports/records.ts";
import { defaultLimits } from "../../../src/kernel/policy.ts";
import { declareSet } from "../actors/declare.ts";
import { MemoryStore, transactions } from "../memory-store.ts";
import { Outside, OutsideAccount, Throttle, type Thing } from "../outside/outside.ts";
import type { WriteCall } from "../outside/sim-api.ts";
import { SimProcess } from "../process.ts";
import { SeededRandom } from "../random.ts";
import type { OperationRow, SubjectRow } from "../store/rows.ts";
import { World } from "../world.ts";
import { Ledger } from "./ledger.ts";
import { OperationRules } from "./operation-rules.ts";
import { Referee } from "./referee.ts";
import { type StartedWrite, Violation } from "./witness.ts";

const ada = { name: "ada", type: "person" } as const;
const limits: Limits = { ...defaultLimits, confirmAfterMs: 5_000 };
const startMs = 1_800_000_000_000;

type Transactions = typeof transactions;
type Call<Name extends keyof Transactions> = Parameters<Transactions[Name]>[1];

/**
 * A small world in which a history can be told step by step, right or wrong: one tenant, one set of three things, one
 * process that holds every lease. The referee sees each step as it would see it in a run.
 */
export class BadHistory {
  readonly world = new World(1, startMs);
  readonly store: MemoryStore;
  readonly outside = new Outside();
  readonly account: OutsideAccount;
  readonly ledger: Ledger;
  readonly referee: Referee;
  readonly operations: OperationRules;
  readonly process: SimProcess;
  readonly other: SimProcess;
  violation: Violation | undefined;
  #ids = 0;

  constructor() {
    const nowMs = () => this.world.nowMs;
    this.store = new MemoryStore({ nowMs, ids: { next: () => `id-${++this.#ids}` } });
    this.account = new OutsideAccount({ id: "a", organizationId: "t", settleMs: 0, fingerprint: "thing" });
    this.outside.add(this.account, new Throttle(0));
    this.ledger = new Ledger({ state: this.store.state, outside: this.outside, limits, callTimeoutMs: 1_000 });
    const fail = (violation: Error) => {
      if (!(violation instanceof Violation)) throw violation;
      this.violation ??= violation;
    };
    this.referee = new Referee(this.ledger, fail);
    this.operations = new OperationRules(this.ledger, fail);
    this.process = this.#process("one", 1);
    this.other = this.#process("two", 2);
    this.#furnish();
  }

  #process(name: string, number: number): SimProcess {
    return new SimProcess({ world: this.world, name, number, random: new SeededRandom(number), skewMs: 0 });
  }

  #furnish(): void {
    this.do("createOrganization", { id: "t", name: "t" });
    this.do("createScope", { organizationId: "t", scope: "project/t-web", parent: "organization/t" });
    const account = { id: "a", organizationId: "t", name: "a", provider: "sim", settings: {} };
    this.do("createAccount", { ...account, credentialRef: undefined, callsPerSecond: 10 });
    this.declare({ kept: 1, changed: 1, doomed: 1 });
    for (const key of ["kept", "changed", "doomed"]) this.putThing(key);
    this.subject.memory = { ...this.subject.memory, owned: [...this.account.things.values()].map(ownedAs) };
    this.subject.nowOwned = 3;
    this.ledger.noteOwned();
    this.do("takeShards", { holder: "one", wanted: 64, leaseMs: 600_000 });
  }

  get subject(): SubjectRow {
    const [subject] = this.store.state.tables.subjects.values();
    if (subject === undefined) throw new Error("The history has no subject");
    return subject;
  }

  /** One transaction, shown to the referee like any other. */
  do<Name extends keyof Transactions>(name: Name, request: Call<Name>): ReturnType<Transactions[Name]> {
    this.referee.beforeCommit(this.process, name, request);
    const transaction = transactions[name] as (state: unknown, request: unknown) => ReturnType<Transactions[Name]>;
    const result = transaction(this.store.state, request);
    this.referee.afterCommit(this.process, name, request, result);
    return result;
  }

  declare(
    sizes: Readonly<Record<string, number>>,
    options: { mode?: Mode; protect?: boolean; zero?: boolean } = {},
  ): void {
    const items = Object.fromEntries(Object.entries(sizes).map(([key, size]) => [key, { value: "v", size }]));
    const spec = { accounts: ["a"], group: "set", items, zero: options.zero === true };
    const { mode, protect } = options;
    this.do("declare", declareSet("t", "SimSet", "set", spec, { uid: "uid", author: ada, mode, protect }));
  }

  putThing(key: string, changes: Partial<Thing> = {}): Thing {
    const marker = { installationId: "installation-1", resourceUid: "uid" };
    const thing: Thing = {
      id: `thing-${key}`,
      group: "set",
      key,
      value: "v",
      size: 1,
      marker,
      lock: undefined,
      madeFor: "uid",
      lockedAtMs: 0,
      markedAtMs: 0,
      ...changes,
    };
    this.account.put(thing, this.world.nowMs);
    return thing;
  }

  wait(ms: number): void {
    this.world.nowMs += ms;
  }

  /** The beginning of a cycle: the snapshot, and a complete look at the whole account. */
  look(process: SimProcess = this.process): void {
    this.process.alive = true;
    const input = transactions.load(this.store.state, this.subject.id);
    this.referee.afterCommit(process, "load", this.subject.id, input);
    this.referee.looked(process, "a", { startedAtMs: this.world.nowMs, ids: new Set(this.account.things.keys()) });
  }

  read(key: string): void {
    this.referee.readOne(this.process, "a", `thing-${key}`, this.world.nowMs);
  }

  reserve(ungranted: number, granted = 0): void {
    const base = { actor: this.#actor(), subject: this.#ref(), limits: limits.deletesPerHour };
    this.do("reserveDeletes", { ...base, ungranted, granted });
  }

  /** A permit as the engine would ask for it, or as a broken engine would. */
  permit(
    action: ChangeAction,
    key: string,
    changes: Partial<PermitRequest> & { readonly grantId?: string } = {},
  ): void {
    const { grantId, ...rest } = changes;
    this.referee.beforeCommit(this.process, "permit", { subject: this.#ref() });
    const request = { ...this.#permitRequest(action, key, grantId), ...rest };
    this.subject.permit = { id: request.permitId, untilMs: this.world.nowMs + request.forMs };
    this.referee.afterCommit(this.process, "permit", request, { granted: true });
  }

  #permitRequest(action: ChangeAction, key: string, grantId: string | undefined): PermitRequest {
    const removes = action === "delete" || action === "replace";
    const { inputVersion, policyVersion, memory } = this.subject;
    const record: ChangeRecord = {
      id: `change-${++this.#ids}`,
      action,
      key,
      externalId: `thing-${key}`,
      trigger: "person",
      differences: [],
      declaredBy: [],
      verdicts: [],
      grantId,
      intendedAtMs: this.world.nowMs,
    };
    return {
      permitId: `permit-${++this.#ids}`,
      actor: this.#actor(),
      subject: this.#ref(),
      inputs: removes ? { check: "version", inputVersion } : { check: "sources", sources: [], policyVersion },
      deletes: removes,
      forMs: 6_000,
      changes: [record],
      memory,
      grantIds: grantId === undefined ? [] : [grantId],
    };
  }

  /** Somebody starts an operation, which ends like this whatever it did. */
  runOperation(state: "not-run" | "cancelled"): void {
    const operation = this.#startOperation();
    Object.assign(operation, { state, endedAtMs: this.world.nowMs, dueAtMs: undefined });
    this.subject.hold = undefined;
  }

  /** A cycle that ends by starting an operation again. */
  startAgain(): void {
    const settlement = { subject: this.#ref(), verdicts: [], gone: false, forgetSources: [] };
    for (const witness of [this.referee, this.operations]) witness.beforeCommit(this.process, "settle", settlement);
    this.#startOperation();
    for (const witness of [this.referee, this.operations])
      witness.afterCommit(this.process, "settle", settlement, { kept: true });
  }

  #startOperation(): OperationRow {
    const { organizationId, resourceUid } = this.subject;
    const about = { organizationId, resourceUid, operationId: `operation-${++this.#ids}`, pipeline: "box.create" };
    const rest = { version: 1, input: {}, author: ada, priority: "person" as const, ends: false };
    transactions.startOperation(this.store.state, { ...about, ...rest });
    return [...this.store.state.tables.operations.values()].at(-1) as OperationRow;
  }

  start(effect: "create" | "update" | "delete", key: string, process: SimProcess = this.process): StartedWrite {
    const change = { effect, key, id: effect === "create" ? undefined : `thing-${key}` };
    const call: WriteCall = { accountId: "a", uid: "uid", changes: [change] };
    return this.referee.writeStarts(process, call);
  }

  effect(started: StartedWrite, effect: "create" | "update" | "delete", thing: Thing): void {
    this.referee.effect(started, this.outside.answering("a"), { effect, thing });
    if (effect === "delete") this.account.remove(thing.id, this.world.nowMs);
    else this.account.put(thing, this.world.nowMs);
  }

  /** Everything a right delete of what nobody wants consists of. */
  deleteRightly(key: string, skip: readonly ("look" | "read" | "reserve")[] = []): void {
    if (!skip.includes("look")) this.look();
    if (!skip.includes("reserve")) this.reserve(1);
    if (!skip.includes("read")) this.read(key);
    this.wait(1);
    this.permit("delete", key);
    const thing = this.account.things.get(`thing-${key}`) ?? this.putThing(key);
    this.effect(this.start("delete", key), "delete", thing);
  }

  #actor() {
    const { shard } = this.subject;
    return { holder: "one", shard, epoch: this.store.state.tables.shards[shard]?.epoch ?? 0 };
  }

  #ref(): PermitRequest["subject"] {
    const { id, organizationId, resourceUid, accountId, kind, name, shard } = this.subject;
    return { id, organizationId, resourceUid, accountId, kind, name, shard };
  }
}

function ownedAs(thing: Thing): OwnedItem {
  return {
    key: thing.key,
    state: "owned",
    externalId: thing.id,
    sources: ["uid"],
    wantedHash: "",
    intendedAtMs: startMs,
    writtenAtMs: startMs,
  };
}
