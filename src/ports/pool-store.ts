import type { JsonObject } from "./json.ts";
import type { Principal } from "./records.ts";

/**
 * `free`: whoever needs one may claim it. `claimed`: an organization has it. `returned`: something of somebody's may still be there, so
 * nobody claims it before an operator says that it is empty.
 */
export type PoolAccountState = "free" | "claimed" | "returned";

/** An account of the operator's that organizations may claim. */
export interface PoolAccount {
  readonly name: string;
  readonly provider: string;
  readonly settings: JsonObject;
  /** Where the credential is, at the engine's machine. */
  readonly credentialRef: string;
  /** Where things may be made, in the provider's own names; empty: wherever the provider is. */
  readonly locations: readonly string[];
  readonly callsPerSecond: number;
}

export interface PoolAccountView extends PoolAccount {
  readonly state: PoolAccountState;
  /** Whose it is, or was last. */
  readonly organization: string | undefined;
  /** Since when it is in this state. */
  readonly sinceMs: number;
}

/** The operator's pool. Claims are the engine's to make: see `EngineStore.dock`. */
export interface PoolStore {
  list(): Promise<readonly PoolAccountView[]>;
  add(request: PoolAccount & { readonly author: Principal }): Promise<void>;
  /** Takes one out for good. One that somebody has stays. */
  remove(request: { readonly name: string; readonly author: Principal }): Promise<TakenOut>;
  /** Puts one back that nothing names any more, on the word of an operator that nothing is left there. */
  free(request: { readonly name: string; readonly author: Principal }): Promise<Freed>;
  /** The organization needs it no more. Its account stays, and claims another one when it is needed again. */
  giveBack(request: {
    readonly organizationId: string;
    readonly accountId: string;
    readonly author: Principal;
  }): Promise<GivenBack>;
}

export type TakenOut =
  | { readonly result: "removed" | "not-found" }
  | { readonly result: "claimed"; readonly organization: string };

export type Freed =
  | { readonly result: "freed" | "not-found" }
  /** How much of the organization's still names it: what that is, is the organization's to see. */
  | { readonly result: "in-use"; readonly organization: string; readonly resources: number };

export type GivenBack =
  | { readonly result: "returned"; readonly poolAccount: string }
  | { readonly result: "not-found" | "own" | "waiting" }
  | {
      readonly result: "in-use";
      /** Some of them. */
      readonly users: readonly { readonly kind: string; readonly name: string; readonly scope: string }[];
      readonly total: number;
    };
