import type { Backend } from "../../examples/key-value-set.ts";
import { RetryableError, TerminalError } from "../../src/kernel/errors.ts";
import type { AccountIdentity, Page, Provider, ProviderAccount } from "../../src/ports/provider.ts";
import type { Fault } from "./bench.ts";

/** What was done at the provider, in order. */
export interface Effect {
  readonly effect: "create" | "update" | "delete";
  readonly account: string;
  readonly key: string;
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

/** The truth of one account: pairs by key, and who it is. */
export class PairAccount {
  readonly name: string;
  readonly fingerprint: string;
  readonly pairs = new Map<string, string>();
  sentinel: AccountIdentity["sentinel"];

  constructor(name: string) {
    this.name = name;
    this.fingerprint = `fingerprint of ${name}`;
  }
}

interface PairReader {
  get(key: string): Promise<string | undefined>;
}
interface PairWriter {
  put(key: string, value: string): Promise<void>;
  remove(key: string): Promise<void>;
}

const PAGE_SIZE = 4;

/** A provider of key/value pairs that lists in pages and misbehaves on demand. To it, an empty key means every key. */
export class PairProvider implements Provider<PairReader, PairWriter> {
  readonly name = "pairs";
  readonly settleMs = 1_000;
  readonly callTimeoutMs = 5_000;
  readonly effects: Effect[] = [];
  readonly own = new PairAccount("ours");
  readonly other = new PairAccount("somebody else's");
  fault: Fault = "none";

  /** The account that answers to our credential now. */
  get answering(): PairAccount {
    return this.fault === "another-account" ? this.other : this.own;
  }

  open(): ProviderAccount<PairReader, PairWriter> {
    return {
      identity: async () => {
        this.#mayAnswer();
        const { fingerprint, sentinel } = this.answering;
        return { fingerprint, sentinel };
      },
      claim: async (sentinel) => {
        this.#mayAnswer();
        this.answering.sentinel = sentinel;
      },
      collections: { pairs: async (token) => this.#page(token) },
      reader: { get: async (key) => (this.#seesNothing() ? undefined : this.answering.pairs.get(key)) },
      writer: {
        put: async (key, value) => {
          for (const name of this.#meant(key)) this.#put(name, value);
        },
        remove: async (key) => {
          for (const name of this.#meant(key)) this.#remove(name);
        },
      },
    };
  }

  /** Somebody changes a pair by hand. */
  edit(key: string, value: string): void {
    this.own.pairs.set(key, value);
  }

  #page(token: string | undefined): Page<Pair> {
    this.#mayAnswer();
    if (this.fault === "nothing-listed") return { entries: [] };
    const from = token === undefined ? 0 : Number(token);
    if (from > 0 && this.fault === "half-a-list")
      throw new RetryableError("PROVIDER_UNAVAILABLE", "503 on the second page", { ambiguous: false });
    const pairs = [...this.answering.pairs].sort(([left], [right]) => (left < right ? -1 : 1));
    const entries = pairs.slice(from, from + PAGE_SIZE).map(([key, value]) => ({ key, value }));
    const next = from + PAGE_SIZE < pairs.length ? String(from + PAGE_SIZE) : undefined;
    if (from > 0 && this.fault === "repeated-token") return { entries, next: token };
    return { entries, next };
  }

  #mayAnswer(): void {
    if (this.fault === "not-found") throw new TerminalError("NOT_FOUND", "404 not found");
  }

  #seesNothing(): boolean {
    return this.fault === "not-found" || this.fault === "nothing-listed";
  }

  #meant(key: string): readonly string[] {
    this.#mayAnswer();
    return key === "" ? [...this.answering.pairs.keys()] : [key];
  }

  #put(key: string, value: string): void {
    const { name, pairs } = this.answering;
    this.effects.push({ effect: pairs.has(key) ? "update" : "create", account: name, key });
    pairs.set(key, value);
  }

  #remove(key: string): void {
    const { name, pairs } = this.answering;
    if (pairs.delete(key)) this.effects.push({ effect: "delete", account: name, key });
  }
}

/** The example kind's pairs at an account of that provider. */
export function accountBackend(account: string): Backend {
  return {
    accounts: [account],
    look: async (ctx) => {
      const inventory = await ctx.inventory<Pair>("pairs");
      const items = inventory.entries.map(({ key, value }) => ({ key, externalId: key, item: { value } }));
      return ctx.from(inventory, items);
    },
    get: (key, ctx) => (ctx.reader as PairReader).get(key),
    put: (key, value, ctx) => (ctx.writer as PairWriter).put(key, value),
    remove: (key, ctx) => (ctx.writer as PairWriter).remove(key),
  };
}
