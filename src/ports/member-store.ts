import type { Binding, Rule } from "./access.ts";
import type { Principal } from "./records.ts";
import type { RightsStore } from "./rights-store.ts";

/** What the platform thinks of an organization. Only `verified` lets anything be created in it. */
export type Verification = "in_setup" | "verified" | "pending" | "blocked" | "waitlist";
/** Whether an organization is in use. A deleted one is invisible, and its name stays taken. */
export type OrganizationState = "active" | "inactive" | "deleted";

export interface OrganizationStatus {
  readonly verification: Verification;
  readonly state: OrganizationState;
  /** What whoever set it last said about it. */
  readonly reason: string;
}

export interface OrganizationRecord extends OrganizationStatus {
  readonly id: string;
  readonly name: string;
}

export interface RoleRecord {
  readonly name: string;
  readonly description: string;
  readonly rules: readonly Rule[];
  readonly revision: number;
  readonly changedBy: string;
  readonly changedAtMs: number;
}

export interface BindingRecord {
  readonly id: string;
  readonly scope: string;
  readonly role: string;
  readonly madeBy: string;
  readonly madeAtMs: number;
}

export interface PersonRef {
  readonly id: string;
  readonly email: string;
}

export interface MemberRecord {
  readonly person: PersonRef;
  readonly addedBy: string;
  readonly addedAtMs: number;
  /** False after a restore, until an operator says that they still belong here. Until then they may do nothing. */
  readonly confirmed: boolean;
  readonly bindings: readonly BindingRecord[];
}

/** A role at a scope, before it is anybody's. */
export interface RoleAtScope {
  readonly role: string;
  readonly scope: string;
}

export interface InviteRecord {
  readonly organizationId: string;
  readonly id: string;
  readonly email: string;
  readonly bindings: readonly RoleAtScope[];
  readonly invitedBy: string;
  readonly inviterId: string | undefined;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly state: "open" | "accepted" | "revoked" | "expired";
}

/** Something that stands in the way of a deletion, as a person would name it: `project web`, `DnsZone/example`. */
export interface InUse {
  readonly result: "in-use";
  readonly users: readonly string[];
}
export interface Gone {
  readonly result: "deleted" | "not-found";
}

/** Organizations, who belongs to them, and what they may do there. Each method is one transaction with its log entry. */
export interface MemberStore extends RightsStore {
  /** Whoever creates it becomes its owner; the operator's file is no person and owns nothing. */
  createOrganization(request: {
    readonly id: string;
    readonly name: string;
    readonly verification: Verification;
    readonly ownerId: string | undefined;
    readonly author: Principal;
  }): Promise<void>;
  /** Undefined: there is none, or it is deleted. */
  organization(organizationId: string): Promise<OrganizationRecord | undefined>;
  /** All that are not deleted, by name. */
  organizations(): Promise<readonly OrganizationRecord[]>;
  /** How many organizations that are not deleted a person owns. */
  countOwned(personId: string): Promise<number>;
  setStatus(request: {
    readonly organizationId: string;
    readonly verification: Verification | undefined;
    readonly state: Exclude<OrganizationState, "deleted"> | undefined;
    /** Only if it is this one now. */
    readonly ifVerification?: Verification | undefined;
    readonly reason: string;
    readonly author: Principal;
  }): Promise<OrganizationRecord | undefined>;
  deleteOrganization(request: { readonly organizationId: string; readonly author: Principal }): Promise<Gone | InUse>;
  deleteScope(request: {
    readonly organizationId: string;
    readonly scope: string;
    readonly author: Principal;
  }): Promise<Gone | InUse>;

  roles(organizationId: string): Promise<readonly RoleRecord[]>;
  role(request: { readonly organizationId: string; readonly name: string }): Promise<RoleRecord | undefined>;
  createRole(request: RoleWrite): Promise<RoleRecord>;
  /** Undefined: there is no such role. */
  updateRole(request: RoleWrite): Promise<RoleRecord | undefined>;
  deleteRole(request: {
    readonly organizationId: string;
    readonly name: string;
    readonly author: Principal;
  }): Promise<Gone | InUse>;

  members(request: {
    readonly organizationId: string;
    readonly afterPersonId: string | undefined;
    readonly limit: number;
  }): Promise<readonly MemberRecord[]>;
  /** By id or by e-mail. */
  member(request: { readonly organizationId: string; readonly person: string }): Promise<MemberRecord | undefined>;
  addBinding(
    request: RoleAtScope & {
      readonly organizationId: string;
      readonly id: string;
      readonly personId: string;
      readonly author: Principal;
    },
  ): Promise<"added" | "exists" | "not-a-member" | "role-unknown" | "scope-unknown">;
  removeBinding(request: {
    readonly organizationId: string;
    readonly id: string;
    readonly personId: string;
    readonly author: Principal;
  }): Promise<"removed" | "not-found" | "last-owner">;
  /** Their open invites go with them. */
  removeMember(request: {
    readonly organizationId: string;
    readonly personId: string;
    readonly author: Principal;
  }): Promise<"removed" | "not-found" | "last-owner">;

  /** False: there is no such membership in doubt. */
  confirmMember(request: {
    readonly organizationId: string;
    readonly personId: string;
    readonly author: Principal;
  }): Promise<boolean>;

  createInvite(request: {
    readonly organizationId: string;
    readonly id: string;
    readonly email: string;
    readonly secretHash: string;
    readonly bindings: readonly RoleAtScope[];
    readonly inviterId: string | undefined;
    readonly forMs: number;
    readonly author: Principal;
  }): Promise<InviteRecord>;
  invites(organizationId: string): Promise<readonly InviteRecord[]>;
  revokeInvite(request: {
    readonly organizationId: string;
    readonly id: string;
    readonly author: Principal;
  }): Promise<"revoked" | "not-found" | "closed">;
  /** An invite that can still be accepted, in whatever organization. */
  openInvite(secretHash: string): Promise<{ readonly invite: InviteRecord; readonly organization: string } | undefined>;
  /** Makes the membership. False: somebody was quicker, or it ran out. */
  acceptInvite(request: {
    readonly organizationId: string;
    readonly id: string;
    readonly person: PersonRef;
    /** One new id for each binding of the invite. */
    readonly bindingIds: readonly string[];
    readonly author: Principal;
  }): Promise<boolean>;
  personByEmail(email: string): Promise<PersonRef | undefined>;
}

export interface RoleWrite {
  readonly organizationId: string;
  readonly name: string;
  readonly description: string;
  readonly rules: readonly Rule[];
  readonly author: Principal;
}

/** The rules of the roles that Setpoint itself brings, by name. */
export type SeedRules = ReadonlyMap<string, Binding["rules"]>;
