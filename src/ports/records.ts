import type { Json, JsonObject } from "./json.ts";

/** The records that the engine and its store exchange. Plain data: times are epoch milliseconds. */

export type Mode = "observe" | "propose" | "enforce";
export type PauseLevel = "deletes" | "writes" | "all";
/** Who speaks. Only a person may approve, unfreeze or raise a limit. */
export type PrincipalType = "person" | "machine" | "assistant";
export interface Principal {
  readonly name: string;
  readonly type: PrincipalType;
  /** By what and from where; for the audit trail alone. Nothing is decided by it. */
  readonly via?: ActedVia | undefined;
}

export interface ActedVia {
  /** Type and id of the credential; never its value. */
  readonly credential: string;
  readonly address: string;
  readonly requestId: string;
  /** What the caller gave as the reason, where it gave one. */
  readonly reason?: string | undefined;
}

export interface DeleteLimit {
  readonly count: number;
  readonly percent: number;
  readonly atLeast: number;
}
export type BudgetLevel = "account" | "organization" | "platform";

export interface Limits {
  readonly deletesPerCycle: DeleteLimit;
  readonly deletesPerHour: Readonly<Record<BudgetLevel, DeleteLimit>>;
  readonly changesPerCycle: number;
  /** Minimum distance of the two looks that an inferred delete needs. */
  readonly confirmAfterMs: number;
  /** Share (percent) and number of subjects of one account going bad together that make the observer suspect. */
  readonly suspectPercent: number;
  readonly suspectAtLeast: number;
}
export type PartialLimits = {
  readonly [K in keyof Limits]?: K extends "deletesPerHour" ? Partial<Limits["deletesPerHour"]> : Limits[K];
};

/** That a field which differs is left as it is. */
export interface IgnoreRule {
  readonly kind: string;
  /** Of this resource alone; of every one of the kind without it. */
  readonly name?: string | undefined;
  /** Of the item with this key alone. */
  readonly item?: string | undefined;
  /** A JSON pointer inside the item; it covers what is inside the field, and `*` stands for every key or position. */
  readonly field: string;
  readonly reason: string;
  /** RFC 3339, UTC: from then on it is acted upon again. */
  readonly until?: string | undefined;
}

/** What one scope (or one resource) says. Defaults may be changed below; of ceilings the strictest wins. */
export interface ScopePolicy {
  readonly scope: string;
  readonly mode?: Mode | undefined;
  readonly limits?: PartialLimits | undefined;
  readonly ceiling?: PartialLimits | undefined;
  readonly protect?: boolean | undefined;
  readonly fourEyes?: boolean | undefined;
  readonly ignore?: readonly IgnoreRule[] | undefined;
}

export interface Pause {
  readonly id: string;
  /** `platform`, `organization/ID`, `project/ID`, `workspace/ID`, `account/ID` or `resource/UID`. */
  readonly scope: string;
  /** The same as whoever placed it called it: for people alone. */
  readonly on?: string | undefined;
  readonly level: PauseLevel;
  readonly author: string;
  readonly reason: string;
  readonly expiresAtMs: number;
}

export interface SubjectRef {
  readonly id: number;
  readonly organizationId: string;
  readonly resourceUid: string;
  readonly accountId: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly shard: number;
}

export interface ResourceDeletion {
  readonly author: Principal;
  readonly atMs: number;
  /** Forget the outside things instead of deleting them. */
  readonly orphan: boolean;
  /** The number of outside deletes the author has confirmed in the same request: an approval of exactly that many. */
  readonly confirmedCount?: number | undefined;
}

export interface DeclaredResource {
  readonly uid: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  readonly generation: number;
  readonly spec: Json;
  readonly labels: Readonly<Record<string, string>>;
  readonly author: Principal;
  readonly declaredAtMs: number;
  readonly deletion?: ResourceDeletion | undefined;
}

