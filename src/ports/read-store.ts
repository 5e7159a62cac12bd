import type { Json, JsonObject } from "./json.ts";
import type {
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
  listResources(request: {
    readonly organizationId: string;
    readonly scope: string;
    readonly kind: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly afterName: string | undefined;
    readonly limit: number;
  }): Promise<readonly ResourceView[]>;
  getResource(request: {
    readonly organizationId: string;
    readonly scope: string;
    readonly kind: string;
    readonly name: string;
  }): Promise<ResourceView | undefined>;
  listAccounts(organizationId: string): Promise<readonly AccountView[]>;
  listHeldChanges(request: {
    readonly organizationId: string;
    readonly states: readonly HeldChangeState[];
    readonly limit: number;
  }): Promise<readonly HeldChangeView[]>;
  getHeldChange(request: { readonly organizationId: string; readonly id: string }): Promise<HeldChangeView | undefined>;
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

export interface SubjectView {
  readonly id: number;
  readonly accountId: string | undefined;
  readonly shard: number;
  readonly inputVersion: number;
  readonly dueAtMs: number | undefined;
  readonly holdOperationId: string | undefined;
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
}

export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly settings: JsonObject;
  readonly fingerprint: string | undefined;
  readonly claimedIncarnation: number | undefined;
  readonly callsPerSecond: number;
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
  readonly shardsLeased: number;
  readonly dueNow: number;
  readonly oldestConfirmedAtMs: number | undefined;
}
