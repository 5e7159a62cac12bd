import { SHARDS } from "./hash.ts";
import type { Clock } from "../ports/clock.ts";
import type { ShardLease, ShardLeases } from "../ports/engine-store.ts";
import type { Log } from "../ports/log.ts";
import { Wake } from "./wake.ts";
import { within } from "./within.ts";

/** After a statement failed: soon enough to save the lease, rarely enough not to press a database that struggles. */
const RETRY_MS = 1_000;

export interface LeaseSettings {
  /** How long a shard stays ours without a renewal. */
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** How often to compare what we hold with our fair share. */
  readonly balanceEveryMs: number;
  /** `fair`: the shards divided by the live holders, rounded up. */
  readonly wantedShards: "fair" | number;
  /** A statement about leases that takes longer counts as failed. */
  readonly storeTimeoutMs: number;
}

/** `taken`: the store says it is not ours. `ran-out`: no renewal was confirmed in time. */
export type LeaseLoss = "taken" | "ran-out";

/**
 * A shard we were told is ours. `learned`: not used yet, because an earlier request whose answer was lost may have taken it long
 * ago; the first renewal says how long it really lasts. `held`: in use. `leaving`: being handed over. `forsaken`: something of it
 * would not end, so it is neither used nor renewed nor released, and whoever takes it after it ran out starts quietly.
 */
export interface HeldShard {
  readonly shard: number;
  readonly epoch: number;
  /** Deletes rest only on looks begun after this; undefined after an orderly hand-over. */
  readonly quietSinceMonotonicMs: number | undefined;
  state: "learned" | "held" | "leaving" | "forsaken";
  /** Both clocks just before the last confirmed renewal was sent. */
  sent: Sent;
}

interface Sent {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export interface LeaseEvents {
  gained(held: HeldShard): void;
  /** Nothing of the shard may go on: abort its cycles, drop its timers. */
  lost(held: HeldShard, loss: LeaseLoss): void;
  /** Start nothing more in the shard. True once all its cycles have ended, false when one had to be given up. */
  quiesce(shard: number): Promise<boolean>;
  /** Handed over in order: forget the shard. */
  released(held: HeldShard): void;
  failed(what: string, thrown: unknown): void;
}

/** Takes, renews and hands over shards. What it knows is never more than what a renewal that was answered has proven. */
export class Leases {
  readonly holder: string;
  readonly #role: string;
  readonly #store: ShardLeases;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #settings: LeaseSettings;
  readonly #events: LeaseEvents;
  readonly #renewing: Wake;
  readonly #balancing: Wake;
  readonly #shards: (HeldShard | undefined)[] = Array.from({ length: SHARDS }, () => undefined);
  readonly #handOvers = new Set<Promise<void>>();
  readonly #givenUpEpochs: number[] = Array.from({ length: SHARDS }, () => 0);
  #taking = true;
  #stopped = false;

  constructor(options: {
    readonly holder: string;
    /** Whose leases they are, for the log. */
    readonly role: "scheduler" | "worker";
    readonly store: ShardLeases;
    readonly clock: Clock;
    readonly log: Log;
    readonly settings: LeaseSettings;
    readonly events: LeaseEvents;
  }) {
    this.holder = options.holder;
    this.#role = options.role;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#settings = options.settings;
    this.#events = options.events;
    this.#renewing = new Wake(options.clock);
    this.#balancing = new Wake(options.clock);
  }

  /** The shard while it is ours and in use. */
  held(shard: number): HeldShard | undefined {
    const held = this.#shards[shard];
    return held?.state === "held" ? held : undefined;
  }

  /** Shards in use, lowest first. */
  all(): readonly HeldShard[] {
    return this.#shards.filter((held) => held?.state === "held") as HeldShard[];
  }

