import type { IdempotencyScope, StoredAnswer } from "./idempotency-store.ts";
import type { DeclareRequest } from "./intent-store.ts";
import type { OperationStart } from "./operation-store.ts";
import type {
  BudgetLevel,
  CycleInput,
  DeclaredResource,
  FieldDifference,
  Principal,
  StoredObservation,
} from "./records.ts";

/** A resource that another one needs: it must exist in the same tenant and not be on its way out. */
export interface ResourceReference {
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
  /** Where the spec names it. */
  readonly pointer: string;
  /** The one that names it is a part of it: then its links say so, and it need not be remembered a second time. */
  readonly part: boolean;
}

export interface DeclareChange {
  readonly action: "declare";
  readonly declare: DeclareRequest;
  readonly references: readonly ResourceReference[];
  /** Started in the transaction of the change, unless nothing changes. */
  readonly starts?: OperationStart | undefined;
  /** An account of the operator's pool that is added with it, unless there is one of that id. */
  readonly pooled?: { readonly id: string; readonly name: string; readonly provider: string } | undefined;
}

export interface DeleteChange {
  readonly action: "delete";
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined: whatever the revision is. */
  readonly ifRevision: number | undefined;
  /** Its spec must be the one that the deletion was decided on; given by whoever knows no revision. */
  readonly ifGeneration?: number | undefined;
  readonly author: Principal;
  readonly orphan: boolean;
  readonly confirmedCount: number | undefined;
  readonly starts?: OperationStart | undefined;
}

export type Change = DeclareChange | DeleteChange;

export interface ResourceName {
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
}

export type ChangeDone =
  | {
      readonly result: "created" | "changed" | "unchanged";
      readonly resource: DeclaredResource;
      readonly revision: number;
      /** The operation that it started, or that runs already. */
      readonly operationId?: string | undefined;
    }
  | {
      readonly result: "deleting";
      readonly uid: string;
      readonly revision: number;
      readonly operationId?: string | undefined;
    };

export type ChangeRefusal =
  /** Another revision stands there than the one that was expected; 0: nothing does. */
  | { readonly result: "conflict"; readonly revision: number; readonly uid: string | undefined }
  | { readonly result: "being-deleted" | "not-found" }
  | { readonly result: "references"; readonly invalid: readonly InvalidReference[] }
  | { readonly result: "in-use"; readonly users: readonly ResourceUser[]; readonly more: boolean }
  | { readonly result: "quota"; readonly kind: string; readonly most: number; readonly used: number }
  /** It loosens what its resource says of itself, and policy asks for another person to allow that. */
  | FourEyesRefusal
  /** The proposal that it belongs to is not approved, or not any more, or not with this digest. */
  | { readonly result: "not-approved" };

export interface FourEyesRefusal {
  readonly result: "four-eyes";
  readonly uid: string;
  /** The revision that stands. */
  readonly revision: number;
  readonly loosened: readonly FieldDifference[];
}

export interface InvalidReference extends ResourceReference {
  readonly because: "missing" | "deleting";
}

export interface ResourceUser extends ResourceName {
  /** It is a part of what is to be deleted, not merely a user. */
  readonly part: boolean;
}

export type ChangeAnswer =
  | { readonly made: true; readonly done: readonly ChangeDone[] }
  /** Nothing was written, because of the change at this place. */
  | { readonly made: false; readonly at: number; readonly refusal: ChangeRefusal };

/** A subject as it would be after the changes, with what was last seen of it. */
export interface PlannedSubject {
  readonly input: CycleInput;
  readonly observation: StoredObservation | undefined;
  /** When its last verdict was confirmed; an observation is stored only when it changes. */
  readonly confirmedAtMs: number | undefined;
}

/** How much of one shared delete budget was used within the last hour, and of how many things it is a share. */
export interface BudgetUse {
  readonly level: BudgetLevel;
  readonly used: number;
  readonly owned: number;
}

export type PlanAnswer =
  | {
      readonly made: true;
      readonly done: readonly ChangeDone[];
      readonly subjects: readonly PlannedSubject[];
      /** Changes that would wait for another person first. */
      readonly needsOther: readonly FourEyesRefusal[];
    }
  | Extract<ChangeAnswer, { readonly made: false }>;

export interface QuotaView {
  readonly kind: string;
  readonly most: number;
  /** Whether the organization has a limit of its own, or the platform's default applies. */
  readonly own: boolean;
}

/**
 * How the Control API changes what is declared: with everything that is checked at its door (references, users, quotas)
 * checked in the transaction of the change.
 */
export interface DeclaringStore {
  /** All of the changes or none. A scope or an account that does not exist is a `NOT_FOUND` of the store. */
  change(request: {
    readonly organizationId: string;
    readonly changes: readonly Change[];
    /** The answer for a repeated request, kept with the changes: both or neither. */
    readonly keep?:
      | {
          readonly scope: IdempotencyScope;
          answerOf(done: readonly ChangeDone[]): Promise<StoredAnswer>;
        }
      | undefined;
  }): Promise<ChangeAnswer>;
  /** The same for the changes of an approved proposal, which is marked as applied with them: both or neither. */
  apply(request: {
    readonly organizationId: string;
    readonly changes: readonly Change[];
    readonly proposal: { readonly id: string; readonly digest: string; readonly author: Principal };
  }): Promise<ChangeAnswer>;
  /** The same without making them: the very transaction, rolled back, with the cycles' inputs as they would be. */
  plan(request: { readonly organizationId: string; readonly changes: readonly Change[] }): Promise<PlanAnswer>;

  /** The shared delete budgets above an account as they stand. Nothing is charged. */
  deleteBudgets(request: {
    readonly organizationId: string;
    readonly accountId: string | undefined;
  }): Promise<readonly BudgetUse[]>;

  /** The inputs of a resource's own cycles as they are now, with what was last seen. */
  standing(request: { readonly organizationId: string; readonly uid: string }): Promise<readonly PlannedSubject[]>;

  quotas(organizationId: string): Promise<{
    readonly limits: readonly QuotaView[];
    readonly used: readonly { readonly kind: string; readonly count: number }[];
  }>;
  /** Undefined organization: the default of all. Undefined `most`: back to the default. */
  setQuota(request: {
    readonly organizationId: string | undefined;
    readonly kind: string;
    readonly most: number | undefined;
    readonly author: Principal;
  }): Promise<void>;
}
