import { parseArgs } from "node:util";
import { runSeed } from "../sim/run-seed.ts";
import type { HuntResult } from "./hunt.ts";

/**
 * A process of its own for one source root: seed after seed until the referee finds something. The last line it prints
 * is the result. Whatever cannot even be loaded ends the process with an error and counts as nothing found.
 */
const { values } = parseArgs({
  options: { src: { type: "string" }, steps: { type: "string" }, seeds: { type: "string" } },
});
const steps = Number(values.steps);
const seeds = JSON.parse(values.seeds ?? "[]") as readonly number[];

async function hunt(): Promise<HuntResult> {
  let done = 0;
  for (const seed of seeds) {
    done += 1;
    const { failure } = await runSeed({ seed, steps, src: values.src });
    if (failure !== undefined) return { runs: done, hit: { seed, rule: failure.invariant, message: failure.message } };
  }
  return { runs: done };
}

console.log(JSON.stringify(await hunt()));
process.exit(0);
