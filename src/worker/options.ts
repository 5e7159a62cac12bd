import type { LeaseSettings } from "../kernel/leases.ts";
import { noWorkerMetrics, type WorkerMetrics } from "./metrics.ts";

export interface WorkerSettings extends LeaseSettings {
  /** A name for people. Each start adds an id of its own: a restarted process must never pass for the one before it. */
  readonly holder: string;
  /** Operations that have their turn at the same time, in all and at one account. */
  readonly runningMax: number;
  readonly runningPerAccountMax: number;
  /** How late a due operation is found when its poke was lost, and how many are fetched at once. */
  readonly pollMs: number;
  readonly pollBatch: number;
  /** A turn that takes longer is aborted, and given up when it has not ended `abandonAfterMs` later. */
  readonly turnDeadlineMs: number;
  readonly abandonAfterMs: number;
  /** How long running turns may go on when a shard is handed over or the process shuts down. */
  readonly drainMs: number;
  readonly metrics: WorkerMetrics;
}

export type WorkerOptions = Pick<WorkerSettings, "holder"> & Partial<WorkerSettings>;

export const workerDefaults = Object.freeze({
  leaseMs: 15_000,
  renewEveryMs: 4_000,
  // What a dead worker leaves behind is found by asking: often, because somebody waits for it.
  balanceEveryMs: 1_000,
  wantedShards: "fair",
  storeTimeoutMs: 5_000,
  runningMax: 256,
  runningPerAccountMax: 32,
  pollMs: 500,
  pollBatch: 1_000,
  turnDeadlineMs: 120_000,
  abandonAfterMs: 10_000,
  drainMs: 20_000,
  metrics: noWorkerMetrics,
} satisfies Omit<WorkerSettings, "holder">);
