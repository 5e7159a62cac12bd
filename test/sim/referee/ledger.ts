import type { Actor, PermitRequest } from "../../../src/ports/engine-store.ts";
import type { BudgetLevel, CycleInput, Limits } from "../../../src/ports/records.ts";
import type { Outside } from "../outside/outside.ts";
import type { SimProcess } from "../process.ts";
import type { SubjectRow } from "../store/rows.ts";
import type { State } from "../store/state.ts";
import { type WantedSet, WantedHistory } from "./wanted.ts";
import type { Look } from "./witness.ts";

/** One cycle of one process over one subject, as far as it can be seen from outside: from its load on. */
export interface CycleTruth {
  readonly loadedAtMs: number;
  readonly wanted: WantedSet | undefined;
  readonly owned: number;
  ungrantedDeletes: number;
  /** Deletes the budgets let through and that have not happened yet. */
  reserved: number;
}

/** A granted permit, with what held at the moment of the grant. */
export interface PermitTruth {
  readonly request: PermitRequest;
  readonly process: SimProcess;
  readonly subject: SubjectRow;
  readonly grantedAtMs: number;
  readonly untilMs: number;
  readonly wanted: WantedSet;
  readonly cycle: CycleTruth | undefined;
  /** Keys whose removal a person approved: by grant, or by confirming the count. */
  readonly approved: ReadonlySet<string>;
  calls: number;
}

/** What the referee knows: the truth outside, the store's tables, and what every process did and learned so far. */
export class Ledger {
  readonly state: State;
  readonly outside: Outside;
  readonly limits: Limits;
  readonly callTimeoutMs: number;
  readonly wanted = new WantedHistory();
  readonly permits = new Map<string, PermitTruth>();
  readonly cycles = new Map<string, CycleTruth>();
  readonly leases = new Map<string, { readonly process: SimProcess; readonly atMs: number; readonly quiet: boolean }>();
  readonly looks = new Map<string, (Look & { readonly process: SimProcess })[]>();
  readonly reads = new Map<string, number>();
  readonly pausedAtMs = new Map<string, number>();
  readonly swappedAtMs = new Map<string, number>();
  readonly readOnlyAtMs = new Map<string, number>();
  /** Since when another installation's sentinel stands in the account. */
  readonly usurpedAtMs = new Map<string, number>();
  readonly revisions = new Map<string, { readonly generation: number; readonly revision: number }>();
  readonly ungranted: { readonly atMs: number; readonly levels: readonly string[] }[] = [];
  readonly mostOwned = new Map<string, number>();
  /** Since when cycles could find that nothing wants a thing of ours, by subject and key. */
  readonly unwantedAtMs = new Map<string, number>();
  /** Resources whose deletion a person has confirmed by count. */
  readonly confirmedUids = new Set<string>();
  /** Things given up on purpose: they stay outside and are nobody's. */
  readonly forgotten = new Set<string>();
  /** After a restore the records of things made since the backup are lost. */
  restored = false;
  /** Before this the accounts may not have been used by anybody yet. */
  steadyFromMs: number;
  /** When a restore last cleared every lease under whoever was already running. */
  leasesClearedAtMs = 0;
  effects = 0;
  loads = 0;
  /** Commits of cycles that changed something; leases, calls and idle counts are not among them. */
  writes = 0;
  lastWrite = "";

  constructor(options: {
    readonly state: State;
    readonly outside: Outside;
    readonly limits: Limits;
    readonly callTimeoutMs: number;
  }) {
    this.state = options.state;
    this.outside = options.outside;
    this.limits = options.limits;
    this.callTimeoutMs = options.callTimeoutMs;
    this.steadyFromMs = this.nowMs + 15_000;
  }

  get nowMs(): number {
    return this.state.nowMs();
  }

  /** The database went back in time: what it has forgotten cannot be held against anybody. */
  forgetSince(): void {
    this.restored = true;
    this.steadyFromMs = this.nowMs + 15_000;
    this.wanted.forget();
    this.unwantedAtMs.clear();
    for (const { id, memory } of this.state.tables.subjects.values()) {
      for (const { key, foundAtMs } of memory.findings) this.unwantedAtMs.set(`${id} ${key}`, foundAtMs);
    }
    this.revisions.clear();
    this.ungranted.length = 0;
  }

  cycle(process: SimProcess, subjectId: number): CycleTruth | undefined {
    return this.cycles.get(`${process.number} ${subjectId}`);
  }

  /** A cycle begins: what it could find unwanted from here on. */
  noteLoad(process: SimProcess, subjectId: number, input: CycleInput | undefined): void {
    this.loads += 1;
    // While everything is paused nobody computes what is wanted.
    const paused = input?.pauses.some((pause) => pause.level === "all") === true;
    const wanted = paused ? undefined : this.wanted.current(subjectId);
    const owned = input?.memory.owned ?? [];
    // What was only meant to be made and never seen is nothing that could be lost.
    // What an operation meant to make may be there: it is looked for before it is taken back.
    const made = input?.memory.made?.length ?? 0;
    const recorded = owned.filter(({ externalId }) => externalId !== undefined).length + made;
    const truth = { loadedAtMs: this.nowMs, wanted, owned: recorded, ungrantedDeletes: 0, reserved: 0 };
    this.cycles.set(`${process.number} ${subjectId}`, truth);
    if (wanted?.known !== true) return;
    for (const { key } of owned) {
      const at = `${subjectId} ${key}`;
      if (!wanted.items.has(key) && !this.unwantedAtMs.has(at)) this.unwantedAtMs.set(at, this.nowMs);
    }
  }

  /** A cycle that did not fail ends: what it saw wanted must be found unwanted anew. */
  noteSettled(process: SimProcess, subjectId: number): void {
    const wanted = this.cycle(process, subjectId)?.wanted;
    if (wanted?.known !== true) return;
    for (const key of wanted.items.keys()) this.unwantedAtMs.delete(`${subjectId} ${key}`);
  }

  subject(uid: string, accountId: string): SubjectRow | undefined {
    for (const row of this.state.tables.subjects.values()) {
      if (row.resourceUid === uid && row.accountId === accountId) return row;
    }
    return undefined;
  }

  addLook(process: SimProcess, accountId: string, look: Look): void {
    const looks = this.looks.get(accountId) ?? [];
    looks.push({ ...look, process });
    if (looks.length > 400) looks.splice(0, 200);
    this.looks.set(accountId, looks);
  }

  /** The largest number of things ever owned at a level: no percentage can have allowed more than of this. */
  noteOwned(): void {
    const sums = new Map<string, number>();
    for (const subject of this.state.tables.subjects.values()) {
      for (const level of levelsOf(subject)) sums.set(level, (sums.get(level) ?? 0) + subject.nowOwned);
    }
    for (const [level, sum] of sums) this.mostOwned.set(level, Math.max(sum, this.mostOwned.get(level) ?? 0));
  }
}

/** Schedulers and workers lease their shards apart. */
export function leaseKey(shard: number, { epoch, operationId }: Pick<Actor, "epoch" | "operationId">): string {
  return `${operationId === undefined ? "scheduler" : "worker"} ${shard} ${epoch}`;
}

export function levelsOf(subject: Pick<SubjectRow, "accountId" | "organizationId">): readonly string[] {
  const account = subject.accountId === undefined ? [] : [`account ${subject.accountId}`];
  return [...account, `organization ${subject.organizationId}`, "platform"];
}

export function levelName(key: string): BudgetLevel {
  return key.startsWith("account") ? "account" : key.startsWith("organization") ? "organization" : "platform";
}
