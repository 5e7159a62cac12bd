import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { docsDrift } from "../mutants/docs.ts";
import { repository } from "../mutants/source-copy.ts";

test("every mutant is found", async () => {
  const child = spawn(process.execPath, [join(repository, "test/mutants/run.ts")], {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  assert.equal(code, 0, said);
});

test("the committed table has exactly the mutants of the catalogue", () => {
  assert.equal(docsDrift(), undefined);
});