export interface AccountRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly provider: string;
  readonly settings: JsonObject;
  /** Where the credential is (`env:NAME`, `file:PATH`), or itself, sealed to the engine (`sealed:…`). */
  readonly credentialRef: string | undefined;
  /** A second one that can only look. Where it is there, the other one is used for acting alone. */
  readonly readCredentialRef?: string | undefined;
  /** Recorded at onboarding; an account that answers with another one is refused as a whole. */
  readonly fingerprint: string | undefined;
  /** The incarnation under which we last claimed the account; another one than ours needs an approved reclaim. */
  readonly claimedIncarnation: number | undefined;
  /** Of one that comes from the operator's pool. */
  readonly pool?: AccountPool | undefined;
}

export interface AccountPool {
  /** Which one of the pool it has; undefined: none yet, so nothing of it is outside and nobody can be asked. */
  readonly account?: string | undefined;
  /** Where things may be made there, in the provider's own names; empty or undefined: wherever the provider is. */
  readonly locations?: readonly string[] | undefined;
}

/** A resource, at the generation the desired set was computed from. */
export interface SourceRef {
  readonly uid: string;
  readonly generation: number;
}

/**
 * One outside thing that is ours or is about to be.
 * `intended`: the create was permitted and its answer is not known yet. `owned`: its external id is recorded.
 */
export interface OwnedItem {
  readonly key: string;
  readonly state: "intended" | "owned";
  readonly externalId: string | undefined;
  /** Uids of the resources that declared it when it was last written. */
  readonly sources: readonly string[];
  readonly wantedHash: string;
  readonly intendedAtMs: number;
  readonly writtenAtMs: number | undefined;
  /** Set while our marker is missing on the outside thing: no delete until it was seen again. */
  readonly markerMissingSinceMs?: number | undefined;
  readonly protect?: boolean | undefined;
}

/** The first of the two looks that an inferred delete needs; stored, so that a failover does not start over. */
export interface Finding {
  readonly key: string;
  readonly externalId: string;
  readonly foundAtMs: number;
}

/** How often a write of one field succeeded and the next look showed the very same difference. */
export interface Fight {
  readonly key: string;
  readonly field: string;
  readonly wantedHash: string;
  readonly seenHash: string;
  readonly count: number;
  readonly stoppedAtMs?: number | undefined;
}

export interface StoredWanted {
  readonly key: string;
  readonly item: Json;
  readonly sources: readonly SourceRef[];
}

/** What the engine remembers of a subject between cycles. Only the holder of its shard writes it. */
export interface SubjectMemory {
  readonly owned: readonly OwnedItem[];
  readonly findings: readonly Finding[];
  readonly fights: readonly Fight[];
  /** The last good desired set; stands in when the desired set is unknown. */
  readonly lastDesired?: readonly StoredWanted[] | undefined;
  /** Consecutive failures; drives backoff. */
  readonly attempts: number;
  readonly lastWriteAtMs?: number | undefined;
  /** Times the verdict changed back and forth lately; drives `Flapping`. */
  readonly flips: readonly number[];
  /** Items whose write failed for good: no further try until an input changes or an hour passes. */
  readonly stops?: readonly Stop[] | undefined;
  /** The spec of the last write, so that a resource whose spec stopped parsing can still be deleted. */
  readonly lastSpec?: Json | undefined;
  /** What operations made for this subject beside its items. The loop leaves it alone; the subject is not gone before it. */
  readonly made?: readonly MadeThing[] | undefined;
}

/** One outside thing that an operation made or adopted. `intended`: permitted, and its answer is not known. */
export interface MadeThing {
  readonly key: string;
  readonly state: "intended" | "made";
  readonly externalId: string | undefined;
  readonly operationId: string;
  readonly atMs: number;
  /** It was there before. Whoever takes back what the operation did leaves it. */
  readonly adopted?: boolean | undefined;
  /** What was known of it when it was made and cannot be asked for later, by name. It goes with the thing. */
  readonly noted?: Readonly<Record<string, string>> | undefined;
}

export interface Stop {
  readonly key: string;
  readonly inputVersion: number;
  readonly sinceMs: number;
  readonly code: string;
  readonly message: string;
}

export interface StoredObservation {
  readonly hash: string;
  readonly completeness: "complete" | "partial" | "failed";
  readonly observedAtMs: number;
  readonly items: readonly {
    readonly key: string;
    readonly externalId: string;
    readonly item: Json;
    readonly owned: boolean;
  }[];
  /** True when items were left out to keep the record bounded. */
  readonly truncated: boolean;
}

