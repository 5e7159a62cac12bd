import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "pg";
import type { BenchChild } from "../harness/child.ts";
import { countersSince, readCounters } from "../harness/postgres-counters.ts";
import { cpuSeconds, peakResidentMb, residentMb } from "../harness/process-usage.ts";
import type { SchedulerCalls } from "./scheduler-process.ts";

export interface IdleOptions {
  readonly scheduler: BenchChild<SchedulerCalls>;
  readonly postmasterPid: number;
  readonly client: Client;
  readonly seconds: number;
}

/** A machine that stands still for longer than a lease makes a scheduler begin anew, which is not the idle state. */
const TRIES = 3;

/** The steady state: nothing is wrong, and every subject is looked at once per interval. */
export async function measureIdle(options: IdleOptions): Promise<Readonly<Record<string, number>>> {
  for (let left = TRIES; ; left--) {
    const measured = await measureOnce(options);
    if (measured.disturbed === undefined) return measured.figures;
    if (left === 1) throw new Error(measured.disturbed);
    await options.scheduler.call("settled");
  }
}

async function measureOnce(
  options: IdleOptions,
): Promise<{ readonly figures: Readonly<Record<string, number>>; readonly disturbed: string | undefined }> {
  const { scheduler, postmasterPid, client } = options;
  const take = async () => ({
    atMs: performance.now(),
    schedulerCpu: cpuSeconds([scheduler.pid]),
    postgresCpu: cpuSeconds([postmasterPid]),
    counters: await readCounters(client),
    counts: await scheduler.call("counts"),
  });
  const before = await take();
  let residentMax = 0;
  for (let second = 0; second < options.seconds; second++) {
    await wait(1_000);
    residentMax = Math.max(residentMax, residentMb(scheduler.pid));
  }
  const after = await take();
  const seconds = (after.atMs - before.atMs) / 1_000;
  const cycles = after.counts.cycles - before.counts.cycles;
  const written = cycles - (after.counts.idle - before.counts.idle);
  const converged = (after.counts.results["converged"] ?? 0) - (before.counts.results["converged"] ?? 0);
  const disturbed =
    written > 0 || converged !== cycles
      ? `Idle cycles were to find nothing and write nothing, but of ${cycles} only ${converged} converged and ${written} wrote`
      : undefined;
  const counters = countersSince(before.counters, after.counters);
  const cpu = after.schedulerCpu - before.schedulerCpu + after.postgresCpu - before.postgresCpu;
  const figures = {
    idle_core_percent: (cpu / seconds) * 100,
    idle_core_percent_scheduler: ((after.schedulerCpu - before.schedulerCpu) / seconds) * 100,
    idle_core_percent_postgres: ((after.postgresCpu - before.postgresCpu) / seconds) * 100,
    idle_seconds: seconds,
    idle_cycles: cycles,
    idle_cycles_per_second: cycles / seconds,
    idle_cpu_us_per_cycle: (cpu / cycles) * 1e6,
    idle_commits_per_cycle: (after.counts.transactions - before.counts.transactions) / cycles,
    idle_writing_commits_per_cycle: counters.writes / cycles,
    idle_wal_bytes_per_second: counters.walBytes / seconds,
    idle_provider_calls: after.counts.providerCalls - before.counts.providerCalls,
    rss_mb: residentMax,
    rss_peak_mb: peakResidentMb(scheduler.pid),
  };
  return { figures, disturbed };
}
