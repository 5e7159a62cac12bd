import { thrownMessage } from "../kernel/errors.ts";
import { type HeldShard, Leases } from "../kernel/leases.ts";
import type { OperationEngine } from "../kernel/operation-scene.ts";
import { Wake } from "../kernel/wake.ts";
import { within } from "../kernel/within.ts";
import type { ShardLeases } from "../ports/engine-store.ts";
import type { DueOperation, OperationStore } from "../ports/operation-store.ts";
import { type WorkerOptions, type WorkerSettings, workerDefaults } from "./options.ts";
import { Turns } from "./turns.ts";

export type { WorkerOptions } from "./options.ts";

export interface Worker extends AsyncDisposable {
  /** Something may be due: look at once. */
  poke(): void;
  /** Starts nothing more, lets what runs end after its step, releases the shards. Called again, it waits for the same end. */
  drain(): Promise<void>;
  snapshot(): { readonly holder: string; readonly shards: number; readonly running: number; readonly waiting: number };
}

/** Leases shards of operations and gives the due ones their turns. It may run many times in one process. */
export function startWorker(engine: OperationEngine, options: WorkerOptions): Worker {
  const worker = new OperationWorker(engine, { ...workerDefaults, ...options });
  worker.start();
  return worker;
}

class OperationWorker implements Worker {
  readonly #engine: OperationEngine;
  readonly #settings: WorkerSettings;
  readonly #leases: Leases;
  readonly #turns: Turns;
  readonly #polling: Wake;
  /** Shards that are being handed over: nothing more begins there. */
  readonly #leaving = new Set<number>();
  #waiting: readonly DueOperation[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #draining: Promise<void> | undefined;
  #stopped = false;

  constructor(engine: OperationEngine, settings: WorkerSettings) {
    const { clock, log, operations } = engine;
    this.#engine = engine;
    this.#settings = settings;
    this.#polling = new Wake(clock);
    const holder = `${settings.holder}/${engine.ids.next()}`;
    this.#leases = new Leases({
      role: "worker",
      holder,
      store: leasesOf(operations),
      clock,
      log,
      settings,
      events: {
        gained: (held) => this.#gained(held),
        lost: (held, loss) => {
          settings.metrics.leaseLost(loss);
          this.#turns.abort(held.shard, `the lease of shard ${held.shard} is gone (${loss})`);
        },
        quiesce: (shard) => {
          this.#leaving.add(shard);
          return this.#turns.quiesce(shard);
        },
        released: (held) => void this.#leaving.delete(held.shard),
        failed: (what, thrown) => this.#storeFailed(what, thrown),
      },
    });
    this.#turns = new Turns({
      engine,
      holder,
      settings,
      leaseRemainingMs: (shard, epoch) => this.#leases.remainingMs(shard, epoch),
      freed: () => this.#fill(),
    });
  }

  start(): void {
    this.#running = Promise.all([this.#leases.run(), this.#poll()]);
  }

  poke(): void {
    this.#polling.wake();
  }

  snapshot() {
    const { holder } = this.#leases;
    return { holder, shards: this.#leases.all().length, running: this.#turns.size, waiting: this.#waiting.length };
  }

  drain(): Promise<void> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drain();
  }

  async #drain(): Promise<void> {
    this.#stopped = true;
    this.#waiting = [];
    this.#polling.wake();
    await this.#leases.release();
    await this.#running;
  }

  #gained(held: HeldShard): void {
    this.#leaving.delete(held.shard);
    this.#polling.wake();
  }

  async #poll(): Promise<void> {
    const { metrics, pollMs } = this.#settings;
    while (!this.#stopped) {
      await this.#fetch();
      this.#fill();
      const shardsHeld = this.#leases.all().length;
      metrics.gauges({ running: this.#turns.size, waiting: this.#waiting.length, shardsHeld });
      if (!this.#stopped) await this.#polling.wait(pollMs);
    }
  }

  /** The order is the store's: it is fair over everything that is due, whoever has a turn already. */
  async #fetch(): Promise<void> {
    const { pollBatch, storeTimeoutMs } = this.#settings;
    const shards = this.#leases.all().map(({ shard }) => shard);
    if (shards.length === 0) {
      this.#waiting = [];
      return;
    }
    const limit = pollBatch + this.#turns.size;
    try {
      const asked = this.#engine.operations.dueOperations({ shards, limit });
      this.#waiting = await within(this.#engine.clock, { ms: storeTimeoutMs, what: "dueOperations" }, asked);
    } catch (thrown) {
      this.#storeFailed("dueOperations", thrown);
    }
  }

  /** Begins what has room, in order. What an account has no room for keeps its place. */
  #fill(): void {
    if (this.#stopped) return;
    const left: DueOperation[] = [];
    for (const due of this.#waiting) {
      if (this.#turns.has(due.operationId)) continue;
      const held = this.#leases.held(due.shard);
      if (held === undefined || this.#leaving.has(due.shard)) continue;
      if (this.#turns.hasRoomAt(due)) this.#turns.begin(due, held);
      else left.push(due);
    }
    const more = this.#waiting.length >= this.#settings.pollBatch;
    this.#waiting = left;
    // More was due than one answer holds: the rest need not wait for the next poll.
    if (left.length === 0 && more) this.#polling.wake();
  }

  #storeFailed(what: string, thrown: unknown): void {
    this.#settings.metrics.storeFailed(what);
    const message = thrownMessage(thrown);
    this.#engine.log.warn("worker.store_failed", { what, message });
  }
}

function leasesOf(store: OperationStore): ShardLeases {
  return {
    takeShards: (request) => store.takeWorkerShards(request),
    renewShards: (request) => store.renewWorkerShards(request),
    releaseShards: (request) => store.releaseWorkerShards(request),
    shardHolders: () => store.workerShardHolders(),
  };
}
