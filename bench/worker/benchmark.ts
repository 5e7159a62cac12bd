import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { startSeededServer } from "../harness/bench-server.ts";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";
import { type BenchChild, startChild } from "../harness/child.ts";
import { interleave, pairedRatio } from "../harness/pairs.ts";
import { installPeers } from "../harness/peers.ts";
import { countersSince, readCounters } from "../harness/postgres-counters.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
import { median } from "../harness/statistics.ts";
import { BareRows } from "./bare-rows.ts";
import { AT_ONCE, Stage, type Tenant } from "./stage.ts";
import { type Queues, turns } from "./turns.ts";

interface Size {
  /** Of each arm in each round, and before the first one, when nothing is measured. */
  readonly operations: number;
  readonly rounds: number;
  readonly warmUp: number;
  readonly queues: Queues;
}
const FULL: Size = {
  operations: 1_000,
  rounds: 5,
  warmUp: 1_000,
  queues: { tenants: 100, largest: 9_010, others: 10 },
};
const QUICK: Size = { operations: 600, rounds: 5, warmUp: 1_000, queues: { tenants: 20, largest: 810, others: 10 } };

export const workerBenchmark: Benchmark = {
  name: "worker",
  about:
    "operations of two steps without external writes against the same rows written bare and against DBOS Transact, and turns between tenants",
  limits: [
    { figure: "commits_per_two_step", atMost: 5 },
    { figure: "cpu_vs_floor", atMost: 3 },
    { figure: "cpu_vs_dbos", atMost: 0.6 },
    { figure: "longest_wait_vs_share", atMost: 2 },
  ],
  run,
};

interface Measured {
  readonly commits: number;
  readonly walBytes: number;
  readonly cpuMs: number;
}
type DbosCalls = { run(workflows: number, atOnce: number): void };

async function run({ cleanup, progress, quick }: BenchContext): Promise<Readonly<Record<string, number>>> {
  const size = quick ? QUICK : FULL;
  const peers = installPeers(progress);
  // Reported when it is waited for; until then it must not end the process.
  peers.catch(() => undefined);
  const server = await startSeededServer(cleanup, prepare);
  await peers;
  const arms = await Arms.open({ url: server.url, postmasterPid: server.postmasterPid, size, cleanup });
  progress.say("warming up");
  await arms.warmUp();
  progress.say(`${size.rounds} rounds of ${size.operations} operations: bare, ours, DBOS`);
  const dbos: Measured[] = [];
  const run = await interleave({
    pairs: size.rounds,
    floor: () => arms.bare(),
    contender: async () => {
      const ours = await arms.ours();
      dbos.push(await arms.dbos());
      progress.say(`ours ${ours.cpuMs.toFixed(2)} ms of CPU each, DBOS ${dbos.at(-1)?.cpuMs.toFixed(2)} ms`);
      return ours;
    },
  });
  await arms.close();
  progress.say("turns between tenants");
  const cpu = ({ cpuMs }: Measured) => cpuMs;
  const versus = (floors: readonly Measured[]) =>
    pairedRatio({ floors, contenders: run.contenders }, { floor: cpu, contender: cpu }).median;
  return {
    ...figures("", "_per_two_step", run.contenders),
    ...figures("floor_", "", run.floors),
    ...figures("dbos_", "", dbos),
    cpu_vs_floor: versus(run.floors),
    cpu_vs_dbos: versus(dbos),
    longest_wait_vs_share: await turns(arms.stage, size.queues),
  };
}

function figures(before: string, after: string, measured: readonly Measured[]): Readonly<Record<string, number>> {
  const of = (figure: (one: Measured) => number) => median(measured.map(figure));
  return {
    [`${before}commits${after}`]: of(({ commits }) => commits),
    [`${before}wal_bytes${after}`]: of(({ walBytes }) => walBytes),
    [`${before}cpu_ms${after}`]: of(({ cpuMs }) => cpuMs),
  };
}

async function prepare(url: string): Promise<void> {
  await Stage.prepare(url);
  const client = new Client(url);
  await client.connect();
  await client.query("create database dbos");
  await client.end();
}

/** The same durable effect in three ways, each measured over this process, what it started, and PostgreSQL. */
class Arms {
  readonly stage: Stage;
  readonly #options: ArmOptions;
  readonly #counters: Client;
  readonly #bare: BareRows;
  readonly #tenant: Tenant;
  readonly #dbos: BenchChild<DbosCalls>;

  private constructor(
    options: ArmOptions,
    parts: {
      readonly stage: Stage;
      readonly counters: Client;
      readonly tenant: Tenant;
      readonly dbos: BenchChild<DbosCalls>;
    },
  ) {
    this.#options = options;
    this.stage = parts.stage;
    this.#counters = parts.counters;
    this.#bare = new BareRows(options.url);
    this.#tenant = parts.tenant;
    this.#dbos = parts.dbos;
  }

  static async open(options: ArmOptions): Promise<Arms> {
    const { url, cleanup, size } = options;
    const counters = new Client(url);
    await counters.connect();
    cleanup.defer(() => counters.end());
    const stage = new Stage(url, cleanup);
    const tenant = await stage.tenant(Math.max(size.operations, size.warmUp));
    const words = [Object.assign(new URL(url), { pathname: "/dbos" }).href];
    const file = fileURLToPath(new URL("../peers/dbos-process.mjs", import.meta.url));
    const dbos = await startChild<DbosCalls>(cleanup, { file, words });
    return new Arms(options, { stage, counters, tenant, dbos });
  }

  /** Code that has run for a while is what is compared: the first hundreds of calls of any of them cost several times as much. */
  async warmUp(): Promise<void> {
    const { warmUp } = this.#options.size;
    await this.#dbos.call("run", warmUp, AT_ONCE);
    await this.#bare.write(warmUp, AT_ONCE);
    await using worker = this.stage.worker();
    await this.stage.start(this.#tenant, warmUp);
    await this.stage.allEnded();
    await worker.drain();
  }

  async bare(): Promise<Measured> {
    return await this.#measure(() => this.#bare.write(this.#options.size.operations, AT_ONCE));
  }

  /** From the start by whoever asks to the end by the worker. Between measurements nobody polls. */
  async ours(): Promise<Measured> {
    const { operations } = this.#options.size;
    await using worker = this.stage.worker();
    while (worker.snapshot().shards < 64) await this.stage.moment();
    return await this.#measure(async () => {
      await this.stage.start(this.#tenant, operations);
      await this.stage.allEnded();
    });
  }

  async dbos(): Promise<Measured> {
    return await this.#measure(() => this.#dbos.call("run", this.#options.size.operations, AT_ONCE));
  }

  async close(): Promise<void> {
    await Promise.all([this.#bare.end(), this.#dbos.stop()]);
  }

  async #measure(work: () => Promise<void>): Promise<Measured> {
    const roots = [process.pid, this.#options.postmasterPid];
    const before = await readCounters(this.#counters);
    const cpu = cpuSeconds(roots);
    await work();
    const usedMs = (cpuSeconds(roots) - cpu) * 1_000;
    const { writes, walBytes } = countersSince(before, await readCounters(this.#counters));
    const per = (value: number) => value / this.#options.size.operations;
    return { commits: per(writes), walBytes: per(walBytes), cpuMs: per(usedMs) };
  }
}

interface ArmOptions {
  readonly url: string;
  readonly postmasterPid: number;
  readonly size: Size;
  readonly cleanup: AsyncDisposableStack;
}
