import type { Client } from "pg";
import type { BenchChild } from "../harness/child.ts";
import { machineMs } from "../harness/pacing.ts";
import { interleave, pairedRatio } from "../harness/pairs.ts";
import { countersSince, readCounters } from "../harness/postgres-counters.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
import { median, spread } from "../harness/statistics.ts";
import type { FloorCalls } from "./floor-process.ts";
import type { Geometry } from "./geometry.ts";
import type { SchedulerCalls } from "./scheduler-process.ts";
import { wakeItems } from "./wake-items.ts";

/** One item in ten of an account was edited by hand. */
const DRIFTED_SHARE = 0.1;

export interface HealOptions {
  readonly scheduler: BenchChild<SchedulerCalls>;
  readonly floor: BenchChild<FloorCalls>;
  readonly client: Client;
  readonly postmasterPid: number;
  readonly geometry: Geometry;
  readonly heals: number;
  readonly pairs: number;
}

interface Measured {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly walBytes: number;
  readonly writes: number;
}

/** Drift in the outside world, told by an event per subject, until every one is written back and settled. */
export async function measureHeals(options: HealOptions): Promise<Readonly<Record<string, number>>> {
  const { client, geometry, pairs, scheduler, floor } = options;
  const perPair = Math.floor(options.heals / pairs);
  const before = await scheduler.call("counts");
  const run = await interleave({
    pairs,
    floor: () => measured(options, floor.pid, perPair, async () => (await floor.call("heal", perPair)).seconds),
    contender: (pair) =>
      measured(options, scheduler.pid, perPair, () =>
        healOnce(scheduler, client, driftedItems(geometry, pair, perPair)),
      ),
  });
  const after = await scheduler.call("counts");
  const rates = spread(run.contenders.map((each) => each.perSecond));
  const of = (each: readonly Measured[], field: keyof Measured) => median(each.map((one) => one[field]));
  const ratio = (field: keyof Measured) =>
    pairedRatio(run, { floor: (each) => each[field], contender: (each) => each[field] }).median;
  return {
    heals: perPair * pairs,
    heals_per_second: rates.median,
    heals_per_second_spread_percent: rates.percent,
    heal_cpu_us: of(run.contenders, "cpuUs"),
    heal_commits: of(run.contenders, "writes"),
    heal_wal_bytes: of(run.contenders, "walBytes"),
    heal_provider_calls: (after.providerCalls - before.providerCalls) / (perPair * pairs),
    /** More than one write for one edit would be a look that began before the write and passed for a later one. */
    heal_writes: (after.updates - before.updates) / (perPair * pairs),
    heal_floor_per_second: of(run.floors, "perSecond"),
    heal_floor_cpu_us: of(run.floors, "cpuUs"),
    heal_floor_commits: of(run.floors, "writes"),
    heal_floor_wal_bytes: of(run.floors, "walBytes"),
    heal_cpu_vs_floor: ratio("cpuUs"),
    heal_wal_vs_floor: ratio("walBytes"),
  };
}

/** CPU, commits and WAL of everything from the moment the subjects become due until the last write is settled. */
async function measured(
  options: HealOptions,
  pid: number,
  heals: number,
  work: () => Promise<number>,
): Promise<Measured> {
  // The looks that verify the writes of the pair before are not this one's.
  await options.scheduler.call("settled");
  const roots = [pid, options.postmasterPid];
  const before = { cpu: cpuSeconds(roots), counters: await readCounters(options.client) };
  const seconds = await work();
  const counters = countersSince(before.counters, await readCounters(options.client));
  return {
    perSecond: heals / seconds,
    cpuUs: ((cpuSeconds(roots) - before.cpu) / heals) * 1e6,
    walBytes: counters.walBytes / heals,
    writes: counters.writes / heals,
  };
}

/** Seconds from the moment the subjects became due to the settlement of the last write. */
async function healOnce(
  scheduler: BenchChild<SchedulerCalls>,
  client: Client,
  items: readonly number[],
): Promise<number> {
  const before = (await scheduler.call("counts")).results["changed"] ?? 0;
  await scheduler.call("drift", items);
  const startedMs = machineMs();
  await wakeItems(client, items);
  const lastMs = await scheduler.call("healed", before + items.length);
  return (lastMs - startedMs) / 1_000;
}

function driftedItems(geometry: Geometry, pair: number, count: number): readonly number[] {
  const perAccount = Math.floor(geometry.itemsPerAccount * DRIFTED_SHARE);
  if (count > perAccount * geometry.accounts)
    throw new Error(`${count} heals were asked for, and there are ${perAccount * geometry.accounts} items to edit`);
  return Array.from({ length: count }, (_, index) => {
    const account = Math.floor(index / perAccount) % geometry.accounts;
    return account * geometry.itemsPerAccount + pair * perAccount + (index % perAccount);
  });
}
