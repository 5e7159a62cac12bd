import { setTimeout as wait } from "node:timers/promises";
import { startHousekeeping } from "../../src/compose/housekeeping.ts";
import { PostgresSignalListener } from "../../src/fabric/postgres-signals.ts";
import type { Claim } from "../../src/kernel/claim.ts";
import { runCycle } from "../../src/kernel/cycle.ts";
import { noMetrics } from "../../src/scheduler/metrics.ts";
import { type Scheduler, startScheduler } from "../../src/scheduler/scheduler.ts";
import { answerCalls } from "../harness/child.ts";
import { machineMs } from "../harness/pacing.ts";
import { benchEngine } from "./bench-engine.ts";
import { BenchWorld } from "./bench-world.ts";
import { CountingDatabase } from "./counting-database.ts";
import { accountOf, type Geometry, itemCount, itemOfSubject, subjectIdOf } from "./geometry.ts";
import type { Starts } from "./latencies.ts";

/** One process with the production scheduler in it. What it did is counted here and asked for by the parent. */
interface Counts {
  readonly cycles: number;
  /** Cycles that wrote nothing. */
  readonly idle: number;
  readonly results: Readonly<Record<string, number>>;
  /** Transactions of this process, those that only read included. */
  readonly transactions: number;
  readonly providerCalls: number;
  readonly updates: number;
  /** Items that differ outside from what is declared. */
  readonly drifted: number;
  readonly waiting: number;
  readonly running: number;
}

const WARM_ACCOUNTS = 4;
const WARM_TOGETHER = 200;

const cleanup = new AsyncDisposableStack();
const [, , url = "", geometryText = ""] = process.argv;
const geometry = JSON.parse(geometryText) as Geometry;
const world = new BenchWorld(geometry);
const engine = benchEngine({ url, geometry, world, cleanup });
const results: Record<string, number> = {};
let cycles = 0;
let idle = 0;
let lastChangedMs = 0;
/** When the first cycle of each subject began that somebody waits for, by the machine's clock. */
let starts = new Map<number, number>();
/** When the latest periodic one of each began: it serves an event that was committed just before. */
let periodicStarts = new Map<number, number>();

const scheduler: Scheduler = startScheduler(engine, {
  holder: "bench",
  metrics: {
    ...noMetrics,
    cycleEnded: ({ report }) => {
      cycles += 1;
      if (report.idle) idle += 1;
      results[report.result] = (results[report.result] ?? 0) + 1;
      if (report.result === "changed") lastChangedMs = machineMs();
    },
  },
  run: (seen, claim) => {
    if (claim.trigger === "resync") periodicStarts.set(claim.subjectId, machineMs());
    else if (!starts.has(claim.subjectId)) starts.set(claim.subjectId, machineMs());
    return runCycle(seen, claim);
  },
});
cleanup.defer(() => scheduler.drain());
// What the product's scheduler process does beside: it costs the idle state something too.
const administration = new CountingDatabase({ url, role: "setpoint_admin", log: engine.log, max: 1 });
cleanup.defer(() => administration.end());
cleanup.use(
  startHousekeeping({ administration, clock: engine.clock, log: engine.log, retention: true, appends: false }),
);
cleanup.use(
  new PostgresSignalListener({
    url,
    clock: engine.clock,
    log: engine.log,
    heard: (signal) => (signal === "perhaps" ? scheduler.poke() : scheduler.hear(signal)),
  }),
);

/** A look that nobody waits for, by an actor without a lease, who could write nothing. */
function lookAt(subjectId: number): Claim {
  return {
    subjectId,
    actor: { holder: "bench-warm-up", shard: 0, epoch: 0 },
    quietSinceMonotonicMs: undefined,
    trigger: "resync",
    leaseRemainingMs: () => 0,
    signal: new AbortController().signal,
  };
}

function startsIn(bySubject: ReadonlyMap<number, number>): Starts {
  return { items: Float64Array.from(bySubject.keys(), itemOfSubject), atMs: Float64Array.from(bySubject.values()) };
}

function counts(): Counts {
  const { queues, running } = scheduler.snapshot();
  return {
    cycles,
    idle,
    results: { ...results },
    transactions: engine.database.transactions + administration.transactions,
    providerCalls: world.calls,
    updates: world.updates,
    drifted: world.drifted,
    waiting: queues.reduce((sum, queue) => sum + queue.waiting, 0),
    running,
  };
}

const calls = {
  /** Resolves when every shard is leased and every subject has its timer. */
  async ready(): Promise<void> {
    for (;;) {
      const { shards, subjects } = scheduler.snapshot();
      if (shards.length === 64 && shards.every(({ listed }) => listed) && subjects === itemCount(geometry)) return;
      await wait(20);
    }
  },
  /** Looks at the things of the first accounts again and again, outside their turns. They are as declared: nothing is written. */
  async warmUp(looks: number): Promise<void> {
    const subjects = WARM_ACCOUNTS * geometry.itemsPerAccount;
    for (let done = 0; done < looks; done += WARM_TOGETHER) {
      const reports = Array.from({ length: WARM_TOGETHER }, (_, index) =>
        runCycle(engine, lookAt(subjectIdOf((done + index) % subjects))),
      );
      for (const { idle: wroteNothing, message } of await Promise.all(reports))
        if (!wroteNothing) throw new Error(`A look of the warm-up wrote something: ${message}`);
    }
  },
  counts,
  /**
   * Resolves when nothing differs outside and this many cycles in all have written there and were settled; answers with the
   * time of the last settlement.
   */
  async healed(changed: number): Promise<number> {
    while (world.drifted > 0 || (results["changed"] ?? 0) < changed) await wait(5);
    return lastChangedMs;
  },
  /** Resolves when nothing waits, nothing runs, and nothing is stored as due. */
  async settled(): Promise<void> {
    for (;;) {
      const { running, waiting } = counts();
      const due = await engine.store.dueSubjects({ shards: Array.from({ length: 64 }, (_, shard) => shard), limit: 1 });
      if (running + waiting + due.length === 0) return;
      await wait(50);
    }
  },
  /** Resolves when nothing that somebody waits for waits or runs. */
  async quiet(): Promise<void> {
    const urgent = () =>
      scheduler.snapshot().queues.some(({ priority, waiting }) => priority !== "resync" && waiting > 0);
    while (urgent() || scheduler.snapshot().running > 0) await wait(10);
  },
  /** Somebody edits these things by hand; whoever tells us of it says that what was listed before is old. */
  drift(items: readonly number[]): void {
    for (const item of items) world.drift(item);
    const accounts = new Set(items.map((item) => Math.floor(item / geometry.itemsPerAccount)));
    for (const account of accounts) engine.accounts.forget(accountOf(geometry, account).id);
  },
  watchStarts(): void {
    starts = new Map();
    periodicStarts = new Map();
  },
  /** Item numbers and start times of the watched cycles, and of the periodic ones. */
  starts(): { readonly awaited: Starts; readonly periodic: Starts } {
    return { awaited: startsIn(starts), periodic: startsIn(periodicStarts) };
  },
};
export type SchedulerCalls = typeof calls;

answerCalls(calls, () => cleanup.disposeAsync());
