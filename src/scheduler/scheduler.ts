import type { Engine } from "../kernel/claim.ts";
import { runCycle } from "../kernel/cycle.ts";
import { thrownMessage } from "../kernel/errors.ts";
import type { Priority } from "../ports/engine-store.ts";
import type { Signal } from "../ports/signal.ts";
import { requireCallsWithinLease } from "./call-timeouts.ts";
import { Dispatcher } from "./dispatcher.ts";
import { DuePoller } from "./due-poller.ts";
import { IdleAggregate, type Seen } from "./idle-aggregate.ts";
import { type HeldShard, Leases } from "../kernel/leases.ts";
import { Listing } from "./listing.ts";
import { harmless, type LeaseLoss, type SchedulerMetrics } from "./metrics.ts";
import { type SchedulerOptions, type SchedulerSettings, schedulerSettings } from "./options.ts";
import { priorityOf } from "./priority.ts";
import type { Sweep } from "./subject-table.ts";
import { Wake } from "../kernel/wake.ts";
import { within } from "../kernel/within.ts";

export type { SchedulerOptions } from "./options.ts";

export interface SchedulerSnapshot {
  /** The name its leases stand under: the given one and an id of this start. */
  readonly holder: string;
  readonly shards: readonly {
    readonly shard: number;
    readonly epoch: number;
    readonly subjects: number;
    readonly listed: boolean;
  }[];
  readonly subjects: number;
  readonly queues: readonly { readonly priority: Priority; readonly waiting: number; readonly oldestSeconds: number }[];
  readonly running: number;
  readonly abandoned: number;
  readonly quarantined: number;
  readonly oldestUnseenSeconds: number;
}

export interface Scheduler extends AsyncDisposable {
  /** Something was stored, perhaps in these shards: look at once. May be called as often as one likes. */
  poke(shards?: readonly number[]): void;
  /** What another process made due: subjects that are named have their turn without a poll. */
  hear(signal: Signal): void;
  /** Starts nothing more, lets what runs end within a limit, releases the shards. Called again, it waits for the same end. */
  drain(): Promise<void>;
  snapshot(): SchedulerSnapshot;
}

/** Leases shards, keeps their timers, runs cycles. Everything it stands on is in the engine: it may run many times in one process. */
export function startScheduler(engine: Engine, options: SchedulerOptions): Scheduler {
  const settings = schedulerSettings(options, runCycle);
  requireCallsWithinLease(engine.accounts.providers, settings);
  const scheduler = new ShardScheduler(engine, settings);
  scheduler.start();
  return scheduler;
}

/** Due subjects in memory that last for seconds at any pace. */
const PLENTY = 5_000;

class ShardScheduler implements Scheduler {
  readonly #engine: Engine;
  readonly #settings: SchedulerSettings;
  readonly #metrics: SchedulerMetrics;
  readonly #leases: Leases;
  readonly #dispatcher: Dispatcher;
  readonly #poller: DuePoller;
  readonly #listing: Listing;
  readonly #idle = new IdleAggregate();
  readonly #housekeeping: Wake;
  readonly #listed = new Set<HeldShard>();
  #idleAtMs: number;
  #draining: Promise<void> | undefined;
  #stopped = false;

