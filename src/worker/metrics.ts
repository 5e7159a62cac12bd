import type { LeaseLoss } from "../kernel/leases.ts";
import type { OperationRecord } from "../ports/operation-store.ts";

export interface WorkerMetrics {
  /** How a turn left its operation; undefined when the lease was lost meanwhile. */
  turnEnded(turn: {
    readonly operation: OperationRecord | undefined;
    readonly steps: number;
    readonly waitedSeconds: number;
    readonly durationSeconds: number;
  }): void;
  turnLost(loss: "thrown" | "hung"): void;
  leaseLost(loss: LeaseLoss): void;
  storeFailed(what: string): void;
  gauges(gauges: { readonly running: number; readonly waiting: number; readonly shardsHeld: number }): void;
}

export const noWorkerMetrics: WorkerMetrics = Object.freeze({
  turnEnded: () => {},
  turnLost: () => {},
  leaseLost: () => {},
  storeFailed: () => {},
  gauges: () => {},
});
