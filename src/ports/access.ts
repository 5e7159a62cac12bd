/** What a route does to what it names. */
export type Action = "read" | "create" | "update" | "delete" | "execute";

/** One allow rule. There are no deny rules, so the order of rules says nothing. */
export interface Rule {
  /** A permission key such as `organization.account`, or `*` in the roles that Setpoint itself brings. */
  readonly key: string;
  readonly actions: readonly Action[];
}

/** A role at a scope: its rules hold there and below. */
export interface Binding {
  /** Undefined only where the scope is `platform`. */
  readonly organizationId: string | undefined;
  /** `platform`, `organization/ID`, `project/…` or `workspace/…`. */
  readonly scope: string;
  readonly role: string;
  readonly rules: readonly Rule[];
}

/** How somebody proved who they are. Only `operator-file` and `session` stand for a person who is there. */
export type CredentialType =
  | "operator-file"
  | "session"
  | "personal-token"
  | "service-token"
  | "workspace-key"
  | "agent-enrolment"
  | "assistant-token";
