import type { OperationStart } from "./operation-store.ts";
import type {
  BudgetLevel,
  ChangeOutcome,
  ChangeRecord,
  CycleInput,
  DeleteLimit,
  HeldGroup,
  SourceRef,
  StoredObservation,
  StoredPlan,
  SubjectEvent,
  SubjectMemory,
  SubjectRef,
  SubjectStatus,
  Undone,
  Verdict,
} from "./records.ts";

/** Leases of shards among the processes of one role: schedulers share the subjects so, and workers the operations. */
export interface ShardLeases {
  /**
   * Takes free or expired shards up to `wanted` in all, and says which this holder has. Taking an expired or never held shard raises
   * its epoch. Whoever asks counts as a live holder for `leaseMs`, also when nothing was free: the others then hand over.
   */
  takeShards(request: {
    readonly holder: string;
    readonly wanted: number;
    readonly leaseMs: number;
  }): Promise<readonly ShardLease[]>;
  /** One statement for all. Answers with the shards that are still ours; a shard left out is lost. */
  renewShards(request: {
    readonly holder: string;
    readonly leaseMs: number;
    readonly shards: readonly ShardClaim[];
  }): Promise<readonly number[]>;
  /** Orderly hand-over: the next holder's start is not a quiet start. */
  releaseShards(request: { readonly holder: string; readonly shards: readonly ShardClaim[] }): Promise<void>;
  /** The live holders and how many shards each has, those without any included; for fair shares. */
  shardHolders(): Promise<readonly { readonly holder: string; readonly shards: number }[]>;
}

/**
 * The engine's store port: small, reviewed, and the only one with an in-memory twin for the simulation.
 * Every method is one transaction: it happens whole or not at all, and a lost answer means "perhaps".
 * Durations are passed, never deadlines: the store has its own clock, so that skewed processes cannot disagree on a lease.
 */
export interface EngineStore extends ShardLeases {
  /** Subjects of a shard for the timers, by id, in pages. */
  listSubjects(request: {
    readonly shard: number;
    readonly afterId: number;
    readonly limit: number;
  }): Promise<readonly SubjectEntry[]>;
  /**
   * Stored edges and backoffs that are due, most urgent first (then by due time and id). Subjects made since the last listing appear
   * here too. `dueAfterMs` leaves out what was due at that time already; `after` continues behind the last row of a page. Both keep a
   * poll as small as its news while a hundred thousand known subjects wait for their turn.
   */
  dueSubjects(request: {
    readonly shards: readonly number[];
    readonly limit: number;
    readonly dueAfterMs?: number | undefined;
    readonly after?: Pick<DueSubject, "priority" | "dueAtMs" | "id"> | undefined;
  }): Promise<readonly DueSubject[]>;

  /** Everything a cycle decides from; undefined when the subject is gone. Implementations batch concurrent loads. */
  /** Whoever knows the subject's organization says it, and saves the store looking for it. */
  load(subjectId: number, organizationId?: string): Promise<CycleInput | undefined>;
  /**
   * Of the subjects of an account: how many there are, and how many are bad that went so within the window around one of the times
   * (by the minute), for the time around which they are most. Accounts of many subjects are counted now and then: of 300,000 the
   * answer may be some seconds old. The same of those at one site of it, where one is named.
   */
  accountHealth(request: {
    readonly accountId: string;
    readonly site?: string | undefined;
    readonly aroundMs: readonly number[];
    readonly windowMs: number;
  }): Promise<Health & { readonly atSite?: Health | undefined }>;

  /** Reserves deletes at every level at once, before the first delete. What is granted passes and is charged all the same. */
  reserveDeletes(request: DeleteReservation): Promise<DeleteReservationAnswer>;
  /** The fence: the right to make one external call now, with its intent recorded in the same transaction. */
  permit(request: PermitRequest): Promise<PermitAnswer>;
  /** Ends the permit and records the outcome between two calls of one cycle. False when the lease was lost. */
  recordOutcome(request: OutcomeRecord): Promise<boolean>;
  /** Ends the cycle. Writes only what is given. */
  settle(settlement: Settlement): Promise<SettleAnswer>;

