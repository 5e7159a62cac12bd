import type { CycleReport, CycleResult, Engine } from "../../../src/kernel/claim.ts";
import type {
  DueSubject,
  EngineStore,
  IdleBatch,
  Priority,
  Settlement,
  SubjectEntry,
} from "../../../src/ports/engine-store.ts";
import type { Json } from "../../../src/ports/json.ts";
import type { CycleInput } from "../../../src/ports/records.ts";
import { PRIORITIES } from "../../../src/scheduler/priority.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

export interface FakeSubject extends SubjectEntry {
  readonly shard: number;
  priority: Priority;
  dueAtMs: number | undefined;
  inputVersion: number;
  settlements: Settlement[];
}

interface Shard {
  holder: string | undefined;
  epoch: number;
  untilMs: number;
  quietNext: boolean;
  quiet: boolean;
}

/** What the scheduler needs of the store, by the same rules, in a few lines. `failing` names methods that reject, `hanging` those that never answer. */
export class FakeStore {
  readonly #clock: VirtualClock;
  readonly shards: Shard[] = Array.from({ length: 64 }, () => ({
    holder: undefined,
    epoch: 0,
    untilMs: 0,
    quietNext: true,
    quiet: true,
  }));
  readonly live = new Map<string, number>();
  readonly subjects = new Map<number, FakeSubject>();
  readonly idle: IdleBatch[] = [];
  readonly calls = new Map<string, number>();
  readonly failing = new Set<string>();
  readonly hanging = new Set<string>();
  poisonedLoads = new Set<number>();
  /** Methods whose answer takes a while; what they do is done at once. */
  readonly answersAfterMs = new Map<string, number>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  add(subject: {
    readonly id: number;
    readonly shard: number;
    readonly organizationId?: string;
    readonly accountId?: string;
    readonly kind?: string;
    readonly priority?: Priority;
    readonly due?: boolean;
  }): void {
    this.subjects.set(subject.id, {
      id: subject.id,
      shard: subject.shard,
      organizationId: subject.organizationId ?? "acme",
      accountId: subject.accountId,
      kind: subject.kind ?? "Thing",
      priority: subject.priority ?? "person",
      dueAtMs: subject.due === true ? this.#clock.nowMs() : undefined,
      inputVersion: 1,
      settlements: [],
    });
  }

