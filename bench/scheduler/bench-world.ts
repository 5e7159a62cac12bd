import type { Marker } from "../../src/kernel/loop.ts";
import type { Page, Provider, ProviderAccount } from "../../src/ports/provider.ts";
import type { AccountRecord } from "../../src/ports/records.ts";
import type { BenchContent } from "./bench-item.ts";
import { type Geometry, installationId, itemExternalId, itemName, itemSpec, itemUid } from "./geometry.ts";

/** What a listing shows of one thing: about 300 bytes as JSON. */
export interface BenchEntry extends BenchContent {
  readonly id: string;
  readonly name: string;
  readonly marker: Marker;
}

export interface BenchReader {
  find(name: string): Promise<BenchEntry | undefined>;
}

export interface BenchWriter {
  create(name: string, content: BenchContent, marker: Marker): Promise<string>;
  update(id: string, content: BenchContent, marker: Marker): Promise<void>;
  remove(id: string): Promise<void>;
}

const PAGE_SIZE = 500;

/**
 * The outside, in the scheduler's own process. What exists follows from an item's number; only what differs from that
 * is remembered, so that the measured memory is the product's and not that of a million made-up things. Every listing
 * builds its entries anew, as a provider's answer would.
 */
export class BenchWorld implements Provider<BenchReader, BenchWriter> {
  readonly name = "bench";
  readonly settleMs = 0;
  readonly callTimeoutMs = 5_000;
  readonly #geometry: Geometry;
  readonly #changed = new Map<number, BenchContent>();
  /** Undefined: every item exists. */
  #existing: Set<number> | undefined;
  calls = 0;
  updates = 0;

  constructor(geometry: Geometry) {
    this.#geometry = geometry;
  }

  /** Somebody edits the thing by hand. */
  drift(item: number): void {
    this.#changed.set(item, { ...contentOf(item), tier: "edited-by-hand" });
  }

  get drifted(): number {
    return this.#changed.size;
  }

  /** A world without anything in it, for the one item that the kernel makes itself before it is multiplied. */
  empty(): this {
    this.#existing = new Set();
    return this;
  }

  open(account: AccountRecord): ProviderAccount<BenchReader, BenchWriter> {
    const firstItem = Number(account.settings["firstItem"]);
    const identity = { fingerprint: `bench/${account.id}` };
    return {
      identity: () => this.#called(identity),
      collections: { items: (token) => this.#called(this.#page(firstItem, token)) },
      reader: { find: (name) => this.#called(this.#entry(numberIn(name))) },
      writer: {
        create: (name, content) => {
          const item = numberIn(name);
          this.#existing?.add(item);
          this.#write(item, content);
          return this.#called(itemExternalId(item));
        },
        update: (id, content) => {
          this.updates += 1;
          this.#write(numberIn(id), content);
          return this.#called(undefined);
        },
        remove: () => Promise.reject(new Error("Nothing is ever removed in this benchmark")),
      },
    };
  }

  #called<Value>(value: Value): Promise<Value> {
    this.calls += 1;
    return Promise.resolve(value);
  }

  #write(item: number, content: BenchContent): void {
    const original = contentOf(item);
    const same = content.value === original.value && content.tier === original.tier;
    if (same) this.#changed.delete(item);
    else this.#changed.set(item, content);
  }

  #page(firstItem: number, token: string | undefined): Page<BenchEntry> {
    const from = token === undefined ? 0 : Number(token);
    const end = Math.min(from + PAGE_SIZE, this.#geometry.itemsPerAccount);
    const entries: BenchEntry[] = [];
    for (let offset = from; offset < end; offset++) {
      const entry = this.#entry(firstItem + offset);
      if (entry !== undefined) entries.push(entry);
    }
    return { entries, next: end < this.#geometry.itemsPerAccount ? String(end) : undefined };
  }

  #entry(item: number): BenchEntry | undefined {
    if (this.#existing?.has(item) === false) return undefined;
    const content = this.#changed.get(item) ?? contentOf(item);
    return {
      id: itemExternalId(item),
      name: itemName(item),
      value: content.value,
      region: content.region,
      tier: content.tier,
      marker: { installationId, resourceUid: itemUid(item) },
    };
  }
}

function contentOf(item: number): BenchContent {
  const { value, region, tier } = itemSpec(item, "");
  return { value, region, tier };
}

function numberIn(name: string): number {
  return Number(name.slice(name.indexOf("-") + 1));
}
