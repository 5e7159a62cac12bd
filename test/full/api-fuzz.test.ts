import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { FuzzReport } from "../fuzz/fuzz.ts";

const program = fileURLToPath(new URL("../fuzz/run.ts", import.meta.url));

/** In a process of its own: what stays in memory is then the server's, and the collector can be asked to run. */
async function fuzz(seed: number, requests: number): Promise<FuzzReport> {
  const args = ["--expose-gc", program, "--json", "--seed", String(seed), "--requests", String(requests)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  return JSON.parse(out.trimEnd().split("\n").at(-1) ?? "") as FuzzReport;
}

/** Goal: whatever is sent, the answer is an answer: below 500, one that explains itself, soon, and nothing stays behind. */
test("no request makes the Control API fail, hang, grow or tell of another tenant", {
  timeout: 20 * 60_000,
}, async () => {
  const report = await fuzz(20_261_115, 9_000);
  assert.deepEqual(report.failures, []);
  assert.ok(report.requests >= 9_000);
  assert.equal(report.routesAsked, report.routes, "every route was asked");
  assert.ok(report.routesSucceeded >= report.routes * 0.8, `never succeeded: ${report.neverSucceeded.join("\n")}`);
  assert.notEqual(report.growthBytesPerThousand, undefined);
});
