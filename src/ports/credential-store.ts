import type { Binding, CredentialType } from "./access.ts";
import type { Principal } from "./records.ts";

/** What machines prove themselves with. */
export type TokenType = Exclude<CredentialType, "operator-file" | "session">;

export interface NewCredential {
  readonly id: string;
  /** Undefined for a personal token. */
  readonly organizationId: string | undefined;
  readonly type: TokenType;
  readonly name: string;
  /** SHA-256 of the token, in hex. */
  readonly hash: string;
  readonly scope: string;
  /** Undefined: whatever the maker may do. */
  readonly bindings: readonly Binding[] | undefined;
  /** Undefined: the operator of this machine. */
  readonly personId: string | undefined;
  readonly author: Principal;
  readonly forMs: number;
}

export type CredentialState = "active" | "expired" | "revoked" | "redeemed";

export interface CredentialRecord extends Omit<NewCredential, "hash" | "author" | "forMs"> {
  readonly maker: string;
  readonly state: CredentialState;
  readonly madeAtMs: number;
  readonly expiresAtMs: number;
  /** By the store's clock, so that a skewed process does not keep it alive. */
  readonly expiresInMs: number;
  readonly lastUsedAtMs: number | undefined;
}

/** Whose credentials are meant: an organization's (of one scope and type, where they are named), or a person's own. */
export type CredentialOwner =
  | {
      readonly organizationId: string;
      readonly scope: string | undefined;
      readonly type: TokenType | undefined;
    }
  | { readonly organizationId: undefined; readonly personId: string | undefined };

/** Tokens of every type. Values never come here, only their hashes. */
export interface CredentialStore {
  create(request: NewCredential): Promise<CredentialRecord>;
  /** Newest first; those that ended stay visible until retention removes them. */
  list(owner: CredentialOwner): Promise<readonly CredentialRecord[]>;
  /** Whoever presents a token is not known before it is found, so this asks across all organizations. */
  find(hash: string): Promise<CredentialRecord | undefined>;
  revoke(request: {
    readonly owner: CredentialOwner;
    readonly id: string;
    readonly author: Principal;
  }): Promise<CredentialRecord | undefined>;
  /** Whoever holds the token itself may end it. */
  revokeByHash(request: { readonly hash: string; readonly author: Principal }): Promise<CredentialRecord | undefined>;
  /** Remembers that tokens were used, unless that is known already for about this time. */
  noteUses(ids: readonly string[]): Promise<void>;
  /** Uses up an enrolment token. Of any number of attempts exactly one gets the record. */
  redeem(hash: string): Promise<CredentialRecord | undefined>;
}
