import type { Client } from "pg";
import type { BenchChild } from "../harness/child.ts";
import { median } from "../harness/statistics.ts";
import { eventRound } from "./events.ts";
import type { LatencySummary } from "./latencies.ts";
import type { SchedulerCalls } from "./scheduler-process.ts";
import { wakeItems } from "./wake-items.ts";
import type { WriterCalls } from "./writer-process.ts";

export interface NoiseOptions {
  readonly scheduler: BenchChild<SchedulerCalls>;
  readonly writer: BenchChild<WriterCalls>;
  readonly client: Client;
  readonly noisyItems: readonly number[];
  readonly quietItems: readonly number[];
  readonly perSecond: number;
  readonly rounds: number;
}

/** A quiet tenant's events, alone and while another tenant has a great many due subjects of the same priority. */
export async function measureNoise(options: NoiseOptions): Promise<Readonly<Record<string, number>>> {
  const alone: LatencySummary[] = [];
  const beside: LatencySummary[] = [];
  let leftWaiting = Number.POSITIVE_INFINITY;
  for (let round = 0; round < options.rounds; round++) {
    if (round > 0) await options.scheduler.call("settled");
    alone.push(await eventRound(options, options.quietItems, options.perSecond, `alone ${round}`));
    await wakeItems(options.client, options.noisyItems);
    beside.push(await eventRound(options, options.quietItems, options.perSecond, `beside ${round}`));
    leftWaiting = Math.min(leftWaiting, await stillDue(options.client));
  }
  if (leftWaiting === 0) throw new Error("The noise was over before the quiet tenant's events were");
  return {
    noisy_tenant_ratio: median(
      beside.map((each, round) => each.fromCommitP95Ms / (alone[round] as LatencySummary).fromCommitP95Ms),
    ),
    noisy_tenant_due_subjects: options.noisyItems.length,
    noisy_tenant_still_waiting: leftWaiting,
    quiet_tenant_alone_p95_ms: median(alone.map((each) => each.fromCommitP95Ms)),
    quiet_tenant_beside_p95_ms: median(beside.map((each) => each.fromCommitP95Ms)),
    quiet_tenant_alone_p50_ms: median(alone.map((each) => each.fromCommitP50Ms)),
    quiet_tenant_beside_p50_ms: median(beside.map((each) => each.fromCommitP50Ms)),
  };
}

/** As the store has it: a slow machine may not have read all of them yet, and then they wait all the same. */
async function stillDue(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>("select count(*)::integer as count from setpoint.subject_due");
  return rows[0]?.count ?? 0;
}
