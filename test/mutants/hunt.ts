import { spawn } from "node:child_process";
import { join } from "node:path";
import { isTests, type Mutant } from "./mutant.ts";
import { repository } from "./source-copy.ts";

/** What a hunt on one source root came to. */
export interface HuntResult {
  /** Seeds or histories that were run. */
  readonly runs: number;
  readonly hit?: { readonly seed: number; readonly rule: string; readonly message: string } | undefined;
}

/** Nothing a seed does takes this long; a mutant that never ends must not keep the others waiting. */
const limitMs = 10 * 60_000;

/** Runs a hunting program in a process of its own and reads the result from the last line it prints. */
function hunt(program: string, args: Readonly<Record<string, string>>): Promise<HuntResult> {
  const flags = Object.entries(args).flatMap(([name, value]) => [`--${name}`, value]);
  // Where a test hunts, whoever runs tests of its own would be taken for one of them and run none.
  const env = { ...process.env };
  delete env["NODE_TEST_CONTEXT"];
  const child = spawn(process.execPath, [join(import.meta.dirname, program), ...flags], {
    cwd: repository,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      const last = out.trimEnd().split("\n").at(-1) ?? "";
      if (code === 0 && last.startsWith("{")) resolve(JSON.parse(last) as HuntResult);
      else reject(new Error(`${program} ended with ${code ?? signal}:\n${err.slice(-2_000)}${out.slice(-500)}`));
    });
  });
}

/** Seed after seed, or test after test, on one source root until something is found. */
export function huntOn(
  foundBy: Mutant["foundBy"],
  src: string,
  steps: number,
  seeds: readonly number[],
): Promise<HuntResult> {
  const list = JSON.stringify(seeds);
  if (foundBy === "differential") return hunt("compare-stores.ts", { src, seeds: list });
  if (isTests(foundBy)) return hunt("run-tests.ts", { src, file: foundBy });
  return hunt("simulate.ts", { src, seeds: list, steps: String(steps) });
}
