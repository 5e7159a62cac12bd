import type { TerminalError } from "./errors.ts";
import type { Inventory } from "./loop.ts";

/** One collection of one account: the last complete listing while it is kept, and the one under way. */
export interface SharedListing {
  current: Inventory<unknown> | undefined;
  pending: Promise<Inventory<unknown>> | undefined;
  /** What the provider last refused it with for good, and until when nobody asks again. */
  refused?: { readonly error: TerminalError; readonly untilMonotonicMs: number } | undefined;
}

/**
 * Complete listings in memory, over all accounts, at most so many entries: what was not used for longest goes first and is
 * listed again when somebody needs it. Looks at one account come close together, so few listings are in use at a time.
 * The newest is always kept, however large: its subjects are waiting for it.
 */
export class KeptListings {
  readonly #entriesMax: number;
  /** Least recently used first. */
  readonly #kept = new Set<SharedListing>();
  #newest: SharedListing | undefined;
  #entries = 0;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get entries(): number {
    return this.#entries;
  }

  keep(listing: SharedListing, inventory: Inventory<unknown>): void {
    if (listing.current === inventory) return;
    this.drop(listing);
    listing.current = inventory;
    this.#entries += inventory.entries.length;
    this.#kept.add(listing);
    this.#newest = listing;
    for (const oldest of this.#kept) {
      if (this.#entries <= this.#entriesMax || oldest === listing) return;
      this.drop(oldest);
    }
  }

  used(listing: SharedListing): void {
    if (this.#newest === listing || !this.#kept.delete(listing)) return;
    this.#kept.add(listing);
    this.#newest = listing;
  }

  drop(listing: SharedListing): void {
    if (this.#kept.delete(listing)) this.#entries -= listing.current?.entries.length ?? 0;
    if (this.#newest === listing) this.#newest = undefined;
    listing.current = undefined;
  }
}