export type ChangeAction = "create" | "update" | "replace" | "delete" | "adopt" | "takeover" | "forget";

export interface FieldDifference {
  /** JSON pointer inside the item. */
  readonly field: string;
  /** Redacted, bounded values for people; never a secret. */
  readonly wanted: Json | undefined;
  readonly seen: Json | undefined;
}

export type GuardName =
  | "mode"
  | "pause"
  | "evidence"
  | "quiet-start"
  | "complete-reads"
  | "account-identity"
  | "empty-desired"
  | "derived-emptiness"
  | "delete-budget"
  | "change-cap"
  | "ownership"
  | "replacement"
  | "protection"
  | "all-or-nothing"
  | "fights"
  | "too-many-at-once"
  | "no-wildcards"
  | "permit"
  | "hold"
  /** Not one that stops anything: it says what a rule of a policy leaves alone. */
  | "ignored";

/** A guard's answer, always with a reason and numbers. */
export interface Verdict {
  readonly guard: GuardName;
  /** `pass` is only recorded where the numbers matter. */
  readonly answer: "pass" | "trim" | "wait" | "hold" | "refuse";
  readonly reason: string;
  readonly numbers: Readonly<Record<string, number>>;
  /** Keys of the items it speaks of; empty means the whole plan. */
  readonly keys: readonly string[];
}

/** One line of the record that `why` reads. Written as intent before the call, completed by its outcome. */
export interface ChangeRecord {
  readonly id: string;
  readonly action: ChangeAction;
  readonly key: string;
  readonly externalId: string | undefined;
  readonly trigger: string;
  readonly differences: readonly FieldDifference[];
  readonly declaredBy: readonly { readonly uid: string; readonly author: string; readonly atMs: number }[];
  readonly verdicts: readonly Verdict[];
  readonly grantId?: string | undefined;
  readonly intendedAtMs: number;
}

export interface ChangeOutcome {
  readonly changeId: string;
  readonly result: "done" | "failed" | "ambiguous" | "skipped";
  readonly externalId?: string | undefined;
  readonly answer: string;
  readonly endedAtMs: number;
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly sinceMs: number;
}

export interface SubjectStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly differences: number;
  readonly owned: number;
  /** Since when the subject is bad (things missing, failing); drives the too-many-at-once guard. */
  readonly badSinceMs?: number | undefined;
  /** Where its outside things are, where its kind says so: what goes bad there together is counted by itself too. */
  readonly site?: string | undefined;
  readonly convergedAtMs?: number | undefined;
  /** When the subject was last seen by a complete look that led to this record. */
  readonly lookedAtMs?: number | undefined;
  /** While failing, the age of the verdict counts from `lookedAtMs` alone. */
  readonly failing: boolean;
  /** Of the plan that is stored, while something is left to do. */
  readonly planHash?: string | undefined;
  /** What the loop reports beside its verdict, in the form its kind documents. */
  readonly report?: Json | undefined;
  /** What other resources may use of it, by field, as the last complete look showed it. */
  readonly values?: PublishedValues | undefined;
  /** Items whose source shows nothing: their last good value stands. Bounded. */
  readonly stale?: readonly { readonly key: string; readonly reason: string; readonly sinceMs: number }[] | undefined;
  /** The last cycles that changed this status, the oldest first. A few: they are for people to look at. */
  readonly cycles?: readonly CycleTrace[] | undefined;
}

/** What one cycle found, and where its time went. */
export interface CycleTrace {
  readonly atMs: number;
  readonly result: string;
  readonly spentMs: { readonly observe: number; readonly diff: number; readonly guard: number; readonly act: number };
  /** Sizes of the diff sets before the guards; a replacement is in both the creates and the deletes. */
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly written: number;
}

export type PublishedValues = Readonly<Record<string, readonly string[]>>;

/** A resource that one of the inputs refers to, with what it shows of itself. */
export interface PublishedSource {
  /** The input that refers to it. */
  readonly inputUid: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  readonly values: PublishedValues;
}

