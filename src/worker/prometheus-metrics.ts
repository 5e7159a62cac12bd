import { Counter, Gauge, Histogram, type Registry } from "@prometheus-io/client";
import type { LeaseLoss } from "../kernel/leases.ts";
import type { OperationState } from "../ports/operation-store.ts";
import type { WorkerMetrics } from "./metrics.ts";

const STATES = [
  "running",
  "held",
  "attention",
  "succeeded",
  "not-run",
  "cancelled",
] as const satisfies readonly OperationState[];
const LOSSES = ["taken", "ran-out"] as const satisfies readonly LeaseLoss[];
const TURN_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 120];
const WAIT_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1_800];

/** The worker's metrics in a registry of the caller's. Every series exists at zero before its first event. */
export function prometheusWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const turns = counter("setpoint_operation_turns_total", "Turns of operations, by how they left them.", ["state"]);
  const steps = counter("setpoint_operation_steps_total", "Steps that were done.");
  const lost = counter("setpoint_operation_turns_lost_total", "Turns that ended without a record, by cause.", [
    "cause",
  ]);
  const leases = counter("setpoint_worker_leases_lost_total", "Shards of operations that were lost, by cause.", [
    "cause",
  ]);
  const failures = counter("setpoint_worker_store_failures_total", "Statements of the worker's own that failed.");
  const running = gauge("setpoint_operations_running", "Operations that have their turn now.");
  const waiting = gauge("setpoint_operations_waiting", "Due operations that wait for a turn in this process.");
  const shards = gauge("setpoint_worker_shards", "Shards of operations that this process leases.");
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers });
  const duration = histogram("setpoint_operation_turn_seconds", "How long turns of operations take.", TURN_SECONDS);
  const wait = histogram("setpoint_operation_wait_seconds", "How long due operations wait for a turn.", WAIT_SECONDS);
  for (const state of [...STATES, "lost"]) turns.inc({ state }, 0);
  for (const cause of LOSSES) leases.inc({ cause }, 0);
  for (const cause of ["thrown", "hung"]) lost.inc({ cause }, 0);
  return {
    turnEnded: (turn) => {
      turns.inc({ state: turn.operation?.state ?? "lost" });
      steps.inc(turn.steps);
      duration.observe(turn.durationSeconds);
      wait.observe(turn.waitedSeconds);
    },
    turnLost: (cause) => lost.inc({ cause }),
    leaseLost: (cause) => leases.inc({ cause }),
    storeFailed: () => failures.inc(),
    gauges: (now) => {
      running.set(now.running);
      waiting.set(now.waiting);
      shards.set(now.shardsHeld);
    },
  };
}