  /** An input of the subject changes. */
  touch(id: number, priority: Priority = "person"): void {
    const subject = this.subject(id);
    subject.inputVersion += 1;
    subject.dueAtMs = Math.min(subject.dueAtMs ?? this.#clock.nowMs(), this.#clock.nowMs());
    subject.priority = priority;
  }

  subject(id: number): FakeSubject {
    const subject = this.subjects.get(id);
    if (subject === undefined) throw new Error(`no subject ${id}`);
    return subject;
  }

  heldBy(holder: string): readonly number[] {
    return this.shards.flatMap((shard, number) =>
      shard.holder?.startsWith(holder) === true && shard.untilMs > this.#clock.nowMs() ? [number] : [],
    );
  }

  port(): EngineStore {
    const answer = async <T>(name: string, work: () => T): Promise<T> => {
      this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
      if (this.hanging.has(name)) return await new Promise<T>(() => {});
      if (this.failing.has(name)) throw new Error(`${name}: connection refused`);
      await Promise.resolve();
      const done = work();
      const delayMs = this.answersAfterMs.get(name) ?? 0;
      if (delayMs > 0) await this.#clock.wait(delayMs);
      return done;
    };
    const never = async (): Promise<never> => await Promise.reject(new Error("not part of this fake"));
    return {
      takeShards: (request) => answer("takeShards", () => this.#take(request)),
      renewShards: (request) => answer("renewShards", () => this.#renew(request)),
      releaseShards: (request) => answer("releaseShards", () => this.#release(request)),
      shardHolders: () => answer("shardHolders", () => this.#holders()),
      listSubjects: (request) => answer("listSubjects", () => this.#list(request)),
      dueSubjects: (request) => answer("dueSubjects", () => this.#due(request)),
      load: (id) => answer("load", () => this.#load(id)),
      settle: (settlement) => answer("settle", () => this.#settle(settlement)),
      recordIdle: (batch) => answer("recordIdle", () => void this.idle.push(batch)),
      accountHealth: never,
      reserveDeletes: never,
      permit: never,
      recordOutcome: never,
      takeCalls: never,
      blockCalls: never,
      recordedThings: never,
      dock: never,
      recordAccount: never,
    };
  }

  #take(request: Parameters<EngineStore["takeShards"]>[0]) {
    const nowMs = this.#clock.nowMs();
    this.live.set(request.holder, nowMs + request.leaseMs);
    let mine = this.shards.filter((shard) => shard.holder === request.holder && shard.untilMs > nowMs).length;
    for (const shard of this.shards) {
      if (mine >= request.wanted) break;
      if (shard.holder !== undefined && shard.untilMs > nowMs) continue;
      Object.assign(shard, {
        holder: request.holder,
        epoch: shard.epoch + 1,
        untilMs: nowMs + request.leaseMs,
        quiet: shard.quietNext,
        quietNext: true,
      });
      mine += 1;
    }
    return this.shards.flatMap(({ epoch, holder, quiet, untilMs }, shard) =>
      holder === request.holder && untilMs > nowMs ? [{ shard, epoch, quiet }] : [],
    );
  }

  #renew(request: Parameters<EngineStore["renewShards"]>[0]): readonly number[] {
    const nowMs = this.#clock.nowMs();
    const kept: number[] = [];
    for (const claim of request.shards) {
      const shard = this.shards[claim.shard];
      if (
        shard === undefined ||
        shard.holder !== request.holder ||
        shard.epoch !== claim.epoch ||
        shard.untilMs <= nowMs
      )
        continue;
      shard.untilMs = nowMs + request.leaseMs;
      kept.push(claim.shard);
    }
    return kept;
  }

  #release(request: Parameters<EngineStore["releaseShards"]>[0]): void {
    for (const claim of request.shards) {
      const shard = this.shards[claim.shard];
      if (shard?.holder === request.holder && shard.epoch === claim.epoch)
        Object.assign(shard, { holder: undefined, untilMs: 0, quietNext: false });
    }
  }

  #holders() {
    const nowMs = this.#clock.nowMs();
    const counts = new Map<string, number>();
    for (const [holder, untilMs] of this.live) if (untilMs > nowMs) counts.set(holder, 0);
    for (const { holder, untilMs } of this.shards)
      if (holder !== undefined && untilMs > nowMs) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    return [...counts]
      .map(([holder, shards]) => ({ holder, shards }))
      .sort((left, right) => (left.holder < right.holder ? -1 : 1));
  }

  #list(request: Parameters<EngineStore["listSubjects"]>[0]): readonly SubjectEntry[] {
    return [...this.subjects.values()]
      .filter(({ id, shard }) => shard === request.shard && id > request.afterId)
      .sort((left, right) => left.id - right.id)
      .slice(0, request.limit);
  }

  #due(request: Parameters<EngineStore["dueSubjects"]>[0]): readonly DueSubject[] {
    const shards = new Set(request.shards);
    const nowMs = this.#clock.nowMs();
    const { after, dueAfterMs } = request;
    return [...this.subjects.values()]
      .flatMap((subject) =>
        subject.dueAtMs !== undefined && subject.dueAtMs <= nowMs && shards.has(subject.shard)
          ? [{ ...subject, dueAtMs: subject.dueAtMs }]
          : [],
      )
      .filter((row) => dueAfterMs === undefined || row.dueAtMs > dueAfterMs)
      .sort(byUrgency)
      .filter((row) => after === undefined || byUrgency(row, after) > 0)
      .slice(0, request.limit);
  }

  #load(id: number): CycleInput | undefined {
    if (this.poisonedLoads.has(id)) throw new Error(`row ${id} does not decode`);
    const subject = this.subjects.get(id);
    if (subject === undefined) return undefined;
    const { accountId, inputVersion, kind, organizationId, shard } = subject;
    return {
      subject: { id, organizationId, resourceUid: `uid-${id}`, accountId, kind, name: `thing-${id}`, shard },
      inputVersion,
      resource: { generation: 1 },
      status: undefined,
      storeNowMs: this.#clock.nowMs(),
    } as unknown as CycleInput;
  }

  #settle(settlement: Settlement) {
    const subject = this.subjects.get(settlement.subject.id);
    const { epoch, holder, shard } = settlement.actor;
    const lease = this.shards[shard];
    if (
      subject === undefined ||
      lease?.holder !== holder ||
      lease.epoch !== epoch ||
      lease.untilMs <= this.#clock.nowMs()
    )
      return { kept: false, dueAgain: false };
    subject.settlements.push(settlement);
    if (settlement.gone) this.subjects.delete(subject.id);
    if (subject.inputVersion > settlement.inputVersion) return { kept: true, dueAgain: true };
    subject.dueAtMs = settlement.nextInMs === undefined ? undefined : this.#clock.nowMs() + settlement.nextInMs;
    subject.priority = "resync";
    return { kept: true, dueAgain: false };
  }
}

function byUrgency(
  left: Pick<DueSubject, "priority" | "dueAtMs" | "id">,
  right: Pick<DueSubject, "priority" | "dueAtMs" | "id">,
): number {
  return (
    PRIORITIES.indexOf(left.priority) - PRIORITIES.indexOf(right.priority) ||
    left.dueAtMs - right.dueAtMs ||
    left.id - right.id
  );
}

export interface LogLine {
  readonly event: string;
  readonly fields: Readonly<Record<string, Json | undefined>>;
}

/** An engine around the fake store: one kind of loop, no accounts, numbered ids and a fixed randomness. */
export function fakeEngine(options: {
  readonly store: EngineStore;
  readonly clock: VirtualClock;
  readonly everySeconds?: number;
  readonly process?: number;
  readonly random?: () => number;
}): { readonly engine: Engine; readonly lines: LogLine[]; readonly forgotten: string[] } {
  const lines: LogLine[] = [];
  const forgotten: string[] = [];
  const write = (event: string, fields: LogLine["fields"] = {}) => void lines.push({ event, fields });
  let ids = 0;
  const engine = {
    store: options.store,
    clock: options.clock,
    random: { next: options.random ?? (() => 0.5) },
    ids: { next: () => `${options.process ?? 1}-${++ids}` },
    log: { debug: write, info: write, warn: write, error: write },
    kinds: new Map([["Thing", { loop: { everySeconds: options.everySeconds ?? 3_600 } }]]),
    accounts: {
      providers: [],
      forget: (accountId: string) => void forgotten.push(accountId),
      takeFreshness: () => [],
    },
  } as unknown as Engine;
  return { engine, lines, forgotten };
}

export function report(
  subjectId: number,
  result: CycleResult = "converged",
  more: Partial<CycleReport> = {},
): CycleReport {
  return {
    subjectId,
    kind: "Thing",
    result,
    sizes: { create: 0, update: 0, replace: 0, delete: 0 },
    written: 0,
    held: 0,
    verdicts: [],
    dueAgain: false,
    nextInMs: undefined,
    idle: true,
    unseen: undefined,
    message: "",
    ...more,
  };
}