/** What a cycle wanted and has not done. Bounded; there is one only while something is left to do. */
export interface StoredPlan {
  readonly hash: string;
  /** When the look it rests on began. */
  readonly observedAtMs: number;
  readonly completeness: StoredObservation["completeness"];
  readonly summary: PlanSummary;
  readonly items: readonly {
    readonly key: string;
    readonly action: ChangeAction;
    readonly externalId: string | undefined;
    readonly differences: readonly FieldDifference[];
    readonly origin: "declared" | "inferred" | undefined;
    /** Waits for a person. */
    readonly held: boolean;
  }[];
  readonly truncated: boolean;
  readonly verdicts: readonly Verdict[];
}

export interface PlanSummary {
  readonly actions: Readonly<Record<string, number>>;
  readonly held: number;
  /** Those that let less through than was planned. */
  readonly guards: readonly GuardName[];
  /** The first step of the field's pointer; empty where the whole thing is missing or too many. */
  readonly causes: readonly { readonly action: ChangeAction; readonly field: string; readonly count: number }[];
}

/** What people are told of a subject; it is written into the log by the transaction that records it. */
export interface SubjectEvent {
  readonly type: "subject.stalled" | "subject.recovered" | "guard.refused";
  readonly data: Readonly<Record<string, string>>;
}

/** An item that waits for a person. The digest covers action, external id, wanted hash and normalised seen hash. */
export interface HeldItem {
  readonly key: string;
  readonly action: ChangeAction;
  readonly externalId: string | undefined;
  readonly digest: string;
  readonly differences: readonly FieldDifference[];
  readonly reason: string;
}

/** Everything of one subject that waits under one limit. `subject` holds are per subject; the others are shared. */
export interface HeldGroup {
  readonly level: "subject" | BudgetLevel;
  readonly guard: GuardName;
  readonly verdict: Verdict;
  readonly items: readonly HeldItem[];
}

export interface Grant {
  readonly id: string;
  readonly heldChangeId: string;
  readonly itemDigest: string;
  readonly approver: string;
  readonly expiresAtMs: number;
}

export interface Hold {
  readonly operationId: string;
  readonly sinceMs: number;
  readonly reason: string;
}

/** What declaring or deleting the resource had started, and the guards did not let run: what somebody wants is not done. */
export interface Undone {
  readonly operationId: string;
  readonly pipeline: string;
  readonly author: Principal;
  /** Why it did not run. */
  readonly message: string;
  /** What the guards judged by. Where neither has moved they would say the same again. */
  readonly generation: number;
  readonly policyVersion: number;
}

/** Everything a cycle decides from, read in one snapshot. */
export interface CycleInput {
  readonly subject: SubjectRef;
  /** Raised by every change of any input. Deletes and replacements are permitted only at this very version. */
  readonly inputVersion: number;
  /** Raised by changes of mode, credential and limits only. */
  readonly policyVersion: number;
  readonly resource: DeclaredResource;
  /** The resources it is computed from, tombstones included. */
  readonly inputs: readonly DeclaredResource[];
  /** What the resources show that the inputs refer to; only those that show something. */
  readonly published?: readonly PublishedSource[] | undefined;
  /** From the platform down to the resource itself. */
  readonly policies: readonly ScopePolicy[];
  readonly pauses: readonly Pause[];
  readonly hold: Hold | undefined;
  readonly undone?: Undone | undefined;
  /** Somebody's permit was alive at this snapshot: its outcome may still change the memory. */
  readonly busy?: boolean | undefined;
  readonly account: AccountRecord | undefined;
  readonly memory: SubjectMemory;
  readonly status: SubjectStatus | undefined;
  readonly observationHash: string | undefined;
  readonly grants: readonly Grant[];
  /** Digest of what is recorded as waiting now, so that an unchanged hold writes nothing. */
  readonly heldDigest: string | undefined;
  /** Whether an edge or a backoff is stored that settle must clear. */
  readonly dueStored: boolean;
  /** The stored due time itself, so that settle can tell a wake that came since. */
  readonly dueAtMs?: number | undefined;
  readonly installation: { readonly id: string; readonly incarnation: number };
  /** The store's clock at this snapshot. What is remembered is stamped in store time, so that skewed processes agree. */
  readonly storeNowMs: number;
}
