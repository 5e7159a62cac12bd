import type { Clock } from "../ports/clock.ts";
import type { EngineStore } from "../ports/engine-store.ts";
import type {
  AccountIdentity,
  AccountRights,
  Lister,
  Provider,
  ProviderAccount,
  RateReading,
} from "../ports/provider.ts";
import type { AccountRecord } from "../ports/records.ts";
import { isUndocked } from "./docking.ts";
import { RetryableError, TerminalError } from "./errors.ts";
import { canonical } from "./hash.ts";
import { readInventory } from "./inventory.ts";
import { KeptListings, type SharedListing } from "./kept-listings.ts";
import type { Inventory } from "./loop.ts";
import { NewlyBad } from "./newly-bad.ts";
import { withTimeLimit } from "./time-limit.ts";

/**
 * Calls taken from the account's shared budget at once: as many as are waited for, within these bounds. An idle process gives
 * none back, so it stays small.
 */
const CALL_BLOCK_MIN = 8;
const CALL_BLOCK_MAX = 128;
const IDENTITY_FRESH_MS = 5_000;
/** How long a listing that the provider refused for good is not asked for again. */
const REFUSED_FOR_MS = 60_000;
/** How long as many calls took is remembered until the next block is taken; the newest of them. */
const TOOK_KEPT_MAX = 64;
/** About 100 MB with entries of 300 bytes. */
const KEPT_ENTRIES_MAX = 200_000;

/** Who an account answered to be, and what was on record of it when it was asked. */
interface KnownIdentity extends Pick<AccountRecord, "fingerprint" | "claimedIncarnation"> {
  readonly value: AccountIdentity;
  readonly startedAtMonotonicMs: number;
}

interface OpenAccount {
  readonly record: AccountRecord;
  /** The last record that was found to say the same. */
  latest: AccountRecord;
  readonly provider: Provider;
  readonly world: ProviderAccount;
  readonly inventories: Map<string, SharedListing>;
  identity: KnownIdentity | undefined;
  /** The last time that the credential was found to be one that may write. */
  mayWrite: { readonly rights: AccountRights; readonly startedAtMonotonicMs: number } | undefined;
  /** The last word about the provider's limit that was acted on. */
  noted: RateReading | undefined;
  calls: number;
  /** How long calls took, in milliseconds and in the order they ended, since it was last told. */
  tookMs: number[];
  readonly asking: Asking;
  readonly askingForPeople: Asking;
}

/** Cycles that wait for calls, and the block that was asked for. */
interface Asking {
  waiting: number;
  pending: Promise<void> | undefined;
}

/** The accounts one process works with: opened providers, shared inventories, and the calls taken from each budget. */
export class Accounts {
  readonly newlyBad = new NewlyBad();
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #store: Pick<EngineStore, "takeCalls" | "blockCalls">;
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #open = new Map<string, OpenAccount>();
  readonly #listings: KeptListings;
  readonly #fresh = new Map<
    string,
    { readonly accountId: string; readonly collection: string; readonly completeAtMs: number }
  >();

  constructor(options: {
    readonly providers: ReadonlyMap<string, Provider>;
    readonly store: Pick<EngineStore, "takeCalls" | "blockCalls">;
    readonly clock: Clock;
    /** Entries of shared listings that are kept in memory at most. */
    readonly keptEntriesMax?: number;
    /**
     * So long a call waits for the budget where it is, instead of saying when to come back. Whoever has come far waits: many who
     * begin anew at once would spend the budget on their beginnings.
     */
    readonly callPatienceMs?: number;
  }) {
    this.#listings = new KeptListings(options.keptEntriesMax ?? KEPT_ENTRIES_MAX);
    this.#providers = options.providers;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#patienceMs = options.callPatienceMs ?? 0;
  }

  /** Those that are installed. */
  get providers(): Iterable<Provider> {
    return this.#providers.values();
  }

