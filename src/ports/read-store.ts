import type { Json, JsonObject } from "./json.ts";
import type {
  AccountPool,
  ActedVia,
  ChangeAction,
  DeclaredResource,
  FieldDifference,
  GuardName,
  Mode,
  Pause,
  PrincipalType,
  ScopePolicy,
  StoredObservation,
  SubjectStatus,
  Verdict,
} from "./records.ts";

/** What the Control API shows. Read only; every method takes a tenant. */
export interface ReadStore {
  listOrganizations(): Promise<readonly { readonly id: string; readonly name: string }[]>;
  listScopes(
    organizationId: string,
  ): Promise<readonly { readonly scope: string; readonly parent: string | undefined }[]>;
  getResource(request: {
    readonly organizationId: string;
    readonly scope: string;
    readonly kind: string;
    readonly name: string;
  }): Promise<ResourceView | undefined>;
  /** One page of a list, with the end of the log as it was before the page was read. */
  listPage(request: ListRequest): Promise<ListPage>;
  /** Those of the named resources that there are, as lists show them. */
  getResources(request: {
    readonly organizationId: string;
    readonly names: readonly { readonly scope: string; readonly kind: string; readonly name: string }[];
  }): Promise<readonly ResourceView[]>;
  resourcesByUid(request: {
    readonly organizationId: string;
    readonly uids: readonly string[];
  }): Promise<readonly ResourceView[]>;
  /** What was said about one resource, newest first, as far as it is sealed and kept. */
  resourceEntries(request: {
    readonly organizationId: string;
    readonly uid: string;
    readonly types: readonly string[] | undefined;
    readonly beforePosition: number | undefined;
    readonly limit: number;
  }): Promise<readonly ResourceEntry[]>;
  logPosition(): Promise<LogPosition>;
  /** Entries of all tenants behind a position, without their data: for the one reader of a process who tells all others. */
  tailEntries(request: { readonly afterPosition: number; readonly limit: number }): Promise<readonly TailEntry[]>;
  tailOfTenant(request: {
    readonly organizationId: string;
    readonly afterPosition: number;
    readonly untilPosition: number;
    readonly limit: number;
  }): Promise<readonly TailEntry[]>;
  /** When the last entry of a tenant up to a position was made; undefined where none is kept. */
  sealedTimeMs(request: { readonly organizationId: string; readonly position: number }): Promise<number | undefined>;
  /** Subjects of one list whose status changed since a time, oldest first. */
  changedStatus(request: {
    readonly organizationId: string;
    readonly scope: string;
    readonly kind: string;
    readonly after: { readonly changedAtMs: number; readonly subjectId: number };
    readonly limit: number;
  }): Promise<readonly ChangedStatus[]>;
  /** The same over several lists at once. */
  changedInLists(request: {
    readonly organizationId: string;
    readonly lists: readonly ListName[];
    readonly after: { readonly changedAtMs: number; readonly subjectId: number };
    readonly limit: number;
  }): Promise<readonly (ChangedStatus & ListName & { readonly name: string })[]>;
  /** Those of the lists that have anything in them, in the order they were named. */
  filledLists(request: {
    readonly organizationId: string;
    readonly lists: readonly ListName[];
  }): Promise<readonly ListName[]>;
  /** How many resources each list of an organization has, and how many are not as they should be. */
  figures(organizationId: string): Promise<readonly ListFigures[]>;
  /** What some resources refer to or are a part of, at most so many of each. */
  relationsFrom(request: {
    readonly organizationId: string;
    readonly uids: readonly string[];
    readonly each: number;
  }): Promise<readonly Relation[]>;
  /** What refers to some resources or is a part of them, at most so many of each. */
  relationsTo(request: {
    readonly organizationId: string;
    readonly names: readonly PlacedName[];
    readonly each: number;
  }): Promise<readonly Relation[]>;
  /** What the first so many resources of some lists refer to or are a part of. */
  relationsOfLists(request: {
    readonly organizationId: string;
    readonly lists: readonly ListName[];
    readonly first: number;
  }): Promise<readonly { readonly from: ListName; readonly to: PlacedName }[]>;
  listAccounts(organizationId: string): Promise<readonly AccountView[]>;
  /** How each account is used: what is left of its budget, and how the looks at it went. */
  accountUse(organizationId: string): Promise<readonly AccountUse[]>;
  listHeldChanges(request: {
    readonly organizationId: string;
    readonly states: readonly HeldChangeState[];
    readonly limit: number;
  }): Promise<readonly HeldChangeView[]>;
  /** Platform pauses are visible to every tenant they cover. */
  listPauses(organizationId: string): Promise<readonly Pause[]>;
  listPolicies(organizationId: string): Promise<readonly ScopePolicy[]>;
  /** The record behind `setpoint why`: newest first, bounded. */
  history(request: {
    readonly organizationId: string;
    readonly uid: string;
    readonly limit: number;
  }): Promise<readonly HistoryEntry[]>;
  observation(request: {
    readonly organizationId: string;
    readonly uid: string;
  }): Promise<readonly (StoredObservation & { readonly accountId: string | undefined })[]>;
  /** Sealed log entries after a position; the cursor is incarnation and position. */
  sealedEntries(request: {
    readonly organizationId: string;
    readonly afterPosition: number;
    readonly limit: number;
  }): Promise<readonly SealedEntry[]>;
  /** Platform figures for the status page and metrics. */
  summary(): Promise<PlatformSummary>;
}

