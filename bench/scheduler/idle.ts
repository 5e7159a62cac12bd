import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "pg";
import type { BenchChild } from "../harness/child.ts";
import { countersSince, readCounters } from "../harness/postgres-counters.ts";
import { cpuSeconds, peakResidentMb, residentMb } from "../harness/process-usage.ts";
import type { SchedulerCalls } from "./scheduler-process.ts";

/** The steady state: nothing is wrong, and every subject is looked at once per interval. */
export async function measureIdle(options: {
  readonly scheduler: BenchChild<SchedulerCalls>;
  readonly postmasterPid: number;
  readonly client: Client;
  readonly seconds: number;
}): Promise<Readonly<Record<string, number>>> {
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
  if (written > 0 || converged !== cycles)
    throw new Error(
      `Idle cycles were to find nothing and write nothing, but of ${cycles} only ${converged} converged and ${written} wrote`,
    );
  const counters = countersSince(before.counters, after.counters);
  const cpu = after.schedulerCpu - before.schedulerCpu + after.postgresCpu - before.postgresCpu;
  return {
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
}
