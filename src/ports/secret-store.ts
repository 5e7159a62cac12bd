import type { EngineKey } from "./engine-seal.ts";
import type { Principal } from "./records.ts";

/** A value that prints as something else; `Secret` of the kernel is one. */
export interface SecretValue {
  reveal(): string;
}

/** Where a secret belongs. The seal binds to all of it: in another place it stays shut. */
export interface SecretPlace {
  readonly organizationId: string;
  /** `secret/NAME`, `channel/ID`. */
  readonly owner: string;
  readonly field: string;
}

/** All that is ever shown of a secret. */
export interface SecretView extends SecretPlace {
  readonly version: number;
  readonly changedAtMs: number;
  readonly changedBy: string;
}

/** How far a rotation is: what this batch did, and what is left to do. */
export interface RotationStep {
  readonly moved: { readonly underRoot: number; readonly tenantKeys: number; readonly secrets: number };
  readonly left: { readonly underRoot: number; readonly tenantKeys: number; readonly secrets: number };
  readonly rootKeyId: string;
  /** The store's time when it began, to be handed back with the next step. */
  readonly startedAtMs: number;
}

/** Secrets of organizations. Values go in and come out as `SecretValue`; everything stored is sealed. */
export interface SecretStore {
  put(request: SecretPlace & { readonly value: SecretValue; readonly author: Principal }): Promise<SecretView>;
  /** Those whose owner begins like this, by owner and field. */
  list(request: { readonly organizationId: string; readonly ownerPrefix: string }): Promise<readonly SecretView[]>;
  reveal(place: SecretPlace): Promise<SecretValue | undefined>;
  remove(request: SecretPlace & { readonly author: Principal }): Promise<boolean>;
  /**
   * One batch of a rotation; to be repeated until nothing is left. Everything stays readable all the while, and a rotation
   * that was interrupted anywhere goes on with the next call. Tenants' keys that were made before `startedAtMs` get a
   * successor; undefined begins now.
   */
  rotate(request: {
    readonly startedAtMs: number | undefined;
    readonly tenantKeys: boolean;
    readonly batchSize: number;
    readonly author: Principal;
  }): Promise<RotationStep>;
}

/** Credentials of accounts, which only the engine can open. */
export interface AccountCredentialStore {
  /** What to seal to. Undefined until a scheduler or a worker has started once. */
  engineKey(): Promise<EngineKey | undefined>;
  /** Replaces the sealed credentials of an account and wakes what depends on it. False: there is no such account. */
  replace(request: {
    readonly organizationId: string;
    readonly accountId: string;
    readonly write: string;
    readonly read: string | undefined;
    readonly author: Principal;
  }): Promise<boolean>;
}
