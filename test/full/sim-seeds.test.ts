import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";

const program = resolve(import.meta.dirname, "../sim/run.ts");

function simulate(...args: readonly string[]): { readonly status: number | null; readonly document: Document } {
  const run = spawnSync(process.execPath, [program, "--json", ...args], { encoding: "utf8", maxBuffer: 1 << 26 });
  return { status: run.status, document: JSON.parse(run.stdout) as Document };
}

interface Document {
  readonly seeds: number;
  readonly digest: string;
  readonly replay?: string;
  readonly failure?: { readonly message: string };
}

test("300 seeds of 20,000 steps hold every invariant and come right", () => {
  const { status, document } = simulate("--seeds", "300", "--steps", "20000");
  assert.equal(status, 0, `${document.failure?.message}\n${document.replay}`);
  assert.equal(document.seeds, 300);
});

test("a seed replays to the same digest in another process", () => {
  const first = simulate("--seed", "4711", "--steps", "20000");
  const again = simulate("--seed", "4711", "--steps", "20000");
  assert.equal(again.document.digest, first.document.digest);
});
