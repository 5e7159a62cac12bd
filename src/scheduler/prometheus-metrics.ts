import { Counter, Gauge, Histogram, type Registry } from "@prometheus-io/client";
import type { CycleResult } from "../kernel/claim.ts";
import type { GuardName, Verdict } from "../ports/records.ts";
import { WAIT_BUCKETS } from "./longest-waits.ts";
import type { CycleLoss, LeaseLoss, SchedulerGauges, SchedulerMetrics } from "./metrics.ts";
import { PRIORITIES } from "./priority.ts";

const RESULTS = [
  "converged",
  "changed",
  "observing",
  "held",
  "refused",
  "waiting",
  "paused",
  "failed",
  "stalled",
  "superseded",
  "gone",
] as const satisfies readonly CycleResult[];
const ACTIONS = ["create", "update", "replace", "delete"] as const;
const LOSSES = ["thrown", "hung", "aborted"] as const satisfies readonly CycleLoss[];
const LEASE_LOSSES = ["taken", "ran-out"] as const satisfies readonly LeaseLoss[];
const ANSWERS = ["trim", "wait", "hold", "refuse"] as const satisfies readonly Verdict["answer"][];
const GUARDS = [
  "mode",
  "pause",
  "evidence",
  "quiet-start",
  "complete-reads",
  "account-identity",
  "empty-desired",
  "derived-emptiness",
  "delete-budget",
  "change-cap",
  "ownership",
  "replacement",
  "protection",
  "all-or-nothing",
  "fights",
  "too-many-at-once",
  "no-wildcards",
  "permit",
  "hold",
] as const satisfies readonly GuardName[];

const CYCLE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const WAIT_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1_800];
const CONVERGENCE_SECONDS = [0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600];
const DIFF_ITEMS = [1, 2, 5, 10, 50, 100, 500, 1_000, 10_000];

/**
 * The scheduler's metrics in a registry of the caller's. Every series exists at zero before its first event, so that a rate over it is
 * right from the start. Labels come from closed sets: kinds, results, guards, priorities, and sixteen buckets of organizations.
 */
export function prometheusMetrics(registry: Registry, kinds: readonly string[]): SchedulerMetrics {
  const sizes = cycleSizes(registry, kinds);
  const counts = cycleCounts(registry, kinds);
  const states = stateSeries(registry);
  const leases = counter(registry, "setpoint_leases_lost_total", "Shards that were lost, by cause.", ["cause"]);
  const failures = counter(
    registry,
    "setpoint_scheduler_store_failures_total",
    "Statements of the scheduler's own that failed or were late.",
    ["statement"],
  );
  const taken = counter(
    registry,
    "setpoint_account_calls_taken_total",
    "Calls taken from the budgets of accounts.",
    [],
  );
  const blocked = counter(
    registry,
    "setpoint_account_calls_blocked_total",
    "Times an account's budget of calls was used up or blocked.",
    [],
  );
  for (const cause of LEASE_LOSSES) leases.inc({ cause }, 0);
  for (const statement of [
    "takeShards",
    "renewShards",
    "releaseShards",
    "shardHolders",
    "listSubjects",
    "dueSubjects",
    "recordIdle",
  ])
    failures.inc({ statement }, 0);
  return {
    cycleEnded: (sample) => {
      sizes.cycleEnded(sample);
      counts.cycleEnded(sample);
    },
    cycleLost: counts.cycleLost,
    converged: sizes.converged,
    quarantined: counts.quarantined,
    leaseLost: (cause) => leases.inc({ cause }),
    storeFailed: (statement) => failures.inc({ statement }),
    gauges: states,
    callsTaken: (count) => taken.inc(count),
    callsBlocked: (count) => blocked.inc(count),
  };
}

function cycleSizes(registry: Registry, kinds: readonly string[]): Pick<SchedulerMetrics, "cycleEnded" | "converged"> {
  const make = <Label extends string>(name: string, help: string, labels: readonly Label[], buckets: number[]) =>
    new Histogram({ name, help, labelNames: labels, buckets, registers: [registry] });
  const duration = make("setpoint_cycle_duration_seconds", "How long a cycle took.", ["kind"], CYCLE_SECONDS);
  const waited = make("setpoint_queue_wait_seconds", "How long a subject waited.", ["priority"], WAIT_SECONDS);
  const diffHelp = "Items in each set of a cycle's diff, where there were any.";
  const sizes = make("setpoint_cycle_diff_items", diffHelp, ["kind", "action"], DIFF_ITEMS);
  const convergedHelp = "From the first reason to act until nothing was left to do.";
  const convergence = make("setpoint_convergence_seconds", convergedHelp, ["kind"], CONVERGENCE_SECONDS);
  for (const kind of kinds) {
    duration.zero({ kind });
    convergence.zero({ kind });
    for (const action of ACTIONS) sizes.zero({ kind, action });
  }
  for (const priority of PRIORITIES) waited.zero({ priority });
  return {
    cycleEnded: ({ durationSeconds, kind, report, trigger, waitedSeconds }) => {
      duration.observe({ kind }, durationSeconds);
      waited.observe({ priority: trigger }, Math.max(0, waitedSeconds));
      for (const action of ACTIONS) if (report.sizes[action] > 0) sizes.observe({ kind, action }, report.sizes[action]);
    },
    converged: (kind, seconds) => convergence.observe({ kind }, seconds),
  };
}