/** The resources of one kind in one scope. */
export interface ListName {
  readonly scope: string;
  readonly kind: string;
}

/** A resource by its place and name; whether there is one is another question. */
export interface PlacedName extends ListName {
  readonly name: string;
}

export interface Relation {
  readonly from: PlacedName & { readonly uid: string };
  readonly to: PlacedName;
}

export interface ListFigures extends ListName {
  readonly total: number;
  readonly deleting: number;
  readonly notReady: number;
  readonly unknown: number;
  readonly drifted: number;
  readonly held: number;
}

export interface SubjectView {
  readonly id: number;
  readonly accountId: string | undefined;
  readonly shard: number;
  readonly inputVersion: number;
  readonly dueAtMs: number | undefined;
  readonly holdOperationId: string | undefined;
  /** What the operation that holds it waits for a person with. */
  readonly needsAttention?: { readonly pipeline: string; readonly message: string } | undefined;
  readonly status: SubjectStatus | undefined;
  /** When this subject's verdict was last confirmed: its own record or its shard's sweep, whichever is newer. */
  readonly confirmedAtMs: number | undefined;
}

export interface ResourceView {
  readonly resource: DeclaredResource;
  readonly revision: number;
  readonly mode: Mode | undefined;
  readonly protect: boolean;
  readonly subjects: readonly SubjectView[];
  /** From the platform down to the resource. */
  readonly policies: readonly ScopePolicy[];
  readonly pauses: readonly Pause[];
  /** Owners by the pointer of the field. */
  readonly fieldOwners: Readonly<Record<string, string>>;
  /** Grows with every change of the status, and only then. */
  readonly statusRevision: number;
}

export interface LabelRequirement {
  readonly key: string;
  readonly op: "in" | "not-in" | "exists" | "absent";
  /** Empty for `exists` and `absent`. */
  readonly values: readonly string[];
}

export interface ListRequest {
  readonly organizationId: string;
  readonly scope: string;
  readonly kind: string;
  readonly labels: readonly LabelRequirement[];
  readonly namePrefix: string | undefined;
  readonly mode: Mode | undefined;
  readonly deleting: boolean | undefined;
  readonly ready: "True" | "False" | "Unknown" | undefined;
  readonly drifted: boolean | undefined;
  readonly held: boolean | undefined;
  readonly sort: "name" | "declaredAt" | "updated";
  readonly descending: boolean;
  readonly after: ListKey | undefined;
  readonly limit: number;
}

/** Where a page ended. */
export interface ListKey {
  readonly name: string;
  readonly ms: number;
  readonly id: string;
}

export interface ListPage {
  readonly views: readonly ResourceView[];
  /** Set when there may be more. A page may be short, even empty, and yet not be the last one. */
  readonly next: ListKey | undefined;
  readonly position: LogPosition;
}

export interface LogPosition {
  readonly incarnation: number;
  readonly position: number;
  /** Entries up to here are no longer kept. */
  readonly cutPosition: number;
  readonly nowMs: number;
}

export interface TailEntry {
  readonly position: number;
  readonly incarnation: number;
  readonly organizationId: string | undefined;
  readonly type: string;
  readonly uid: string | undefined;
  readonly scope: string | undefined;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  readonly revision: number | undefined;
  readonly atMs: number;
}