  /**
   * Takes calls out of the account's budget; a fifth is reserved for people. How long earlier calls took is kept with it, the newest
   * of them, when some are taken.
   */
  takeCalls(request: {
    readonly accountId: string;
    readonly wanted: number;
    readonly forPerson: boolean;
    /** In milliseconds, in the order they ended. */
    readonly tookMs: readonly number[];
  }): Promise<{ readonly taken: number; readonly retryInMs: number }>;
  /** A 429 or Retry-After seen by anyone blocks for all. */
  blockCalls(request: { readonly accountId: string; readonly forMs: number }): Promise<void>;

  /** Freshness per account and collection, and idle cycles per loop, in batches. */
  recordIdle(request: IdleBatch): Promise<void>;
  /** Things outside that are on record as ours at an account, at most so many, in the order of their ids. */
  recordedThings(request: { readonly accountId: string; readonly atMost: number }): Promise<readonly RecordedThing[]>;
  recordAccount(request: {
    readonly accountId: string;
    readonly fingerprint: string;
    readonly claimedIncarnation: number;
  }): Promise<void>;
  /**
   * Claims an account of the operator's pool for the account that a subject lives at, unless it has one, and wakes what lives there.
   * One claimant each, whoever asks at the same time; a lost answer is found by loading the subject again.
   */
  dock(request: {
    readonly actor: Actor;
    readonly subject: SubjectRef;
    /** Where something is to be made there, in the provider's own name; undefined: anywhere. */
    readonly location: string | undefined;
  }): Promise<DockAnswer>;
}

export type DockAnswer =
  | { readonly result: "claimed"; readonly poolAccount: string }
  /** It has one already, or is no account of the pool. */
  | { readonly result: "docked" }
  | { readonly result: "none-free" }
  /** The lease is somebody else's. */
  | { readonly result: "lost" };

export interface RecordedThing {
  readonly kind: string;
  readonly externalId: string;
}

export interface ShardClaim {
  readonly shard: number;
  readonly epoch: number;
}
export interface ShardLease extends ShardClaim {
  /** False after an orderly hand-over: then nothing was missed and the quiet start does not apply. */
  readonly quiet: boolean;
}

export type Priority = "person" | "event" | "first" | "resync";

export interface SubjectEntry {
  readonly id: number;
  readonly kind: string;
  readonly organizationId: string;
  readonly accountId: string | undefined;
}
export interface DueSubject extends SubjectEntry {
  readonly shard: number;
  readonly priority: Priority;
  readonly dueAtMs: number;
}

export interface Actor {
  readonly holder: string;
  readonly shard: number;
  readonly epoch: number;
  /** Set for a worker: the lease is then that of the operation's shard among the workers, and the operation has the hold. */
  readonly operationId?: string | undefined;
}

export interface DeleteReservation {
  readonly actor: Actor;
  readonly subject: SubjectRef;
  /** Deletes nobody approved: all pass at every level or none does. */
  readonly ungranted: number;
  /** Approved deletes: they pass and are charged. */
  readonly granted: number;
  readonly limits: Readonly<Record<BudgetLevel, DeleteLimit>>;
}
export interface DeleteReservationAnswer {
  /** False when the actor's lease is not current: nothing was charged. */
  readonly current: boolean;
  readonly ungrantedPass: boolean;
  readonly levels: readonly {
    readonly level: BudgetLevel;
    readonly used: number;
    readonly owned: number;
    readonly allowed: number;
  }[];
}

/** What must not have moved since the plan was made. */
export type PermitInputs =
  | { readonly check: "version"; readonly inputVersion: number }
  | { readonly check: "sources"; readonly sources: readonly SourceRef[]; readonly policyVersion: number };

