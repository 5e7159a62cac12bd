import type { Actor, Priority, ShardLeases } from "./engine-store.ts";
import type { Json } from "./json.ts";
import type { AccountRecord, Principal, Undone } from "./records.ts";

/**
 * What the worker asks of its store. Like the engine's port it is small and has an in-memory twin: every method is one
 * transaction, durations are passed and never deadlines, and a lost answer means "perhaps".
 */
export interface OperationStore {
  /** The shards of operations, leased among workers like those of subjects among schedulers. */
  takeWorkerShards: ShardLeases["takeShards"];
  renewWorkerShards: ShardLeases["renewShards"];
  releaseWorkerShards: ShardLeases["releaseShards"];
  workerShardHolders: ShardLeases["shardHolders"];
  /**
   * Operations whose next step may begin: urgent ones first; then a turn for each tenant, and within a tenant for each
   * account; then by due time and id.
   */
  dueOperations(request: {
    readonly shards: readonly number[];
    readonly limit: number;
  }): Promise<readonly DueOperation[]>;
  /** The operation with its journal; undefined when there is none. Implementations batch concurrent loads. */
  loadOperation(request: OperationRef): Promise<OperationWithJournal | undefined>;
  /** An account of the organization by its name, for steps that reach further than where the resource lives; undefined: none. */
  findAccount(request: { readonly organizationId: string; readonly name: string }): Promise<AccountRecord | undefined>;
  /**
   * Subjects of a kind whose resources were declared in the scope of this one's resource or above it, and that live at its account:
   * what an operation is for concerns them. In the order of their ids.
   */
  subjectsAround(request: AroundSubject): Promise<readonly number[]>;
  /** Makes these due now, as an event does. */
  wakeAround(request: AroundSubject): Promise<void>;
  /** Appends to the journal and says how the operation stands now, if the lease is current and nobody has written since. */
  recordMove(move: OperationMove): Promise<MoveAnswer>;
}

export interface AroundSubject {
  readonly organizationId: string;
  readonly subjectId: number;
  readonly kind: string;
}

/** How people and programs start and steer operations. */
export interface OperationIntents {
  /**
   * The operation, its place in the queue and its hold on the resource, in one transaction. A resource has one operation at a
   * time: asked again, the running one is the answer.
   */
  startOperation(request: StartOperation): Promise<StartAnswer>;
  /** A person's word to an operation. Refused when it does not stand as the caller saw it. */
  steerOperation(request: SteerOperation): Promise<SteerAnswer>;
}

export interface OperationReads {
  listOperations(request: {
    readonly organizationId: string;
    readonly uid?: string | undefined;
    readonly states?: readonly OperationState[] | undefined;
    readonly limit: number;
    /** Continues behind this id; the newest come first. */
    readonly before?: string | undefined;
    /** Only what waits for a person, or has held its resource for longer than this. */
    readonly needingAttention?: { readonly holdsForMs: number } | undefined;
    /** Only on resources there; without a kind, of all kinds. */
    readonly within?: readonly { readonly scope: string; readonly kind?: string | undefined }[] | undefined;
  }): Promise<readonly OperationView[]>;
  findOperation(
    request: OperationRef,
  ): Promise<(OperationView & { readonly journal: readonly JournalEntry[] }) | undefined>;
  /** Where those of some operations that are due stand in the queue of all tenants; figures alone. */
  queuePlaces(ids: readonly string[]): Promise<ReadonlyMap<string, QueuePlace>>;
}

export interface QueuePlace {
  /** Operations that are due before it, of whomever, as the worker takes them. */
  readonly ahead: number;
  /** Those of its own organization among them. */
  readonly aheadOwn: number;
  /** Whether a living worker has its shard. */
  readonly worked: boolean;
}

export interface OperationRef {
  readonly organizationId: string;
  readonly operationId: string;
}

/**
 * `running`: it has something to do, now or at its due time. `held`: its plan waits for approval. `attention`: it waits for a
 * person. The others are ends: `not-run` when it was not admitted, `cancelled` when what it had made was taken back.
 */
export type OperationState = "running" | "held" | "attention" | "succeeded" | "not-run" | "cancelled";
export type Direction = "forward" | "back";

export interface OperationRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly pipeline: string;
  /** An operation finishes on the version it started with. */
  readonly version: number;
  readonly subjectId: number;
  readonly resourceUid: string;
  readonly kind: string;
  readonly name: string;
  readonly accountId: string | undefined;
  readonly shard: number;
  readonly priority: Priority;
  readonly input: Json;
  readonly author: Principal;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly state: OperationState;
  readonly direction: Direction;
  /** The step it is at. */
  readonly step: string | undefined;
  /** Failed attempts at that step. */
  readonly attempts: number;
  /** What it does or waits for, in words for people. */
  readonly message: string;
  /** Somebody asked it to stop. */
  readonly cancel: { readonly author: string; readonly atMs: number; readonly reason: string } | undefined;
  /** Undefined while it waits for a person, and at its end. */
  readonly dueAtMs: number | undefined;
  /** Raised by every write. */
  readonly revision: number;
}

