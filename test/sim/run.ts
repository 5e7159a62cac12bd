import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { runSeed, type SeedResult } from "./run-seed.ts";

interface Options {
  readonly first: number;
  readonly count: number;
  readonly steps: number;
  readonly src: string | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly single: boolean;
}

const usage = `npm run sim -- [--seeds N] [--steps N] [--start N] [--seed N] [--src DIR] [--json] [--verbose]
  --seeds N    how many seeds to run (default 20), on every core
  --start N    the first of them (default 1)
  --seed N     only this one, in this process: prints its digest, the same on every replay
  --steps N    steps of each run, nine tenths of them under faults (default 2000)
  --src DIR    production code from another root, a patched copy of src
  --verbose    with --seed: every step
  --json       one JSON document instead of text`;

if (isMainThread) process.exitCode = await main();
else await work(workerData as Options);

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  // Real time is only read outside the runs, for the figures.
  const startedAt = process.hrtime.bigint();
  const results = options.single ? [await runOne(options)] : await runAll(options);
  const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
  return report(options, results, seconds);
}

function readOptions(): Options | undefined {
  const number = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values } = parseArgs({
      options: { seeds: number, steps: number, seed: number, start: number, src: number, json: flag, verbose: flag },
    });
    const single = values.seed !== undefined;
    const options: Options = {
      first: whole("--seed", values.seed ?? values.start, 1),
      count: single ? 1 : whole("--seeds", values.seeds, 20),
      steps: whole("--steps", values.steps, 2_000),
      src: values.src,
      json: values.json,
      verbose: values.verbose,
      single,
    };
    return options;
  } catch (thrown) {
    console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n${usage}`);
    return undefined;
  }
}

function whole(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${name} is '${text}'; expected a whole number from 1`);
  return value;
}

function runOne(options: Options): Promise<SeedResult> {
  const onStep = options.verbose ? (line: string) => console.log(line) : undefined;
  return runSeed({ seed: options.first, steps: options.steps, src: options.src, onStep });
}

/** Every worker takes the next seed when it is free, so that no core waits for another's long seed. */
async function runAll(options: Options): Promise<readonly SeedResult[]> {
  const results: SeedResult[] = [];
  const last = options.first + options.count - 1;
  let next = options.first;
  const workers = Math.min(availableParallelism(), options.count);
  const runWorker = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: options });
      const feed = () => {
        if (next > last || results.some((result) => result.failure !== undefined)) worker.postMessage(undefined, []);
        else worker.postMessage(next++, []);
      };
      worker.on("message", (result: SeedResult | "ready") => {
        if (result !== "ready") results.push(result);
        feed();
      });
      worker.once("error", reject);
      worker.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`A worker ended with ${code}`))));
    });
  await Promise.all(Array.from({ length: workers }, runWorker));
  return results.sort((left, right) => left.seed - right.seed);
}

async function work(options: Options): Promise<void> {
  const port = parentPort;
  if (port === null) return;
  const seeds = seedsFrom(port);
  port.postMessage("ready");
  for await (const seed of seeds) port.postMessage(await runSeed({ seed, steps: options.steps, src: options.src }));
  port.close();
}

async function* seedsFrom(port: NonNullable<typeof parentPort>): AsyncGenerator<number> {
  for (;;) {
    const seed = await new Promise<number | undefined>((resolve) => port.once("message", resolve));
    if (seed === undefined) return;
    yield seed;
  }
}

function report(options: Options, results: readonly SeedResult[], seconds: number): number {
  const failed = results.find((result) => result.failure !== undefined);
  const sum = (of: (result: SeedResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const totals = {
    seeds: results.length,
    steps: sum((result) => result.steps),
    cycles: sum((result) => result.cycles),
    changes: sum((result) => result.changes),
    effects: sum((result) => result.effects),
    virtualHours: Math.round(sum((result) => result.virtualMs) / 36_000) / 100,
    seconds: Math.round(seconds * 100) / 100,
    stepsPerSecond: Math.round(sum((result) => result.steps) / seconds),
    digest: options.single ? results[0]?.digest : combined(results),
  };
  const replay = failed === undefined ? undefined : replayOf(failed, options);
  if (options.json) console.log(JSON.stringify({ ...totals, failure: failed?.failure, seed: failed?.seed, replay }));
  else printText(totals, failed, replay);
  return failed === undefined ? 0 : 1;
}

function printText(totals: object, failed: SeedResult | undefined, replay: string | undefined): void {
  for (const [name, value] of Object.entries(totals)) console.log(`${name.padEnd(15)} ${String(value)}`);
  if (failed === undefined) return;
  console.log(`\nseed ${failed.seed} broke the invariant '${failed.failure?.invariant ?? ""}'`);
  console.log(`${failed.failure?.message ?? ""}\n\nreplay: ${replay ?? ""}`);
}

function replayOf(failed: SeedResult, options: Options): string {
  const src = options.src === undefined ? "" : ` --src ${options.src}`;
  return `npm run sim -- --seed ${failed.seed} --steps ${options.steps}${src}`;
}

/** One digest for all runs, in the order of their seeds. */
function combined(results: readonly SeedResult[]): string {
  let hash = 0x811c9dc5;
  for (const { digest } of results) {
    for (let at = 0; at < digest.length; at++) hash = Math.imul(hash ^ digest.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
