import type { Marker } from "../../../src/kernel/loop.ts";
import type { AccountIdentity } from "../../../src/ports/provider.ts";

/** One thing at the provider, with what only the simulation knows: who really made it, and for which resource. */
export interface Thing {
  readonly id: string;
  /** What it belongs to at the provider: a set or a zone. */
  readonly group: string;
  readonly key: string;
  readonly value: string;
  /** Cannot be changed in place. */
  readonly size: number;
  readonly marker: Marker | "none" | { readonly foreign: string };
  readonly lock: string | undefined;
  readonly madeFor: string | undefined;
  readonly lockedAtMs: number;
  readonly markedAtMs: number;
}

interface Undo {
  readonly atMs: number;
  readonly id: string;
  readonly before: Thing | undefined;
}

/** The truth of one account at the provider. Things are immutable; each mutation can be undone for a stale view. */
export class OutsideAccount {
  readonly id: string;
  readonly organizationId: string;
  readonly settleMs: number;
  readonly fingerprint: string;
  readonly things = new Map<string, Thing>();
  sentinel: AccountIdentity["sentinel"];
  /** Things that somebody else keeps changing back at once, with the value he insists on and since when. */
  readonly rivals = new Map<string, { readonly value: string; readonly sinceMs: number }>();
  #view: readonly Thing[] | undefined;
  readonly #changedAtMs = new Map<string, number>();
  #log: Undo[] = [];
  #ids = 0;

  constructor(options: {
    readonly id: string;
    readonly organizationId: string;
    readonly settleMs: number;
    readonly fingerprint: string;
  }) {
    this.id = options.id;
    this.organizationId = options.organizationId;
    this.settleMs = options.settleMs;
    this.fingerprint = options.fingerprint;
  }

  nextId(): string {
    return `${this.fingerprint}-${++this.#ids}`;
  }

  /** Who made it is not something that anybody could see change. */
  attribute(id: string, madeFor: string): void {
    const thing = this.things.get(id);
    if (thing === undefined || thing.madeFor === madeFor) return;
    this.#view = undefined;
    this.things.set(id, { ...thing, madeFor });
  }

  /** When the thing was last made or changed by anybody. */
  changedAtMs(id: string): number {
    return this.#changedAtMs.get(id) ?? 0;
  }

  put(thing: Thing, nowMs: number): void {
    this.#remember(thing.id, nowMs);
    this.things.set(thing.id, thing);
  }

  remove(id: string, nowMs: number): void {
    this.#remember(id, nowMs);
    this.things.delete(id);
  }

  find(group: string, key: string): Thing | undefined {
    for (const thing of this.things.values()) if (thing.group === group && thing.key === key) return thing;
    return undefined;
  }

  /** Everything as it was at a time in the recent past, sorted by id. */
  viewAt(atMs: number): readonly Thing[] {
    if ((this.#log.at(-1)?.atMs ?? 0) <= atMs) return this.#sorted();
    let view: Map<string, Thing> = this.things;
    for (let at = this.#log.length - 1; at >= 0; at--) {
      const undo = this.#log[at];
      if (undo === undefined || undo.atMs <= atMs) break;
      if (view === this.things) view = new Map(this.things);
      if (undo.before === undefined) view.delete(undo.id);
      else view.set(undo.id, undo.before);
    }
    return [...view.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
  }

  /** The present, sorted once for as long as nothing changes. */
  #sorted(): readonly Thing[] {
    if (this.#view === undefined) {
      this.#view = [...this.things.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
    }
    return this.#view;
  }

  #remember(id: string, nowMs: number): void {
    this.#view = undefined;
    this.#changedAtMs.set(id, nowMs);
    this.#log.push({ atMs: nowMs, id, before: this.things.get(id) });
    if (this.#log.length > 512) this.#log = this.#log.filter((undo) => undo.atMs > nowMs - this.settleMs);
  }
}

/** A token bucket that really refills: what a provider that answers 429 keeps. */
export class Throttle {
  #perSecond: number;
  readonly #capacity: number;
  #tokens: number;
  #atMs = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#capacity = Math.max(2, perSecond * 2);
    this.#tokens = this.#capacity;
  }

  /** The provider gives as many calls as anybody wants. */
  lift(): void {
    this.#perSecond = 0;
  }

  /** 0 when the call may pass, else how long to wait. */
  take(nowMs: number): number {
    if (this.#perSecond === 0) return 0;
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((nowMs - this.#atMs) * this.#perSecond) / 1_000);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) * 1_000) / this.#perSecond);
    this.#tokens -= 1;
    return 0;
  }
}

/** One credential's way to the outside: which account answers, and which troubles it has at the moment. */
export interface Connection {
  readonly own: OutsideAccount;
  /** Somebody swapped the credential: this account answers instead. */
  swapped: OutsideAccount | undefined;
  readonly throttle: Throttle;
  notFound: boolean;
  readOnly: boolean;
}

export class Outside {
  readonly connections = new Map<string, Connection>();

  add(account: OutsideAccount, throttle: Throttle): void {
    this.connections.set(account.id, { own: account, swapped: undefined, throttle, notFound: false, readOnly: false });
  }

  connection(accountId: string): Connection {
    const connection = this.connections.get(accountId);
    if (connection === undefined) throw new Error(`The outside has no account ${accountId}`);
    return connection;
  }

  answering(accountId: string): OutsideAccount {
    const connection = this.connection(accountId);
    return connection.swapped ?? connection.own;
  }
}
