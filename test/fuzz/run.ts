import { parseArgs } from "node:util";
import { runFuzz } from "./fuzz.ts";

const usage = `npm run fuzz -- [--seed N] [--requests N] [--json]
  --seed N       what is drawn from; the same seed asks the same (default 1)
  --requests N   when to stop (default 4000)
  --json         one JSON document instead of text`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const onProgress = options.json ? () => {} : (line: string) => console.log(line);
  const report = await runFuzz({ ...options, onProgress });
  if (options.json) console.log(JSON.stringify(report));
  else {
    const { neverSucceeded, failures, ...figures } = report;
    for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(24)} ${JSON.stringify(value)}`);
    if (neverSucceeded.length > 0) console.log(`never succeeded:\n  ${neverSucceeded.join("\n  ")}`);
    for (const { message, replay } of failures) console.log(`\n${message}\nreplay: ${replay}`);
  }
  return report.failures.length === 0 ? 0 : 1;
}

function readOptions(): { readonly seed: number; readonly requests: number; readonly json: boolean } | undefined {
  try {
    const { values } = parseArgs({
      options: { seed: { type: "string" }, requests: { type: "string" }, json: { type: "boolean", default: false } },
    });
    return {
      seed: whole("--seed", values.seed, 1),
      requests: whole("--requests", values.requests, 4_000),
      json: values.json,
    };
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
