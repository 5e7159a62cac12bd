import { join, resolve } from "node:path";
import { run } from "node:test";
import { parseArgs } from "node:util";
import type { HuntResult } from "./hunt.ts";
import { TESTS_SEED } from "./mutant.ts";
import { repository } from "./source-copy.ts";

/**
 * A process of its own for one source root: the tests of one file, with that root in the place of `src`, until the first of them
 * fails. The last line it prints is the result. A file that cannot even be loaded ends the process with an error.
 */
const { values } = parseArgs({ options: { src: { type: "string" }, file: { type: "string" } } });
const file = join(repository, values.file ?? "");

interface Failed {
  readonly name: string;
  readonly details: { readonly error: Error };
}

async function hunt(): Promise<HuntResult> {
  const hook = join(import.meta.dirname, "other-source.ts");
  const env = { ...process.env, SETPOINT_OTHER_SOURCE: resolve(values.src ?? "") };
  const stopping = new AbortController();
  const events = run({ files: [file], execArgv: ["--import", hook], env, signal: stopping.signal });
  let passed = 0;
  const failed = new Promise<Failed | undefined>((resolved) => {
    events.on("test:pass", ({ details }) => (passed += details.type === "suite" ? 0 : 1));
    events.on("test:fail", (data) => data.details.type !== "suite" && resolved(data));
    events.once("end", () => resolved(undefined));
    events.resume();
  });
  const first = await failed;
  stopping.abort();
  if (first === undefined && passed === 0) throw new Error(`${values.file} has no test`);
  if (first === undefined) return { runs: 1 };
  const { cause } = first.details.error;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (resolve(repository, first.name) === file) throw new Error(`${first.name} could not be run: ${message}`);
  return { runs: 1, hit: { seed: TESTS_SEED, rule: first.name, message } };
}

console.log(JSON.stringify(await hunt()));
process.exit(0);
