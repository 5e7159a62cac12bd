import { withCleanup } from "./harness/cleanup.ts";
import { parseCommand, UsageError } from "./harness/command-line.ts";
import { documentTable, makeDocument } from "./harness/document.ts";
import { Progress } from "./harness/progress.ts";
import { apiBenchmark } from "./api/benchmark.ts";
import { cloudsBenchmark } from "./clouds/benchmark.ts";
import { consoleBenchmark } from "./console/benchmark.ts";
import { dnsBenchmark } from "./dns/benchmark.ts";
import { schedulerBenchmark } from "./scheduler/benchmark.ts";
import { workerBenchmark } from "./worker/benchmark.ts";

const benchmarks = new Map(
  [schedulerBenchmark, apiBenchmark, workerBenchmark, dnsBenchmark, cloudsBenchmark, consoleBenchmark].map(
    (benchmark) => [benchmark.name, benchmark],
  ),
);

/** 0: every bar holds. 1: one does not, or the benchmark failed. 2: the command was not understood. */
async function main(words: readonly string[]): Promise<number> {
  const command = parseCommand(words, [...benchmarks.keys()]);
  const benchmark = benchmarks.get(command.name);
  if (benchmark === undefined) throw new UsageError(`There is no benchmark '${command.name}'.`);
  const progress = new Progress();
  const figures = await withCleanup((cleanup) => benchmark.run({ quick: command.quick, progress, cleanup }));
  const document = makeDocument(benchmark.name, figures, benchmark.limits);
  process.stdout.write(command.json ? `${JSON.stringify(document, undefined, 2)}\n` : documentTable(document));
  const broken = document.bars.filter((bar) => !bar.holds);
  for (const bar of broken) process.stderr.write(`${bar.name} is ${bar.value}; its limit is ${bar.limit}\n`);
  return broken.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (thrown) {
  const isUsage = thrown instanceof UsageError;
  process.stderr.write(`${isUsage ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown)}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
