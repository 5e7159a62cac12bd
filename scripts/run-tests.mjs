// Runs a suite with node:test under Node 24. Two files at a time: the tests start databases and the machine may be small.
import { ensureInstalled, runNode } from "./bootstrap.mjs";
import { selectTests } from "./suites.mjs";

/**
 * @param {import("./suites.mjs").Suite} suite
 * @param {{ timeoutMinutes: number, args: string[], reporters?: string[], env?: NodeJS.ProcessEnv }} options
 */
export async function runTests(suite, { timeoutMinutes, args, reporters = [], env = process.env }) {
  ensureInstalled();
  const { flags, files } = selectTests(suite, args);
  if (files.length === 0) {
    // node:test would take an empty list for "every file it can find".
    process.stdout.write("no test files\nℹ tests 0\nℹ pass 0\nℹ fail 0\n");
    return { code: 0, signal: null };
  }
  const ending = ["--import", new URL("end-of-tests.mjs", import.meta.url).href];
  const runner = [...ending, "--test", "--test-concurrency=2", `--test-timeout=${timeoutMinutes * 60_000}`];
  const spec = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  return runNode([...runner, ...spec, ...reporters, ...flags, ...files], { env });
}
