import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { type Walls, walledCopy } from "../api/matrix/walls.ts";
import { repository } from "../mutants/source-copy.ts";

interface Found {
  readonly routes: number;
  readonly wrong: readonly string[];
  readonly leaks: readonly string[];
}

async function matrixBehind(walls: Walls): Promise<Found> {
  using copy = walledCopy(walls);
  const child = spawn(process.execPath, [copy.program], { cwd: repository, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  assert.equal(code, 0, err.slice(-3_000));
  return JSON.parse(out.trimEnd().split("\n").at(-1) ?? "") as Found;
}

for (const walls of ["row-level security alone", "the store's filter alone"] as const) {
  test(`${walls} keeps tenants apart on every route`, async () => {
    const { routes, wrong, leaks } = await matrixBehind(walls);
    assert.ok(routes > 200);
    assert.deepEqual({ wrong, leaks }, { wrong: [], leaks: [] });
  });
}

test("where neither stands the matrix notices", async () => {
  const { wrong, leaks } = await matrixBehind("no wall around tokens");
  assert.ok(
    leaks.some((leak) => /DELETE .*\/tokens\/\{token\} with ids of another tenant/.test(leak)),
    leaks.join("\n"),
  );
  assert.ok(
    leaks.some((leak) => /GET \/v1\/organizations\/ours\/tokens tells of another tenant/.test(leak)),
    leaks.join("\n"),
  );
  assert.ok(
    wrong.some((line) => line.includes("/tokens/{token} as crossed: 2xx")),
    wrong.join("\n"),
  );
});
