import type { Json, JsonObject } from "./json.ts";
import type { DeclaredResource, Mode, PauseLevel, Principal, ScopePolicy } from "./records.ts";

/** How people and programs change what is declared. Each method is one transaction; the in-memory twin has these too. */
export interface IntentStore {
  createOrganization(request: {
    readonly id: string;
    readonly name: string;
    /** Undefined: Setpoint itself. */
    readonly author?: Principal | undefined;
  }): Promise<void>;
  /** A project or workspace below an organization; `organization/ID` itself exists with the organization. */
  createScope(request: {
    readonly organizationId: string;
    readonly scope: string;
    readonly parent: string;
    readonly author?: Principal | undefined;
  }): Promise<void>;
  createAccount(request: {
    readonly id: string;
    readonly organizationId: string;
    readonly name: string;
    readonly provider: string;
    readonly settings: JsonObject;
    readonly credentialRef: string | undefined;
    /** A second credential that can only look. */
    readonly readCredentialRef?: string | undefined;
    readonly callsPerSecond: number;
    /** One of the operator's pool is claimed for it when something is first made there. */
    readonly fromPool?: boolean | undefined;
    readonly author?: Principal | undefined;
  }): Promise<void>;

  /** Creates or replaces the spec of a resource; raises its generation when the spec changed, wakes every subject computed from it. */
  declare(request: DeclareRequest): Promise<DeclareAnswer>;
  /** Leaves a tombstone and wakes the subjects. A resource without subjects and without links is removed at once. */
  requestDeletion(request: {
    readonly organizationId: string;
    readonly uid: string;
    readonly ifRevision: number | undefined;
    readonly author: Principal;
    readonly orphan: boolean;
    readonly confirmedCount: number | undefined;
  }): Promise<{ readonly found: boolean; readonly conflict: boolean }>;
  /** A person says: look again now, and try again what stopped. */
  reconcileNow(request: {
    readonly organizationId: string;
    readonly uid: string;
    readonly author?: Principal | undefined;
  }): Promise<void>;

  /** Binds to the digest the approver saw. Grants are made for its items only; machines and assistants are refused. */
  approve(request: {
    readonly organizationId: string;
    readonly heldChangeId: string;
    readonly digest: string;
    readonly approver: Principal;
    readonly grantForMs: number;
    readonly comment?: string | undefined;
  }): Promise<ApproveAnswer>;
  reject(request: {
    readonly organizationId: string;
    readonly heldChangeId: string;
    readonly author: Principal;
    readonly comment?: string | undefined;
  }): Promise<boolean>;

  pause(request: {
    readonly id: string;
    /** Undefined for the platform-wide freeze. */
    readonly organizationId: string | undefined;
    readonly scope: string;
    /** What it covers, as whoever asks for it calls it. */
    readonly on?: string | undefined;
    readonly level: PauseLevel;
    readonly author: Principal;
    readonly reason: string;
    readonly forMs: number;
  }): Promise<void>;
  /** Wakes what was waiting. Machines and assistants are refused. Where policy asks for four eyes somebody must allow it. */
  endPause(request: {
    readonly id: string;
    readonly organizationId: string | undefined;
    readonly author: Principal;
  }): Promise<EndPauseAnswer>;

  /** Mode, limits, ceilings, protection of one scope. Raises the policy version of every subject below. */
  setPolicy(request: {
    readonly organizationId: string | undefined;
    readonly policy: ScopePolicy;
    readonly author: Principal;
  }): Promise<void>;
  /** After a restore: a new incarnation. Every account must be reclaimed by one approved held change before anything is written there. */
  markRestored(): Promise<number>;
}

export interface DeclareRequest {
  readonly uid: string;
  readonly organizationId: string;
  readonly kind: string;
  readonly name: string;
  /** `organization/ID`, `project/ID` or `workspace/ID`. */
  readonly scope: string;
  readonly spec: Json;
  readonly labels: Readonly<Record<string, string>>;
  readonly author: Principal;
  /** Who owns the fields of the spec from now on; the author's name unless said otherwise. */
  readonly owner?: string | undefined;
  /** The owner of each field by its pointer, where the fields have several. */
  readonly fieldOwners?: Readonly<Record<string, string>> | undefined;
  /** Undefined: whatever the revision is. 0: must not exist. */
  readonly ifRevision: number | undefined;
  /** What the resource says of its own mode and protection. */
  readonly mode: Mode | undefined;
  readonly protect: boolean | undefined;
  /** One subject per account; `undefined` is a subject without an account. Empty: the kind has no loop. */
  readonly accounts: readonly (string | undefined)[];
  /** Resources (by kind and name in the same scope) that are computed from this one. */
  readonly links: readonly DeclaredLink[];
  /** Resources that it refers to. The Control API keeps them with the change itself; this is for whoever declares without it. */
  readonly refers?: readonly DeclaredLink[] | undefined;
}

export interface DeclaredLink {
  readonly kind: string;
  readonly name: string;
  /** Where it is declared; in the scope of the resource itself unless said otherwise. */
  readonly scope?: string | undefined;
}
export type DeclareAnswer =
  | {
      readonly result: "created" | "changed" | "unchanged";
      readonly resource: DeclaredResource;
      readonly revision: number;
    }
  | { readonly result: "conflict"; readonly revision: number };

export type EndPauseAnswer = "ended" | "not-found" | "refused" | "four-eyes";

export type ApproveAnswer =
  | { readonly result: "approved"; readonly grants: number }
  | { readonly result: "not-found" | "refused-principal" | "four-eyes" | "closed" }
  /** What waits has changed since the approver looked. */
  | { readonly result: "moved"; readonly digest: string };