  provider(account: AccountRecord): Provider {
    if (isUndocked(account))
      throw new TerminalError(
        "DEPENDENCY_NOT_READY",
        `Account '${account.name}' is to come from the operator's pool, and none is claimed for it yet: the first host that is made there claims one`,
      );
    const provider = this.#providers.get(account.provider);
    if (provider !== undefined) return provider;
    const known = [...this.#providers.keys()].sort().join(", ");
    throw new TerminalError(
      "ACCOUNT_UNKNOWN",
      `Account '${account.name}' names the provider '${account.provider}', which is not installed. Installed: ${known}`,
    );
  }

  world(account: AccountRecord): ProviderAccount {
    return this.#opened(account).world;
  }

  /** Takes one call from the account's budget, or says when to come back. */
  async takeCall(account: AccountRecord, forPerson: boolean): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + this.#patienceMs;
    for (;;) {
      try {
        return await this.#takeNow(this.#opened(account), forPerson);
      } catch (thrown) {
        const waitMs = thrown instanceof RetryableError && thrown.code === "RATE_LIMITED" ? thrown.afterMs : undefined;
        if (waitMs === undefined || this.#clock.monotonicMs() + waitMs > untilMs) throw thrown;
        await this.#clock.wait(waitMs);
      }
    }
  }

  async #takeNow(opened: OpenAccount, forPerson: boolean): Promise<void> {
    if (opened.calls > 0) {
      opened.calls--;
      return;
    }
    // Those who wait for calls share a block. People do not wait with the others: part of the budget is reserved for them.
    const asking = forPerson ? opened.askingForPeople : opened.asking;
    asking.waiting += 1;
    try {
      while (opened.calls === 0) {
        asking.pending ??= this.#takeBlock(opened, forPerson, asking.waiting).finally(() => {
          asking.pending = undefined;
        });
        await asking.pending;
      }
    } finally {
      asking.waiting -= 1;
    }
    opened.calls--;
  }

  async #takeBlock(opened: OpenAccount, forPerson: boolean, waiting: number): Promise<void> {
    const { id, name } = opened.record;
    const wanted = Math.min(CALL_BLOCK_MAX, Math.max(CALL_BLOCK_MIN, waiting));
    const tookMs = opened.tookMs;
    opened.tookMs = [];
    const answer = await this.#store.takeCalls({ accountId: id, wanted, forPerson, tookMs });
    if (answer.taken === 0) {
      // Nothing was written: it is told with the next block.
      opened.tookMs = [...tookMs, ...opened.tookMs].slice(-TOOK_KEPT_MAX);
      throw new RetryableError("RATE_LIMITED", `The call budget of account '${name}' is used up`, {
        afterMs: Math.max(1, answer.retryInMs),
        ambiguous: false,
      });
    }
    opened.calls += answer.taken;
  }

  /** Makes a call and notes how long it took, whatever came of it: one that ran into its limit took that long. */
  async timed<T>(account: AccountRecord | undefined, work: () => Promise<T>): Promise<T> {
    if (account === undefined) return await work();
    const startedAtMs = this.#clock.monotonicMs();
    try {
      return await work();
    } finally {
      const { tookMs } = this.#opened(account);
      tookMs.push(Math.round(this.#clock.monotonicMs() - startedAtMs));
      if (tookMs.length > TOOK_KEPT_MAX) tookMs.shift();
    }
  }

  /** A 429 or Retry-After blocks for every process; whatever block we still held is void. */
  async noteThrottle(account: AccountRecord, thrown: unknown): Promise<void> {
    if (!(thrown instanceof RetryableError) || thrown.code !== "RATE_LIMITED" || thrown.afterMs === undefined) return;
    this.#opened(account).calls = 0;
    await this.#store.blockCalls({ accountId: account.id, forMs: thrown.afterMs });
  }

  /**
   * Who the account is now; asked again when the last answer is older than a few seconds, or than the look that is to be
   * acted on: a credential that changed in between would pass off another account's things as ours.
   */
  async identity(
    account: AccountRecord,
    options: {
      readonly notBeforeMonotonicMs: number;
      /** How old an answer may be where nothing rests on it. */
      readonly withinMs?: number;
      readonly signal: AbortSignal;
    },
  ): Promise<AccountIdentity> {
    const { notBeforeMonotonicMs, withinMs = IDENTITY_FRESH_MS, signal } = options;
    const opened = this.#opened(account);
    const startedAtMonotonicMs = this.#clock.monotonicMs();
    const known = opened.identity;
    const freshMs = Math.max(notBeforeMonotonicMs, startedAtMonotonicMs - withinMs);
    // An answer from before another process claimed the account says nothing about what that one left there.
    const isOfNow =
      known?.fingerprint === account.fingerprint && known?.claimedIncarnation === account.claimedIncarnation;
    if (known !== undefined && isOfNow && known.startedAtMonotonicMs >= freshMs) return known.value;
    await this.takeCall(account, true);
    const value = await this.#limited(opened, "identity", signal, (attempt) => opened.world.identity(attempt));
    const { fingerprint, claimedIncarnation } = account;
    opened.identity = { value, startedAtMonotonicMs, fingerprint, claimedIncarnation };
    return value;
  }

  /**
   * Whether the credential may write; undefined where the provider cannot tell. Only that it may is remembered: what was refused
   * is mended by somebody, and nobody says when.
   */
  async rights(
    account: AccountRecord,
    options: { readonly notBeforeMonotonicMs: number; readonly forPerson: boolean; readonly signal: AbortSignal },
  ): Promise<AccountRights | undefined> {
    const opened = this.#opened(account);
    const { mayWrite, world } = opened;
    if (world.rights === undefined) return undefined;
    if (mayWrite !== undefined && mayWrite.startedAtMonotonicMs >= options.notBeforeMonotonicMs) return mayWrite.rights;
    await this.takeCall(account, options.forPerson);
    const startedAtMonotonicMs = this.#clock.monotonicMs();
    opened.mayWrite = undefined;
    const rights = await this.#limited(
      opened,
      "rights",
      options.signal,
      async (signal) => await world.rights?.(signal),
    );
    if (rights?.write === true) opened.mayWrite = { rights, startedAtMonotonicMs };
    return rights;
  }

  /** Forget what was read, because the account was reclaimed or its lease is new. */
  forget(accountId: string): void {
    const opened = this.#open.get(accountId);
    if (opened === undefined) return;
    opened.identity = undefined;
    this.#forgetListings(opened);
  }

  /** Complete listings since the last call; the scheduler stores them in batches. */
  takeFreshness(): readonly {
    readonly accountId: string;
    readonly collection: string;
    readonly completeAtMs: number;
  }[] {
    const fresh = [...this.#fresh.values()];
    this.#fresh.clear();
    return fresh;
  }

  /** Lists a collection once for all subjects; callers that need the same listing share it. */
  async inventory(
    account: AccountRecord,
    collection: string,
    options: { readonly notBeforeMonotonicMs: number; readonly forPerson: boolean; readonly signal: AbortSignal },
  ): Promise<Inventory<unknown>> {
    const opened = this.#opened(account);
    const shared = this.#shared(opened, collection);
    if (shared.current !== undefined && shared.current.startedAtMonotonicMs >= options.notBeforeMonotonicMs) {
      this.#listings.used(shared);
      return shared.current;
    }
    // A listing under way began before we asked: it may do, else the next one is ours.
    if (shared.pending !== undefined) {
      const pending = await shared.pending;
      if (pending.startedAtMonotonicMs >= options.notBeforeMonotonicMs) return pending;
    }
    this.#requireNotRefused(shared, options.forPerson);
    shared.pending ??= this.#list(opened, collection, options.forPerson).finally(() => {
      shared.pending = undefined;
    });
    const inventory = await shared.pending.catch((thrown: unknown) => {
      if (thrown instanceof TerminalError)
        shared.refused = { error: thrown, untilMonotonicMs: this.#clock.monotonicMs() + REFUSED_FOR_MS };
      throw thrown;
    });
    shared.refused = undefined;
    // Only what was seen whole is shared; a partial listing must not stand in for the next caller's own.
    if (inventory.completeness !== "complete") {
      this.#listings.drop(shared);
      return inventory;
    }
    const completeAtMs = this.#clock.nowMs();
    this.#fresh.set(`${account.id}/${collection}`, { accountId: account.id, collection, completeAtMs });
    // What was forgotten meanwhile is nobody's any more.
    if (opened.inventories.get(collection) === shared) this.#listings.keep(shared, inventory);
    return inventory;
  }

  /** A credential that is refused is refused for all: a thousand subjects do not each ask. Whoever was told to look asks. */
  #requireNotRefused({ refused }: SharedListing, forPerson: boolean): void {
    if (refused === undefined || forPerson || refused.untilMonotonicMs <= this.#clock.monotonicMs()) return;
    throw refused.error;
  }

  #shared(opened: OpenAccount, collection: string): SharedListing {
    const known = opened.inventories.get(collection);
    if (known !== undefined) return known;
    const shared: SharedListing = { current: undefined, pending: undefined };
    opened.inventories.set(collection, shared);
    return shared;
  }

  #forgetListings(opened: OpenAccount): void {
    for (const shared of opened.inventories.values()) this.#listings.drop(shared);
    opened.inventories.clear();
  }

  async #list(opened: OpenAccount, collection: string, forPerson: boolean): Promise<Inventory<unknown>> {
    const lister = opened.world.collections[collection];
    if (lister === undefined) {
      throw new TerminalError("INTERNAL", `Provider '${opened.record.provider}' has no collection '${collection}'`);
    }
    const counted: Lister = async (token, _signal) => {
      await this.takeCall(opened.record, forPerson);
      return await this.#limited(opened, `listing of ${collection}`, new AbortController().signal, (signal) =>
        lister(token, signal),
      );
    };
    // The listing serves many subjects, so one caller's abort must not end it for the others.
    const read = await readInventory(this.#clock, counted, new AbortController().signal);
    if (read.inventory.completeness === "failed") throw read.error;
    return read.inventory;
  }

  /** Notes what the provider says about its own limits. That our own budget is used up is nothing to block others for. */
  async #limited<T>(
    opened: OpenAccount,
    what: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = { ms: opened.provider.callTimeoutMs, signal, what: `${opened.record.provider} ${what}` };
    try {
      return await this.timed(opened.latest, () => withTimeLimit(this.#clock, limit, work));
    } catch (thrown) {
      await this.noteThrottle(opened.record, thrown);
      throw thrown;
    } finally {
      if (opened.world.rate !== undefined) await this.#noteRate(opened, opened.world.rate());
    }
  }

  /**
   * Close to the provider's limit everybody waits until a twentieth of it is back: others use the same account, and a refusal
   * would hit whoever comes next.
   */
  async #noteRate(opened: OpenAccount, rate: RateReading | undefined): Promise<void> {
    if (rate === undefined || rate === opened.noted) return;
    opened.noted = rate;
    const forMs = waitForRate(rate);
    if (forMs === 0) return;
    opened.calls = 0;
    await this.#store.blockCalls({ accountId: opened.record.id, forMs });
  }

  #opened(account: AccountRecord): OpenAccount {
    const existing = this.#open.get(account.id);
    // Cycles that were loaded together share the record, and comparing it again for each would be most of a look's work.
    if (existing?.latest === account) return existing;
    if (existing !== undefined && sameCredential(existing.record, account)) {
      existing.latest = account;
      return existing;
    }
    if (existing !== undefined) this.#forgetListings(existing);
    const provider = this.provider(account);
    const opened: OpenAccount = {
      record: account,
      latest: account,
      provider,
      world: provider.open(account),
      inventories: new Map(),
      identity: undefined,
      mayWrite: undefined,
      noted: undefined,
      calls: 0,
      tookMs: [],
      asking: { waiting: 0, pending: undefined },
      askingForPeople: { waiting: 0, pending: undefined },
    };
    this.#open.set(account.id, opened);
    return opened;
  }
}

/** How long until a twentieth of the limit is there again; nothing while more than that is left. */
export function waitForRate({ limit, remaining, fullInMs }: RateReading): number {
  const reserve = Math.ceil(limit / 20);
  if (remaining > reserve || limit <= remaining) return 0;
  return Math.ceil((fullInMs / (limit - remaining)) * (reserve - remaining + 1));
}

function sameCredential(left: AccountRecord, right: AccountRecord): boolean {
  return (
    left.provider === right.provider &&
    left.credentialRef === right.credentialRef &&
    left.readCredentialRef === right.readCredentialRef &&
    canonical(left.settings) === canonical(right.settings)
  );
}