export interface PermitRequest {
  /** Chosen by the caller, so that a lost answer can be told from a refusal. */
  readonly permitId: string;
  readonly actor: Actor;
  readonly subject: SubjectRef;
  readonly inputs: PermitInputs;
  /** Whether the call removes anything: a pause of deletes then covers it. */
  readonly deletes: boolean;
  /** The permit lives for the call's timeout plus a margin. */
  readonly forMs: number;
  readonly changes: readonly ChangeRecord[];
  /** The subject's memory with the intents of this call in it. */
  readonly memory: SubjectMemory;
  /** Each usable once; consumed here. */
  readonly grantIds: readonly string[];
}
export type PermitRefusal = "lease" | "inputs" | "paused" | "held" | "busy" | "grant" | "gone";
export type PermitAnswer =
  | { readonly granted: true }
  | { readonly granted: false; readonly refusal: PermitRefusal; readonly detail: string };

/** Of some subjects: how many there are, and how many of them went bad together. */
export interface Health {
  readonly subjects: number;
  readonly bad: number;
}

export interface OutcomeRecord {
  readonly actor: Actor;
  readonly subject: SubjectRef;
  readonly permitId: string;
  readonly outcomes: readonly ChangeOutcome[];
  readonly memory: SubjectMemory;
  /** Outside things claimed and given up by this call; a claim of another subject is refused as a second claimant. */
  readonly claims: readonly { readonly externalId: string; readonly key: string }[];
  readonly releases: readonly string[];
}

export interface Settlement {
  readonly actor: Actor;
  readonly subject: SubjectRef;
  /** The version the cycle decided from: an edge that came later stays due. */
  readonly inputVersion: number;
  /** The version the memory was read at: a hold that ended since then may have changed it, and it is not written over. */
  readonly policyVersion?: number | undefined;
  /** The due time in the snapshot: one that was set since then (an approval, the end of a pause) stays. */
  readonly dueSeen?: { readonly atMs: number | undefined } | undefined;
  readonly memory?: SubjectMemory | undefined;
  readonly observation?: StoredObservation | undefined;
  readonly status?: SubjectStatus | undefined;
  /** Its values are others than before: whatever is computed from resources that refer to it becomes due, in the same transaction. */
  readonly publishes?: boolean | undefined;
  /** What is left to do, when that changed; "none" when nothing is any more. */
  readonly plan?: StoredPlan | "none" | undefined;
  /** What people are told of it. */
  readonly events?: readonly SubjectEvent[] | undefined;
  /** Everything of this subject that waits for a person, replacing what was recorded before; undefined leaves it. */
  readonly held?: { readonly digest: string; readonly groups: readonly HeldGroup[] } | undefined;
  /** Refusals and waits worth a line in the record. */
  readonly verdicts: readonly Verdict[];
  /** Undefined: nothing stored, the periodic timer is enough. */
  readonly nextInMs?: number | undefined;
  /** The subject's resource was deleted and nothing of ours is left outside: forget both. */
  readonly gone: boolean;
  /** Tombstones of inputs that no owned item refers to any more. */
  readonly forgetSources: readonly string[];
  /**
   * What was left undone is started again, in the same transaction and once: not when somebody has started it meanwhile, and not
   * when an input moved, because then the next cycle decides.
   */
  readonly startsAgain?: { readonly instead: Undone["operationId"]; readonly start: OperationStart } | undefined;
  /** Items of ours outside, for the delete budgets; undefined leaves the recorded number. */
  readonly nowOwned: number | undefined;
}
export interface SettleAnswer {
  /** False: the lease was lost and nothing was written. */
  readonly kept: boolean;
  /** An input moved during the cycle: run again at once. */
  readonly dueAgain: boolean;
}

export interface IdleBatch {
  readonly holder: string;
  readonly cycles: readonly { readonly kind: string; readonly minuteMs: number; readonly count: number }[];
  readonly freshness: readonly {
    readonly accountId: string;
    readonly collection: string;
    readonly completeAtMs: number;
  }[];
  /** Every subject of the shard that is not failing was looked at completely after this time: the age of idle verdicts. */
  readonly seen: readonly { readonly shard: number; readonly sinceMs: number }[];
  /** The same of the subjects of one kind in the shard: loops of a minute are not as old as those of an hour beside them. */
  readonly loopsSeen: readonly { readonly shard: number; readonly kind: string; readonly sinceMs: number }[];
}
