import type { Json } from "./json.ts";
import type { HeldChangeState, HeldChangeView } from "./read-store.ts";
import type {
  BudgetLevel,
  FieldDifference,
  PlanSummary,
  Principal,
  ScopePolicy,
  StoredPlan,
  SubjectStatus,
  Verdict,
} from "./records.ts";

/** What people see and decide about the rules. Every method takes a tenant, or says that it concerns the platform. */
export interface GovernanceStore {
  /** Held changes of plans, newest first. */
  inbox(request: InboxRequest): Promise<readonly InboxView[]>;
  /** Looser rules and ends of pauses that wait, or waited. `organizationId` undefined: the platform's. */
  governanceChanges(request: {
    readonly organizationId: string | undefined;
    readonly states: readonly HeldChangeState[];
    readonly id?: string | undefined;
    readonly limit: number;
  }): Promise<readonly GovernanceChange[]>;
  /** Asks a person for it. What is asked for already is answered with what waits. */
  propose(request: Proposal): Promise<GovernanceChange>;
  decide(request: GovernanceDecision): Promise<DecisionAnswer>;

  policy(organizationId: string | undefined, scope: string): Promise<VersionedPolicy | undefined>;
  policyHistory(request: {
    readonly organizationId: string | undefined;
    readonly scope: string;
    readonly limit: number;
  }): Promise<readonly PolicyVersion[]>;
  /** Applies at once. Refused when the version is another one, and for a machine: only people make rules. */
  setPolicy(request: {
    readonly organizationId: string | undefined;
    readonly policy: ScopePolicy;
    readonly ifVersion: number;
    readonly author: Principal;
    readonly reason: string | undefined;
  }): Promise<{ readonly result: "set" | "conflict"; readonly version: number }>;

  /** Never to an earlier time: that would be resuming. Undefined: there is no such pause. */
  extendPause(request: {
    readonly id: string;
    readonly organizationId: string | undefined;
    readonly forMs: number;
    readonly author: Principal;
  }): Promise<{ readonly expiresAtMs: number } | undefined>;

  /** One entry per subject of the resource. */
  plansOf(request: { readonly organizationId: string; readonly uid: string }): Promise<readonly SubjectPlan[]>;
  /** What is left to do, oldest first; below a scope, an account or a resource where one is named. */
  leftToDo(request: {
    readonly organizationId: string;
    readonly under: string | undefined;
    readonly kind: string | undefined;
    readonly limit: number;
  }): Promise<readonly LeftToDo[]>;
  /** The plans that are not carried out, oldest first, behind the one that is named. */
  plans(request: {
    readonly organizationId: string;
    readonly kind: string | undefined;
    readonly after: { readonly sinceMs: number; readonly subjectId: number } | undefined;
    readonly limit: number;
  }): Promise<readonly OpenPlan[]>;
  /** Per organization, how much is left to do: what the end of a freeze would set in motion. */
  leftByOrganization(): Promise<
    readonly { readonly organization: string; readonly subjects: number; readonly waiting: number }[]
  >;
  loopActivity(): Promise<readonly LoopActivity[]>;
  /** Figures of the whole platform about what is not done yet. */
  waiting(): Promise<WaitingFigures>;
}

export interface InboxRequest {
  readonly organizationId: string;
  readonly states: readonly HeldChangeState[];
  readonly level?: string | undefined;
  readonly guard?: string | undefined;
  readonly kind?: string | undefined;
  readonly olderThanMs?: number | undefined;
  readonly id?: string | undefined;
  readonly limit: number;
  /** Of each held change: a list shows the first, and counts the others. */
  readonly itemsAtMost: number;
}

export interface InboxView extends Omit<HeldChangeView, "items"> {
  readonly comment: string | undefined;
  /** A policy on the way to one of its subjects asks for another person than these. */
  readonly fourEyes: boolean;
  readonly authors: readonly string[];
  /** Of all of them; the list of items is cut where they are very many. */
  readonly blastRadius: {
    readonly items: number;
    readonly actions: Readonly<Record<string, number>>;
    readonly resources: number;
    readonly accounts: number;
  };
  readonly items: readonly (HeldChangeView["items"][number] & {
    readonly scope: string | undefined;
    readonly accountId: string | undefined;
  })[];
}

