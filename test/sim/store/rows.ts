import type { PoolAccount, PoolAccountState } from "../../../src/ports/pool-store.ts";
import type { Priority } from "../../../src/ports/engine-store.ts";
import type { Json } from "../../../src/ports/json.ts";
import type {
  AccountRecord,
  BudgetLevel,
  ChangeOutcome,
  ChangeRecord,
  GuardName,
  HeldItem,
  Hold,
  Mode,
  Pause,
  Principal,
  ResourceDeletion,
  StoredObservation,
  SubjectMemory,
  SubjectStatus,
  Undone,
  Verdict,
} from "../../../src/ports/records.ts";
import type { JournalEntry, OperationRecord } from "../../../src/ports/operation-store.ts";
import type { HeldChangeState } from "../../../src/ports/read-store.ts";

/** The rows of the in-memory twin. Rows are mutable; the records inside them are replaced, never changed in place. */

export interface ScopeRow {
  readonly scope: string;
  readonly parent: string;
  readonly organizationId: string;
}

export interface PoolRow extends PoolAccount {
  state: PoolAccountState;
  organizationId: string | undefined;
  accountId: string | undefined;
}

export interface AccountRow {
  record: AccountRecord;
  callsPerSecond: number;
  tokens: number;
  tokensAtMs: number;
  /** How long the last calls took, newest first. */
  tookMs: readonly number[];
  tookAtMs: number | undefined;
  blockedUntilMs: number;
}

export interface LinkTarget {
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
}

export interface ResourceRow {
  readonly uid: string;
  readonly organizationId: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  spec: Json;
  labels: Readonly<Record<string, string>>;
  author: Principal;
  mode: Mode | undefined;
  protect: boolean | undefined;
  generation: number;
  revision: number;
  declaredAtMs: number;
  deletion: ResourceDeletion | undefined;
  links: readonly LinkTarget[];
  /** Only where it refers to something. */
  refers?: readonly LinkTarget[];
}

export interface SubjectRow {
  readonly id: number;
  readonly organizationId: string;
  readonly resourceUid: string;
  readonly accountId: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly shard: number;
  dueAtMs: number | undefined;
  priority: Priority;
  inputVersion: number;
  policyVersion: number;
  permit: { readonly id: string; readonly untilMs: number } | undefined;
  hold: Hold | undefined;
  undone: Undone | undefined;
  memory: SubjectMemory;
  status: SubjectStatus | undefined;
  observation: StoredObservation | undefined;
  heldDigest: string | undefined;
  nowOwned: number;
  /** Set when the resource no longer names this subject's account: the subject leaves although the resource stays. */
  detached: ResourceDeletion | undefined;
}

export interface PauseRow extends Pause {
  readonly organizationId: string | undefined;
}

export interface HeldChangeRow {
  readonly id: string;
  readonly organizationId: string;
  readonly level: "subject" | BudgetLevel;
  readonly scopeKey: string;
  readonly openedAtMs: number;
  state: HeldChangeState;
  digest: string;
  readonly guard: GuardName;
  verdict: Verdict;
  authors: readonly string[];
  items: readonly (HeldItem & { readonly subjectId: number })[];
  decidedBy: string | undefined;
  decidedAtMs: number | undefined;
}

export interface GrantRow {
  readonly id: string;
  readonly heldChangeId: string;
  readonly subjectId: number;
  readonly itemDigest: string;
  readonly approver: string;
  readonly expiresAtMs: number;
  usedAtMs: number | undefined;
}

export interface ClaimRow {
  readonly accountKey: string;
  readonly externalId: string;
  readonly subjectId: number;
  readonly key: string;
}

export interface BudgetRow {
  readonly level: BudgetLevel;
  readonly scopeKey: string;
  /** Minute number to deletes charged in that minute. */
  buckets: ReadonlyMap<number, number>;
  owned: number;
  ownedAtMs: number;
}

export interface ShardRow {
  readonly shard: number;
  holder: string | undefined;
  epoch: number;
  untilMs: number;
  /** Whether the present lease began with a quiet start, and whether the next one will. */
  quiet: boolean;
  quietNext: boolean;
}

export interface ChangeRow {
  readonly record: ChangeRecord;
  readonly subjectId: number;
  readonly resourceUid: string;
  readonly organizationId: string;
  readonly permitId: string;
  readonly atMs: number;
  outcome: ChangeOutcome | undefined;
}

export interface VerdictRow {
  readonly subjectId: number;
  readonly resourceUid: string;
  readonly organizationId: string;
  readonly atMs: number;
  readonly verdict: Verdict;
}

export type OperationRow = { -readonly [Name in keyof OperationRecord]: OperationRecord[Name] } & {
  journal: readonly JournalEntry[];
};