/** How an operation stands, and what matters to it now. */
export interface OperationStanding {
  readonly operation: OperationRecord;
  /** The store's clock at this snapshot. */
  readonly storeNowMs: number;
  /** Why nothing may be written at the moment, if a pause of writes or of everything covers the subject. */
  readonly paused: string | undefined;
  /** The resource is being deleted. */
  readonly leaving: boolean;
}
export interface OperationWithJournal extends OperationStanding {
  readonly journal: readonly JournalEntry[];
  /** Of the resource's kind there are more in its organization than there may be; undefined: there are not. */
  readonly overQuota?: { readonly most: number; readonly used: number } | undefined;
}

/**
 * `done`: with its output, and never run again. `skipped`: by a person. `begun`: a wait that began then. `failed`: one attempt.
 * `noted`: progress, in words. `again`: a person wants the step and what follows it run again. `moved`: an input moved, so the
 * admission no longer counts.
 */
export type EntryResult = "done" | "skipped" | "begun" | "failed" | "noted" | "again" | "moved";

export interface NewEntry {
  readonly step: string;
  readonly version: number;
  readonly direction: Direction;
  readonly result: EntryResult;
  readonly attempt?: number | undefined;
  readonly input?: Json | undefined;
  readonly output?: Json | undefined;
  readonly message?: string | undefined;
  readonly code?: string | undefined;
  readonly tookMs?: number | undefined;
}
export interface JournalEntry extends NewEntry {
  readonly place: number;
  readonly atMs: number;
}

export interface DueOperation {
  readonly organizationId: string;
  readonly operationId: string;
  readonly shard: number;
  readonly accountId: string | undefined;
  readonly priority: Priority;
  readonly dueAtMs: number;
}

export interface OperationMove {
  readonly actor: Actor & { readonly operationId: string };
  readonly organizationId: string;
  /** How many entries the journal has: what somebody else appended since it was read is not written over. */
  readonly journalLength: number;
  /** What was not written at once says how long ago it came about. */
  readonly entries: readonly (NewEntry & { readonly agoMs?: number | undefined })[];
  /** How long ago the turn began: the first one is when the operation began. */
  readonly turnMs: number;
  readonly state: OperationState;
  /** It does not end when somebody asked it to stop meanwhile, or its resource leaves: then it is due again at once. */
  readonly yieldsTo: { readonly cancel: boolean; readonly leaving: boolean };
  readonly direction: Direction;
  readonly step: string | undefined;
  readonly attempts: number;
  readonly message: string;
  /** Undefined: nothing to do before a person says so, or at all. */
  readonly dueInMs: number | undefined;
  /** When it ends as not run, although declaring or deleting the resource had started it: what the guards judged by. */
  readonly undone?: Pick<Undone, "generation" | "policyVersion"> | undefined;
  /** What is started on the same resource in the same transaction, when this one ends with it. */
  readonly next?: OperationStart | undefined;
}
export type MoveAnswer =
  | { readonly kept: false }
  | (OperationStanding & { readonly kept: true; readonly entries: readonly JournalEntry[] });

export interface StartOperation extends OperationRef {
  readonly resourceUid: string;
  readonly pipeline: string;
  readonly version: number;
  readonly input: Json;
  readonly author: Principal;
  readonly priority: Priority;
  /** Whether it is for a resource that is being deleted, or for one that is not. */
  readonly ends: boolean;
}
/** One that is started together with something else, on the resource that this is about. */
export type OperationStart = Omit<StartOperation, "organizationId" | "resourceUid">;
export type StartAnswer =
  | { readonly result: "started" | "running"; readonly operation: OperationRecord }
  | { readonly result: "not-found" | "leaving" | "not-leaving" | "several-accounts" | "held-by-another" };

export type SteerCommand =
  /** To stop at its next step, and to take back what it made. */
  | { readonly verb: "cancel" }
  /** To go on after it waited for a person. */
  | { readonly verb: "resume" }
  /** To go back to a step, and go on from there. */
  | { readonly verb: "retry"; readonly step: string }
  /** To leave the step it waits at undone. */
  | { readonly verb: "skip"; readonly step: string }
  /** To give the resource back to its loop as it is, and end. */
  | { readonly verb: "release" };

export interface SteerOperation extends OperationRef {
  readonly command: SteerCommand;
  /** The version of the step that is skipped or retried, for the journal. */
  readonly stepVersion?: number | undefined;
  readonly ifRevision?: number | undefined;
  readonly author: Principal;
  readonly reason: string;
}
export type SteerAnswer =
  | { readonly result: "done"; readonly operation: OperationRecord }
  | { readonly result: "not-found" | "ended" | "not-waiting" | "moved" };

export interface OperationView extends OperationRecord {
  /** That of its resource when it began. */
  readonly scope: string;
  /** Since when it holds its resource; undefined when it does not. */
  readonly holdSinceMs: number | undefined;
}