/** `declaration`: one that loosens its resource's own mode or protection, where policy asks for four eyes. */
export type GovernanceType = "policy" | "pause-end" | "declaration";

export interface GovernanceChange {
  readonly id: string;
  readonly organizationId: string | undefined;
  readonly scope: string;
  readonly type: GovernanceType;
  readonly state: HeldChangeState;
  readonly digest: string;
  readonly verdict: Verdict;
  readonly differences: readonly FieldDifference[];
  readonly body: Json;
  readonly baseVersion: number;
  readonly author: string;
  readonly authorType: Principal["type"];
  readonly reason: string | undefined;
  readonly openedAtMs: number;
  readonly expiresAtMs: number;
  readonly decidedBy: string | undefined;
  readonly decidedAtMs: number | undefined;
  readonly comment: string | undefined;
  readonly fourEyes: boolean;
}

export interface Proposal {
  readonly organizationId: string | undefined;
  readonly scope: string;
  readonly type: GovernanceType;
  readonly digest: string;
  readonly verdict: Verdict;
  readonly differences: readonly FieldDifference[];
  /** The policy, the id of the pause, or the change that declares it. */
  readonly body: Json;
  /** The version of the policy or the revision of the resource that it is asked for on top of. */
  readonly baseVersion: number;
  readonly author: Principal;
  readonly reason: string | undefined;
  readonly forMs: number;
}

export interface GovernanceDecision {
  readonly organizationId: string | undefined;
  readonly id: string;
  readonly decision: "approve" | "reject" | "withdraw";
  /** What the approver saw; not needed to reject or to take it back. */
  readonly digest: string | undefined;
  /** A person, but for taking something back: whoever proposed it may. */
  readonly approver: Principal;
  readonly comment: string | undefined;
}

export type DecisionAnswer =
  | { readonly result: "approved" | "rejected" | "withdrawn" }
  | { readonly result: "not-found" | "closed" | "refused-principal" | "four-eyes" }
  /** The digest is another one, or the policy was changed since. */
  | { readonly result: "moved"; readonly digest: string };

export interface VersionedPolicy {
  readonly version: number;
  readonly policy: ScopePolicy;
}
export interface PolicyVersion extends VersionedPolicy {
  readonly author: string;
  readonly reason: string | undefined;
  readonly atMs: number;
}

export interface SubjectPlan {
  readonly subjectId: number;
  readonly accountId: string | undefined;
  readonly sinceMs: number | undefined;
  readonly madeAtMs: number | undefined;
  readonly plan: StoredPlan | undefined;
  readonly status: SubjectStatus | undefined;
  /** Held changes that name an item of this subject. */
  readonly heldChanges: readonly string[];
}

export interface LeftToDo {
  readonly subjectId: number;
  readonly accountId: string | undefined;
  readonly uid: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  readonly sinceMs: number;
  /** Undefined: something changed and it was not looked at since. */
  readonly summary: PlanSummary | undefined;
  readonly lookedAtMs: number | undefined;
}

export interface OpenPlan extends LeftToDo {
  readonly summary: PlanSummary;
  readonly madeAtMs: number;
  readonly heldChanges: readonly string[];
}

export interface LoopActivity {
  readonly kind: string;
  readonly subjects: number;
  readonly failing: number;
  /** Cycles that found everything as declared, within the last ten whole minutes. */
  readonly idleCycles: number;
  /** The minute of the first such cycle that is still on record. */
  readonly countedSinceMs: number | undefined;
  readonly lastCycleAtMs: number | undefined;
  /** Every subject that is not failing was looked at since then. */
  readonly sweptSinceMs: number | undefined;
}

export interface WaitingFigures {
  /** Deletes that the last plans wanted and that were not made. */
  readonly pendingDeletes: number;
  /** Subjects with something left to do. */
  readonly left: number;
  readonly failing: number;
  /** When the open held change that has waited for longest was opened. */
  readonly oldestHeldAtMs: number | undefined;
  /** Of each level the scope that was charged most deletes in the last hour, where there is one, and how many things are its own. */
  readonly chargedMost: readonly { readonly level: BudgetLevel; readonly used: number; readonly owned: number }[];
}
