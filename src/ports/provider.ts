import type { AccountRecord } from "./records.ts";

/** How much of a collection a read has seen. Absence may only be concluded from `complete`. */
export type Completeness = "complete" | "partial" | "failed";

/** Who is on the other side of a credential, as the provider itself says it. */
export interface AccountIdentity {
  /** Stable for one account and different for every other one. */
  readonly fingerprint: string;
  /** What an installation left in the account to recognise itself, where the account can hold such a thing. */
  readonly sentinel?: { readonly installationId: string; readonly incarnation: number } | undefined;
  /** The account was looked at, and no installation has left anything there. */
  readonly unclaimed?: boolean | undefined;
}

/** Whether a credential may write, and how the provider said so. */
export interface AccountRights {
  readonly write: boolean;
  readonly reason: string;
}

/** One page of a listing. `next` is the token of the following page; absent means this was the last one. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly next?: string | undefined;
  /** The provider's own count of the whole collection, where it gives one. */
  readonly total?: number | undefined;
  /** Ids of the entries, where they have one: one that comes twice in a listing means that something else was left out. */
  readonly ids?: readonly string[] | undefined;
  /** Changes when the collection moves (serial, etag), where the provider has such a thing. */
  readonly revision?: string | undefined;
}

/** What a provider last said about its own limit of calls. */
export interface RateReading {
  readonly limit: number;
  readonly remaining: number;
  /** When all of them are there again, if nobody calls. */
  readonly fullInMs: number;
}

/** Lists one page. A thrown error makes the whole inventory partial or failed, never shorter. */
export type Lister<Entry = unknown> = (token: string | undefined, signal: AbortSignal) => Promise<Page<Entry>>;

/**
 * One credential's world. Reading and writing are separate capabilities, so that planning cannot write:
 * `observe` and `desired` are handed the reader only.
 */
export interface ProviderAccount<Reader = unknown, Writer = unknown> {
  identity(signal: AbortSignal): Promise<AccountIdentity>;
  /** Writes our sentinel. Called once at onboarding and again when a restore was approved to reclaim the account. */
  claim?(
    sentinel: { readonly installationId: string; readonly incarnation: number },
    signal: AbortSignal,
  ): Promise<void>;
  /** The account has no id of its own: its fingerprint is that of the sentinel, and there is none before it was claimed. */
  readonly knownBySentinel?: boolean;
  /** Whether the credential may write, found out without writing; asked before the first write of a plan. */
  rights?(signal: AbortSignal): Promise<AccountRights>;
  /** What the last answer said of the limit, where the provider tells it. */
  rate?(): RateReading | undefined;
  readonly collections: Readonly<Record<string, Lister>>;
  readonly reader: Reader;
  readonly writer: Writer;
}

export interface Provider<Reader = unknown, Writer = unknown> {
  readonly name: string;
  /** How long after a write a listing may still show the old state. */
  readonly settleMs: number;
  /** One external call must end within this time, which is shorter than what a lease has left: a scheduler does not start else. */
  readonly callTimeoutMs: number;
  open(account: AccountRecord): ProviderAccount<Reader, Writer>;
}