function cycleCounts(
  registry: Registry,
  kinds: readonly string[],
): Pick<SchedulerMetrics, "cycleEnded" | "cycleLost" | "quarantined"> {
  const make = <Label extends string>(name: string, help: string, labels: readonly Label[]) =>
    counter(registry, name, help, labels);
  const results = make("setpoint_cycles_total", "Cycles that ended with a result.", ["kind", "result"]);
  const idle = make("setpoint_cycles_idle_total", "Cycles that wrote nothing to the store.", ["kind"]);
  const lost = make("setpoint_cycles_lost_total", "Cycles that ended without a result.", ["kind", "cause"]);
  const written = make("setpoint_writes_total", "Outside changes that were made.", ["kind"]);
  const held = make("setpoint_cycle_held_items_total", "Items that cycles left waiting for a person.", ["kind"]);
  const tripsHelp = "Verdicts of guards that let less through than was planned.";
  const trips = make("setpoint_guard_trips_total", tripsHelp, ["guard", "answer"]);
  const quarantined = make("setpoint_subjects_quarantined_total", "Subjects that were put in quarantine.", ["kind"]);
  for (const kind of kinds) {
    for (const series of [idle, written, held, quarantined]) series.inc({ kind }, 0);
    for (const result of RESULTS) results.inc({ kind, result }, 0);
    for (const cause of LOSSES) lost.inc({ kind, cause }, 0);
  }
  for (const guard of GUARDS) for (const answer of ANSWERS) trips.inc({ guard, answer }, 0);
  return {
    cycleEnded: ({ kind, report }) => {
      results.inc({ kind, result: report.result });
      if (report.idle) idle.inc({ kind });
      if (report.written > 0) written.inc({ kind }, report.written);
      if (report.held > 0) held.inc({ kind }, report.held);
      for (const { answer, guard } of report.verdicts) if (answer !== "pass") trips.inc({ guard, answer });
    },
    cycleLost: (kind, cause) => lost.inc({ kind, cause }),
    quarantined: (kind) => quarantined.inc({ kind }),
  };
}

function stateSeries(registry: Registry): (gauges: SchedulerGauges) => void {
  const subjects = gauge(registry, "setpoint_subjects", "Subjects of the shards this process holds.", []);
  const shards = gauge(registry, "setpoint_shards_held", "Shards this process holds.", []);
  const running = gauge(registry, "setpoint_cycles_running", "Cycles that run now.", []);
  const abandoned = gauge(registry, "setpoint_cycles_abandoned", "Cycles that were given up and have not ended.", []);
  const quarantined = gauge(registry, "setpoint_subjects_quarantined", "Subjects in quarantine.", []);
  const depth = gauge(registry, "setpoint_queue_depth", "Subjects that wait for their turn.", ["priority"]);
  const age = gauge(registry, "setpoint_queue_oldest_age_seconds", "How long the oldest of them has waited.", [
    "priority",
  ]);
  const longest = gauge(
    registry,
    "setpoint_queue_longest_wait_seconds",
    "The longest wait within the last minutes, by bucket of organizations.",
    ["bucket"],
  );
  const unseen = gauge(
    registry,
    "setpoint_oldest_unseen_seconds",
    "Since when the subject that was not looked at for longest has not been.",
    [],
  );
  for (const priority of PRIORITIES) for (const series of [depth, age]) series.set({ priority }, 0);
  for (let bucket = 0; bucket < WAIT_BUCKETS; bucket++) longest.set({ bucket }, 0);
  return (gauges) => {
    subjects.set(gauges.subjects);
    shards.set(gauges.shardsHeld);
    running.set(gauges.running);
    abandoned.set(gauges.abandoned);
    quarantined.set(gauges.quarantined);
    unseen.set(gauges.oldestUnseenSeconds);
    for (const { oldestSeconds, priority, waiting } of gauges.queues) {
      depth.set({ priority }, waiting);
      age.set({ priority }, oldestSeconds);
    }
    for (const [bucket, seconds] of gauges.longestWaitSeconds.entries()) longest.set({ bucket }, seconds);
  };
}

function counter<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

function gauge<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
): Gauge<Label> {
  return new Gauge({ name, help, labelNames, registers: [registry] });
}
