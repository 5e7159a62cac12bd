import { randomUUID } from "node:crypto";
import { Client, Pool } from "pg";
import { startSeededServer } from "../harness/bench-server.ts";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";
import { countersSince, readCounters } from "../harness/postgres-counters.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
import { inTurns, Stage } from "./stage.ts";

interface Size {
  readonly operations: number;
  readonly tenants: number;
  /** Operations of the largest tenant, and of each of the others. */
  readonly largest: number;
  readonly others: number;
}
const FULL: Size = { operations: 5_000, tenants: 100, largest: 5_050, others: 50 };
const QUICK: Size = { operations: 1_000, tenants: 20, largest: 500, others: 25 };

export const workerBenchmark: Benchmark = {
  name: "worker",
  about:
    "operations of two steps without external writes against the same rows written bare, and turns between tenants",
  limits: [
    { figure: "commits_per_two_step", atMost: 5 },
    { figure: "cpu_vs_floor", atMost: 3 },
    { figure: "longest_wait_vs_share", atMost: 2 },
  ],
  run,
};

interface Measured {
  readonly commits: number;
  readonly walBytes: number;
  readonly cpuMs: number;
}

async function run({ cleanup, progress, quick }: BenchContext): Promise<Readonly<Record<string, number>>> {
  const size = quick ? QUICK : FULL;
  const server = await startSeededServer(cleanup, (url) => Stage.prepare(url));
  const counters = new Client(server.url);
  await counters.connect();
  cleanup.defer(() => counters.end());
  const stage = new Stage(server.url, cleanup);
  const measure = async (work: () => Promise<void>): Promise<Measured> => {
    const before = await readCounters(counters);
    const cpu = cpuSeconds([process.pid, server.postmasterPid]);
    await work();
    const used = (cpuSeconds([process.pid, server.postmasterPid]) - cpu) * 1_000;
    const { writes, walBytes } = countersSince(before, await readCounters(counters));
    const per = (value: number) => value / size.operations;
    return { commits: per(writes), walBytes: per(walBytes), cpuMs: per(used) };
  };
  const tenant = await stage.tenant(size.operations);
  const floor = await measure(() => bareRows(server.url, size.operations));
  const worker = stage.worker();
  const ours = await measure(async () => {
    await stage.start(tenant);
    await stage.ended(size.operations);
  });
  await worker.drain();
  progress.say(`two steps: ${ours.cpuMs.toFixed(2)} ms of CPU; bare: ${floor.cpuMs.toFixed(2)} ms`);
  return {
    commits_per_two_step: ours.commits,
    wal_bytes_per_two_step: ours.walBytes,
    cpu_ms_per_two_step: ours.cpuMs,
    floor_commits: floor.commits,
    floor_wal_bytes: floor.walBytes,
    floor_cpu_ms: floor.cpuMs,
    cpu_vs_floor: ours.cpuMs / floor.cpuMs,
    longest_wait_vs_share: await turns(stage, size),
  };
}

/** The same durable effect without anything around it: begun, one step, another, and ended. */
async function bareRows(url: string, operations: number): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 8 });
  await pool.query("create table if not exists bare (id text primary key, state text, first json, second json)");
  const ids = Array.from({ length: operations }, () => randomUUID());
  await inTurns(ids, async (id) => {
    const write = async (name: string, text: string, values: readonly string[]) =>
      void (await pool.query({ name, text, values: [...values] }));
    await write("begin", "insert into bare (id, state) values ($1, 'running')", [id]);
    await write("first", "update bare set first = $2 where id = $1", [id, '{"value":2}']);
    await write("second", "update bare set second = $2 where id = $1", [id, '{"value":3}']);
    await write("end", "update bare set state = 'done' where id = $1", [id]);
  });
  await pool.end();
}

/** One tenant has as much queued as all others together. Nobody's last operation may come later than twice its share. */
async function turns(stage: Stage, size: Size): Promise<number> {
  const others = Array.from({ length: size.tenants - 1 }, () => size.others);
  const tenants = [];
  for (const count of [size.largest, ...others]) tenants.push(await stage.tenant(count));
  for (const tenant of tenants) await stage.start(tenant);
  const total = tenants.reduce((sum, { uids }) => sum + uids.length, 0);
  stage.worker();
  const order = (await stage.ended(size.operations + total)).slice(size.operations);
  const waits = tenants.map(({ id, uids }) => {
    const share = Math.min(total, uids.length * tenants.length);
    return (order.lastIndexOf(id) + 1) / share;
  });
  return Math.max(...waits);
}
