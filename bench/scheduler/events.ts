import { setTimeout as wait } from "node:timers/promises";
import type { BenchChild } from "../harness/child.ts";
import { pairedRatio } from "../harness/pairs.ts";
import { median, percentile } from "../harness/statistics.ts";
import type { FloorCalls } from "./floor-process.ts";
import { type LatencySummary, matchStarts, medians, summarize } from "./latencies.ts";
import type { SchedulerCalls } from "./scheduler-process.ts";
import type { WriterCalls } from "./writer-process.ts";

export interface GraphileWorkerCalls {
  readonly [name: string]: (...values: never[]) => unknown;
  readonly ready: () => void;
  readonly watchStarts: () => void;
  readonly starts: () => { readonly items: Float64Array; readonly atMs: Float64Array };
}
export interface GraphileAdderCalls {
  readonly [name: string]: (...values: never[]) => unknown;
  readonly ready: () => void;
  readonly add: (options: { readonly first: number; readonly count: number; readonly perSecond: number }) => {
    readonly calledMs: Float64Array;
    readonly committedMs: Float64Array;
  };
}

export interface EventOptions {
  readonly scheduler: BenchChild<SchedulerCalls>;
  readonly writer: BenchChild<WriterCalls>;
  readonly floor: BenchChild<FloorCalls>;
  readonly graphile: {
    readonly worker: BenchChild<GraphileWorkerCalls>;
    readonly adder: BenchChild<GraphileAdderCalls>;
  };
  readonly rounds: number;
  readonly perRound: number;
  readonly perSecond: number;
  /** Items to edit, each once per round. */
  readonly items: readonly number[];
}

/** An edit in one process, the start of its cycle in another; and the same for a bare NOTIFY and for graphile-worker. */
export async function measureEvents(options: EventOptions): Promise<Readonly<Record<string, number>>> {
  const { perRound, perSecond, rounds } = options;
  const floors: number[] = [];
  const ours: LatencySummary[] = [];
  const graphile: LatencySummary[] = [];
  // The first round warms plans, connections and code up on all sides and is thrown away.
  for (let round = 0; round <= rounds; round++) {
    const count = round === 0 ? Math.ceil(perRound / 4) : perRound;
    const floor = await notifyRound(options.floor, Math.ceil(count / 4), perSecond);
    const own = await eventRound(options, options.items.slice(0, count), perSecond, `round ${round}`);
    // What our events leave to be settled must not slow graphile-worker down.
    await options.scheduler.call("quiet");
    const peer = await graphileRound(options.graphile, count, perSecond);
    if (round === 0) continue;
    floors.push(floor);
    ours.push(own);
    graphile.push(peer);
  }
  const own = medians(ours);
  const peer = medians(graphile);
  const runs = { floors: graphile, contenders: ours };
  const ratio = (field: keyof LatencySummary) =>
    pairedRatio(runs, { floor: (each) => each[field], contender: (each) => each[field] }).median;
  return {
    event_to_cycle_p50_ms: own.fromCommitP50Ms,
    event_to_cycle_p95_ms: own.fromCommitP95Ms,
    event_to_cycle_p99_ms: own.fromCommitP99Ms,
    event_call_to_cycle_p50_ms: own.fromCallP50Ms,
    event_call_to_commit_p50_ms: own.callToCommitP50Ms,
    event_rate_per_second: own.perSecond,
    event_floor_notify_p50_ms: median(floors),
    graphile_add_to_start_p50_ms: peer.fromCommitP50Ms,
    graphile_add_to_start_p99_ms: peer.fromCommitP99Ms,
    graphile_call_to_start_p50_ms: peer.fromCallP50Ms,
    graphile_rate_per_second: peer.perSecond,
    event_to_cycle_vs_graphile: ratio("fromCommitP50Ms"),
    event_call_to_cycle_vs_graphile: ratio("fromCallP50Ms"),
  };
}

/** Edits the items at a rate and says how long each waited for its cycle to begin. */
export async function eventRound(
  options: Pick<EventOptions, "scheduler" | "writer">,
  items: readonly number[],
  perSecond: number,
  note: string,
): Promise<LatencySummary> {
  await options.scheduler.call("watchStarts");
  const written = await options.writer.call("declare", { items, perSecond, note });
  const { awaited, periodic } = await startedAll(options.scheduler, items);
  return summarize(matchStarts(items, written, awaited, periodic));
}

/** Others may start too, so the items are looked for by name. Whoever is missing when nothing is left to do is missing. */
async function startedAll(scheduler: BenchChild<SchedulerCalls>, items: readonly number[]) {
  for (let tries = 0; tries < 500; tries++) {
    const started = await scheduler.call("starts");
    const known = new Set(started.awaited.items);
    if (items.every((item) => known.has(item))) return started;
    await wait(20);
  }
  await scheduler.call("settled");
  return await scheduler.call("starts");
}

async function graphileRound(
  { adder, worker }: EventOptions["graphile"],
  count: number,
  perSecond: number,
): Promise<LatencySummary> {
  await worker.call("watchStarts");
  const written = await adder.call("add", { first: 0, count, perSecond });
  for (let tries = 0; ; tries++) {
    const started = await worker.call("starts");
    if (started.items.length >= count || tries >= 3_000) {
      const numbers = Array.from({ length: count }, (_, index) => index);
      return summarize(matchStarts(numbers, written, started));
    }
    await wait(20);
  }
}

async function notifyRound(floor: BenchChild<FloorCalls>, count: number, perSecond: number): Promise<number> {
  await floor.call("listen");
  const committedMs = await floor.call("notify", { count, perSecond });
  await wait(50);
  const heardMs = await floor.call("heard");
  return percentile(
    Array.from(heardMs, (atMs, index) => Math.max(0, atMs - (committedMs[index] as number))),
    50,
  );
}
