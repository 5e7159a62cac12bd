// `npm run test:real`: the tests against real counterparts, which it installs where it may. With
// SETPOINT_REQUIRE_REAL=1 a test that skips is a failure.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitLike } from "./bootstrap.mjs";
import { installCounterparts, installPeers } from "./install-real.mjs";
import { runTests } from "./run-tests.mjs";

installCounterparts();
installPeers();

const folder = mkdtempSync(join(tmpdir(), "setpoint-real-"));
const list = join(folder, "skipped");
const reporter = new URL("skipped-reporter.mjs", import.meta.url).href;
const outcome = await runTests("real", {
  // For a whole file too: the one that kills workers takes ten minutes alone and several times that on a busy machine.
  timeoutMinutes: 50,
  args: process.argv.slice(2),
  reporters: [`--test-reporter=${reporter}`, `--test-reporter-destination=${list}`],
});

/** @returns {string[]} */
function readSkipped() {
  try {
    return readFileSync(list, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

const skipped = readSkipped();
rmSync(folder, { recursive: true, force: true });
process.stdout.write(skipped.length === 0 ? "nothing was skipped\n" : `skipped:\n  ${skipped.join("\n  ")}\n`);
if (skipped.length > 0 && process.env.SETPOINT_REQUIRE_REAL === "1" && outcome.code === 0) {
  process.stdout.write("SETPOINT_REQUIRE_REAL=1 does not allow a skipped test\n");
  process.exit(1);
}
exitLike(outcome);
