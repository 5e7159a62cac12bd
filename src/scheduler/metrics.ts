import type { CycleReport } from "../kernel/claim.ts";
import { thrownMessage } from "../kernel/errors.ts";
import type { LeaseLoss } from "../kernel/leases.ts";
import type { Priority } from "../ports/engine-store.ts";
import type { Log } from "../ports/log.ts";

export interface CycleSample {
  readonly report: CycleReport;
  /** Of the subject; a report about a subject that is gone may not know it. */
  readonly kind: string;
  readonly trigger: Priority;
  readonly waitedSeconds: number;
  readonly durationSeconds: number;
}

/** Why a cycle ended without a report. */
export type CycleLoss = "thrown" | "hung" | "aborted";
export type { LeaseLoss };

/** The state between two cycles, published every few seconds. */
export interface SchedulerGauges {
  readonly subjects: number;
  readonly shardsHeld: number;
  readonly running: number;
  /** Cycles that were given up and have not ended yet. */
  readonly abandoned: number;
  readonly quarantined: number;
  readonly queues: readonly { readonly priority: Priority; readonly waiting: number; readonly oldestSeconds: number }[];
  /** The longest any subject waited for its turn lately, by bucket of organizations: bounded however many there are. */
  readonly longestWaitSeconds: readonly number[];
  readonly oldestUnseenSeconds: number;
}

export interface SchedulerMetrics {
  cycleEnded(sample: CycleSample): void;
  cycleLost(kind: string, loss: CycleLoss): void;
  /** From the first reason to run to the look or write that left nothing to do. */
  converged(kind: string, seconds: number): void;
  quarantined(kind: string): void;
  leaseLost(loss: LeaseLoss): void;
  storeFailed(what: string): void;
  gauges(gauges: SchedulerGauges): void;
  /** Calls taken from accounts' budgets, and asked for in vain. */
  callsTaken(count: number): void;
  callsBlocked(count: number): void;
}

export const noMetrics: SchedulerMetrics = Object.freeze({
  cycleEnded: () => {},
  cycleLost: () => {},
  converged: () => {},
  quarantined: () => {},
  leaseLost: () => {},
  storeFailed: () => {},
  gauges: () => {},
  callsTaken: () => {},
  callsBlocked: () => {},
});

/** The same metrics, unable to break the work they measure. */
export function harmless(metrics: SchedulerMetrics, log: Log): SchedulerMetrics {
  const safely = (record: () => void) => {
    try {
      record();
    } catch (thrown) {
      log.warn("scheduler.metrics_failed", { error: thrownMessage(thrown) });
    }
  };
  return {
    cycleEnded: (sample) => safely(() => metrics.cycleEnded(sample)),
    cycleLost: (kind, loss) => safely(() => metrics.cycleLost(kind, loss)),
    converged: (kind, seconds) => safely(() => metrics.converged(kind, seconds)),
    quarantined: (kind) => safely(() => metrics.quarantined(kind)),
    leaseLost: (loss) => safely(() => metrics.leaseLost(loss)),
    storeFailed: (what) => safely(() => metrics.storeFailed(what)),
    gauges: (gauges) => safely(() => metrics.gauges(gauges)),
    callsTaken: (count) => safely(() => metrics.callsTaken(count)),
    callsBlocked: (count) => safely(() => metrics.callsBlocked(count)),
  };
}