  constructor(engine: Engine, settings: SchedulerSettings) {
    const { clock, log, store } = engine;
    this.#engine = engine;
    this.#settings = settings;
    this.#metrics = harmless(settings.metrics, log);
    this.#housekeeping = new Wake(clock);
    this.#idleAtMs = clock.monotonicMs();
    const failed = (what: string, thrown: unknown) => this.#storeFailed(what, thrown);
    this.#leases = new Leases({
      role: "scheduler",
      holder: `${settings.holder}/${engine.ids.next()}`,
      store,
      clock,
      log,
      settings,
      events: {
        gained: (held) => this.#gained(held),
        lost: (held, loss) => this.#lost(held, loss),
        quiesce: (shard) => this.#dispatcher.quiesce(shard),
        released: (held) => this.#forget(held),
        failed,
      },
    });
    this.#dispatcher = new Dispatcher({
      engine,
      settings,
      metrics: this.#metrics,
      leases: this.#leases,
      idle: this.#idle,
      settled: (id, coversDueMs) => this.#poller.settled(id, coversDueMs),
    });
    this.#poller = new DuePoller({
      store,
      clock,
      settings,
      events: {
        shards: () => this.#leases.all().map(({ shard }) => shard),
        due: (row) => this.#dispatcher.due(row),
        polled: () => this.#dispatcher.pump(),
        hasRoomAgain: () => this.#dispatcher.queue.size < settings.queuedMax / 2,
        hasPlenty: () => this.#dispatcher.queue.turnsWaiting >= PLENTY,
        failed,
      },
    });
    this.#listing = new Listing({
      store,
      clock,
      settings,
      events: {
        isOurs: (held) => this.#leases.held(held.shard) === held,
        subject: (entry, shard) => this.#dispatcher.know(entry, shard),
        listed: (held) => this.#wasListed(held),
        failed,
      },
    });
  }

  start(): void {
    this.#engine.log.info("scheduler.started", { holder: this.#leases.holder });
    void this.#leases.run();
    void this.#poller.run();
    void this.#dispatcher.run();
    void this.#housekeep();
  }

  poke(shards?: readonly number[]): void {
    this.#poller.poke(shards);
  }

  hear({ due, shards }: Signal): void {
    const unknown = due.filter((edge) => !this.#dispatcher.edge(edge)).map((edge) => edge.shard);
    if (unknown.length < due.length) this.#dispatcher.pump();
    if (shards.length + unknown.length > 0) this.#poller.poke([...shards, ...unknown]);
  }

  drain(): Promise<void> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
  }

  snapshot(): SchedulerSnapshot {
    const { queue, runner, strikes, timers } = this.#dispatcher;
    const subjects = timers.table.groups.subjectsByShard();
    return {
      holder: this.#leases.holder,
      shards: this.#leases.all().map((held) => ({
        shard: held.shard,
        epoch: held.epoch,
        subjects: subjects[held.shard] ?? 0,
        listed: this.#listed.has(held),
      })),
      subjects: timers.table.size,
      queues: this.#queues(),
      running: queue.running,
      abandoned: runner.abandoned,
      quarantined: strikes.quarantined,
      oldestUnseenSeconds: this.#ageSeconds(timers.table.sweep().oldestMs),
    };
  }

  async #drain(): Promise<void> {
    this.#engine.log.info("scheduler.draining", { running: this.#dispatcher.queue.running });
    this.#poller.stop();
    this.#listing.stop();
    const sweep = this.#dispatcher.timers.table.sweep();
    const released = this.#leases.release();
    // What was seen is said by us: the next holder has to look at everything before it can say as much.
    await this.#recordIdle(sweep);
    await released;
    if (this.#idle.pending > 0) await this.#recordIdle({ seenSinceMs: [], loops: [] });
    this.#dispatcher.stop();
    this.#stopped = true;
    this.#housekeeping.wake();
    this.#engine.log.info("scheduler.drained", { abandoned: this.#dispatcher.runner.abandoned });
  }

  #gained(held: HeldShard): void {
    this.#poller.gained(held.shard);
    this.#listing.gained(held);
  }

  #lost(held: HeldShard, loss: LeaseLoss): void {
    this.#metrics.leaseLost(loss);
    this.#dispatcher.interruptShard(held.shard, `the lease of shard ${held.shard} was lost`);
    this.#forget(held);
  }

  #forget(held: HeldShard): void {
    this.#listed.delete(held);
    this.#idle.forgetShard(held.shard);
    this.#dispatcher.dropShard(held.shard);
  }

  #wasListed(held: HeldShard): void {
    this.#listed.add(held);
    this.#engine.log.debug("scheduler.shard_listed", {
      shard: held.shard,
      epoch: held.epoch,
      subjects: this.#dispatcher.timers.table.size,
    });
    this.#dispatcher.pump();
  }

  async #housekeep(): Promise<void> {
    while (!this.#stopped) {
      await this.#housekeeping.wait(this.#settings.idleEveryMs);
      if (this.#stopped) return;
      const sweep = this.#dispatcher.timers.table.sweep();
      this.#publish(sweep.oldestMs);
      const sinceMs = this.#engine.clock.monotonicMs() - this.#idleAtMs;
      const worth =
        this.#idle.pending >= this.#settings.idleBatch ||
        (this.#idle.pending > 0 && sinceMs >= this.#settings.idleAtLatestMs);
      if (worth) await this.#recordIdle(sweep);
    }
  }

  /** One commit for all idle cycles since the last one. */
  async #recordIdle(sweep: Pick<Sweep, "seenSinceMs" | "loops">): Promise<void> {
    const { accounts, clock, store } = this.#engine;
    const nowMs = clock.monotonicMs();
    this.#idle.fresh(accounts.takeFreshness());
    const batch = this.#idle.take(this.#leases.holder, this.#seenOf(sweep), clock.nowMs());
    this.#idleAtMs = nowMs;
    if (batch === undefined) return;
    try {
      await within(clock, { ms: this.#settings.storeTimeoutMs, what: "recordIdle" }, store.recordIdle(batch));
    } catch (thrown) {
      this.#idle.giveBack(batch);
      this.#storeFailed("recordIdle", thrown);
    }
  }

  /** Of shards that were listed whole: what was not listed yet was not looked at. */
  #seenOf({ seenSinceMs, loops }: Pick<Sweep, "seenSinceMs" | "loops">): Seen {
    const { clock } = this.#engine;
    const behindMs = clock.nowMs() - clock.monotonicMs();
    const listed = [...this.#listed].map(({ shard }) => shard).sort((left, right) => left - right);
    const isListed = new Set(listed);
    return {
      shards: listed.flatMap((shard) => {
        const sinceMs = seenSinceMs[shard];
        return sinceMs === undefined ? [] : [{ shard, sinceMs: Math.floor(sinceMs + behindMs) }];
      }),
      loops: loops
        .filter(({ shard }) => isListed.has(shard))
        .map(({ shard, kind, sinceMs }) => ({ shard, kind, sinceMs: Math.floor(sinceMs + behindMs) })),
    };
  }

  #publish(oldestLookMs: number | undefined): void {
    const { queue, runner, strikes, timers, waits } = this.#dispatcher;
    this.#metrics.gauges({
      subjects: timers.table.size,
      shardsHeld: this.#leases.all().length,
      running: queue.running,
      abandoned: runner.abandoned,
      quarantined: strikes.quarantined,
      queues: this.#queues(),
      longestWaitSeconds: waits.seconds(this.#engine.clock.monotonicMs()),
      oldestUnseenSeconds: this.#ageSeconds(oldestLookMs),
    });
  }

  #queues(): SchedulerSnapshot["queues"] {
    return this.#dispatcher.queue.depths().map(({ oldestSinceMs, waiting }, rank) => ({
      priority: priorityOf(rank),
      waiting,
      oldestSeconds: this.#ageSeconds(oldestSinceMs),
    }));
  }

  #ageSeconds(sinceMs: number | undefined): number {
    return sinceMs === undefined ? 0 : Math.max(0, (this.#engine.clock.monotonicMs() - sinceMs) / 1_000);
  }

  #storeFailed(what: string, thrown: unknown): void {
    this.#metrics.storeFailed(what);
    this.#engine.log.warn("scheduler.store_failed", {
      what,
      error: thrownMessage(thrown),
    });
  }
}