export interface ResourceEntry {
  readonly position: number;
  readonly type: string;
  readonly revision: number | undefined;
  readonly actor: string;
  readonly data: { readonly [key: string]: Json | undefined };
  readonly atMs: number;
}

export interface ChangedStatus {
  readonly uid: string;
  readonly subjectId: number;
  readonly version: number;
  readonly changedAtMs: number;
}

export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly settings: JsonObject;
  readonly fingerprint: string | undefined;
  readonly claimedIncarnation: number | undefined;
  readonly callsPerSecond: number;
  /** Of one that comes from the operator's pool. */
  readonly pool: AccountPool | undefined;
}

export interface AccountUse {
  readonly id: string;
  readonly credential: "sealed" | "reference" | "none";
  /** Calls that could be made at once when some were last taken. */
  readonly tokens: number;
  readonly tokensAtMs: number;
  /** Nobody calls it before then; 0: nothing stands in the way. */
  readonly blockedUntilMs: number;
  /** How long the last calls took, newest first, and until when. */
  readonly tookMs: readonly number[];
  readonly tookAtMs: number | undefined;
  /** When each of its collections was last listed whole. */
  readonly inventories: readonly { readonly collection: string; readonly completeAtMs: number }[];
  readonly subjects: number;
  readonly failing: number;
  /** Items that are ours there. */
  readonly owned: number;
  readonly oldestLookAtMs: number | undefined;
  readonly lastLookAtMs: number | undefined;
}

export type HeldChangeState = "open" | "approved" | "rejected" | "withdrawn";

export interface HeldChangeView {
  readonly id: string;
  readonly state: HeldChangeState;
  readonly level: "subject" | "account" | "organization" | "platform";
  readonly guard: GuardName;
  readonly digest: string;
  readonly verdict: Verdict;
  readonly openedAtMs: number;
  readonly decidedBy: string | undefined;
  readonly decidedAtMs: number | undefined;
  readonly items: readonly {
    readonly subjectId: number;
    readonly kind: string;
    readonly name: string;
    readonly key: string;
    readonly action: ChangeAction;
    readonly externalId: string | undefined;
    readonly digest: string;
    readonly differences: readonly FieldDifference[];
    readonly reason: string;
  }[];
}

export type HistoryEntry =
  | {
      readonly type: "change";
      readonly atMs: number;
      readonly action: ChangeAction;
      readonly key: string;
      readonly externalId: string | undefined;
      readonly trigger: string;
      readonly differences: readonly FieldDifference[];
      readonly declaredBy: readonly { readonly uid: string; readonly author: string; readonly atMs: number }[];
      readonly verdicts: readonly Verdict[];
      readonly grantId: string | undefined;
      readonly result: "intended" | "done" | "failed" | "ambiguous" | "skipped";
      readonly answer: string | undefined;
    }
  | { readonly type: "verdict"; readonly atMs: number; readonly verdict: Verdict };

/** By what, from where and why something was done, and digests of what was before and after. */
export interface EntryTrail extends Partial<ActedVia> {
  readonly type?: PrincipalType | undefined;
  /** SHA-256 of the canonical JSON. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface SealedEntry {
  readonly incarnation: number;
  readonly position: number;
  readonly organizationId: string;
  readonly type: string;
  readonly uid: string | undefined;
  readonly revision: number | undefined;
  readonly actor: string;
  readonly data: Json;
  readonly trail: EntryTrail | undefined;
  readonly atMs: number;
  /** The entry before it of the same organization, or of the platform. */
  readonly tenantLink: LogPoint | undefined;
  /** Of the entry before it, whosesoever. */
  readonly previousHash: string;
  readonly hash: string;
}

/** A place in the sealed log. */
export interface LogPoint {
  readonly position: number;
  readonly hash: string;
}

export interface PlatformSummary {
  readonly installationId: string;
  readonly incarnation: number;
  readonly schemaVersion: number;
  readonly organizations: number;
  readonly resources: number;
  readonly subjects: number;
  readonly heldOpen: number;
  readonly pausesActive: number;
  /** Operations that wait for a person, or hold their resource for long. */
  readonly operationsAttention: number;
  readonly shardsLeased: number;
  readonly dueNow: number;
  readonly oldestConfirmedAtMs: number | undefined;
}