  /** Milliseconds a lease surely still lasts: by the clock that ran more, because a stopped machine's monotonic clock stands still and a wall clock can be set. */
  remainingMs(shard: number, epoch: number): number {
    const held = this.#shards[shard];
    if (held === undefined || held.epoch !== epoch || held.state === "learned") return 0;
    const elapsedMs = Math.max(
      this.#clock.nowMs() - held.sent.wallMs,
      this.#clock.monotonicMs() - held.sent.monotonicMs,
    );
    return Math.max(0, this.#settings.leaseMs - elapsedMs);
  }

  /** Gives up every shard whose lease ran out by our own count, whatever the store may still say. */
  expire(): void {
    const nowMs = this.#clock.nowMs();
    const monotonicMs = this.#clock.monotonicMs();
    for (const held of this.#shards) {
      if (held === undefined || held.state === "learned") continue;
      if (Math.max(nowMs - held.sent.wallMs, monotonicMs - held.sent.monotonicMs) >= this.#settings.leaseMs)
        this.#lose(held, "ran-out");
    }
  }

  /** Ends after `release`. Renewing never waits for balancing: a slow question must not cost a lease. */
  async run(): Promise<void> {
    await Promise.all([this.#keepRenewing(), this.#keepBalancing()]);
  }

  async #keepRenewing(): Promise<void> {
    let renewAtMs = 0;
    while (!this.#stopped) {
      this.expire();
      if (this.#clock.monotonicMs() >= renewAtMs || this.#hasLearned()) {
        const sentMs = this.#clock.monotonicMs();
        const answered = await this.#renew();
        renewAtMs = sentMs + (answered && !this.#hasLearned() ? this.#settings.renewEveryMs : RETRY_MS);
      }
      if (!this.#stopped) await this.#renewing.wait(this.#untilMs(renewAtMs));
    }
  }

  async #keepBalancing(): Promise<void> {
    while (this.#taking) {
      const settled = await this.#balance();
      if (this.#hasLearned()) this.#renewing.wake();
      if (this.#taking)
        await this.#balancing.wait(
          settled ? this.#settings.balanceEveryMs : Math.min(RETRY_MS, this.#settings.balanceEveryMs),
        );
    }
  }

  /** Hands over everything: waits for what runs, then releases. Renewals go on meanwhile. */
  async release(): Promise<void> {
    this.#taking = false;
    this.#balancing.wake();
    // Taken and never used: nobody knows what its last holder left under way, so it is not ours to hand over in order.
    for (const each of this.#shards) if (each?.state === "learned") this.#forsake(each);
    const held = this.all();
    const ended = await Promise.all(held.map((each) => this.#emptied(each)));
    await Promise.all(this.#handOvers);
    await this.#releaseAll(held.filter((_, index) => ended[index] === true));
    this.#stopped = true;
    this.#renewing.wake();
  }

  /** Until the next renewal, or until a lease runs out if that is sooner. */
  #untilMs(renewAtMs: number): number {
    const remaining = this.#shards.flatMap((held) =>
      held === undefined || held.state === "learned" ? [] : [this.remainingMs(held.shard, held.epoch)],
    );
    return Math.max(1, Math.min(renewAtMs - this.#clock.monotonicMs(), ...remaining));
  }

  #hasLearned(): boolean {
    return this.#shards.some((held) => held?.state === "learned");
  }

  /** One statement for all shards, counted from before it is sent. False when it was not answered. */
  async #renew(): Promise<boolean> {
    const claims = this.#shards.filter((held) => held !== undefined && held.state !== "forsaken") as HeldShard[];
    if (claims.length === 0) return true;
    const sent: Sent = { wallMs: this.#clock.nowMs(), monotonicMs: this.#clock.monotonicMs() };
    const shards = claims.map(({ epoch, shard }) => ({ shard, epoch }));
    const kept = await this.#ask(
      "renewShards",
      this.#store.renewShards({ holder: this.holder, leaseMs: this.#settings.leaseMs, shards }),
    );
    if (kept === undefined) return false;
    const ours = new Set(kept);
    for (const held of claims) {
      // Given up meanwhile, or already another epoch: this answer does not speak of it.
      if (this.#shards[held.shard] !== held) continue;
      if (ours.has(held.shard)) this.#confirm(held, sent);
      else this.#lose(held, "taken");
    }
    return true;
  }

  #confirm(held: HeldShard, sent: Sent): void {
    held.sent = sent;
    if (held.state !== "learned") return;
    if (!this.#taking) {
      this.#forsake(held);
      return;
    }
    held.state = "held";
    if (this.remainingMs(held.shard, held.epoch) === 0) {
      held.state = "learned";
      return;
    }
    this.#log.debug(`${this.#role}.shard_gained`, {
      shard: held.shard,
      epoch: held.epoch,
      quiet: held.quietSinceMonotonicMs !== undefined,
    });
    this.#events.gained(held);
  }

  #lose(held: HeldShard, loss: LeaseLoss): void {
    this.#shards[held.shard] = undefined;
    this.#log.warn(`${this.#role}.shard_lost`, { shard: held.shard, epoch: held.epoch, cause: loss });
    this.#events.lost(held, loss);
  }

  /** Takes what is free up to our share; hands over what is above it. False when it is worth asking again soon. */
  async #balance(): Promise<boolean> {
    const share = await this.#share();
    if (share === undefined || !this.#taking) return false;
    const mine = this.#shards.filter((held) => held !== undefined && held.state !== "forsaken") as HeldShard[];
    const staying = mine.filter((held) => held.state !== "leaving");
    for (const held of staying.slice(share.wanted)) if (held.state === "held") this.#handOver(held);
    if (mine.length >= share.wanted) return true;
    // Also when nothing is free: asking makes us known to the others as live, so that they hand over.
    const { leaseMs } = this.#settings;
    const leases = await this.#ask(
      "takeShards",
      this.#store.takeShards({ holder: this.holder, wanted: share.wanted, leaseMs }),
    );
    if (this.#taking) for (const lease of leases ?? []) this.#learn(lease);
    return leases !== undefined && !share.moreIsComing;
  }

  async #share(): Promise<{ readonly wanted: number; readonly moreIsComing: boolean } | undefined> {
    const { wantedShards } = this.#settings;
    if (wantedShards !== "fair") return { wanted: wantedShards, moreIsComing: true };
    const holders = await this.#ask("shardHolders", this.#store.shardHolders());
    if (holders === undefined) return undefined;
    const others = holders.filter(({ holder }) => holder !== this.holder);
    const wanted = Math.ceil(SHARDS / (others.length + 1));
    const taken = holders.reduce((sum, { shards }) => sum + shards, 0);
    return { wanted, moreIsComing: taken < SHARDS || others.some(({ shards }) => shards > wanted) };
  }

  #learn(lease: ShardLease): void {
    const known = this.#shards[lease.shard];
    if (known !== undefined && known.epoch >= lease.epoch) return;
    // We let go of that lease ourselves; the store had not heard of it yet.
    if ((this.#givenUpEpochs[lease.shard] ?? 0) >= lease.epoch) return;
    if (known !== undefined) this.#lose(known, "taken");
    const monotonicMs = this.#clock.monotonicMs();
    this.#shards[lease.shard] = {
      shard: lease.shard,
      epoch: lease.epoch,
      quietSinceMonotonicMs: lease.quiet ? monotonicMs : undefined,
      state: "learned",
      sent: { wallMs: 0, monotonicMs: 0 },
    };
  }

  #handOver(held: HeldShard): void {
    const work = this.#leave(held).finally(() => this.#handOvers.delete(work));
    this.#handOvers.add(work);
  }

  async #leave(held: HeldShard): Promise<void> {
    if (await this.#emptied(held)) await this.#releaseAll([held]);
  }

  /** True when the shard is quiet and still ours. */
  async #emptied(held: HeldShard): Promise<boolean> {
    held.state = "leaving";
    const ended = await this.#events.quiesce(held.shard);
    if (this.#shards[held.shard] !== held) return false;
    if (!ended) this.#forsake(held);
    return ended;
  }

  #forsake(held: HeldShard): void {
    held.state = "forsaken";
    this.#givenUpEpochs[held.shard] = held.epoch;
    this.#log.warn(`${this.#role}.shard_forsaken`, { shard: held.shard, epoch: held.epoch });
  }

  async #releaseAll(leaving: readonly HeldShard[]): Promise<void> {
    const ours = leaving.filter((held) => this.#shards[held.shard] === held);
    if (ours.length === 0) return;
    for (const held of ours) {
      this.#shards[held.shard] = undefined;
      this.#givenUpEpochs[held.shard] = held.epoch;
    }
    const shards = ours.map(({ epoch, shard }) => ({ shard, epoch }));
    for (const held of ours) this.#events.released(held);
    this.#log.info(`${this.#role}.shards_released`, { shards: shards.map(({ shard }) => shard) });
    // Lost or late, it only costs the rest of the lease: the shards are free to take when it has run out.
    await this.#ask(
      "releaseShards",
      this.#store.releaseShards({ holder: this.holder, shards }).then(() => true),
    );
  }

  /** Undefined when the store failed or did not answer; the loop then asks again. */
  async #ask<T>(what: string, answer: Promise<T>): Promise<T | undefined> {
    try {
      return await within(this.#clock, { ms: this.#settings.storeTimeoutMs, what }, answer);
    } catch (thrown) {
      this.#events.failed(what, thrown);
      return undefined;
    }
  }
}
