import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { roleMemory } from "../../../src/compose/role-memory.ts";

const GIB = 2 ** 30;

test("a role's heap is bounded, and on a small machine leaves three quarters of it to others", () => {
  assert.deepEqual(
    [roleMemory(64 * GIB), roleMemory(2 * GIB)].map(({ flags }) => flags[0]),
    ["--max-old-space-size=1000", "--max-old-space-size=512"],
  );
});

test("node takes the flags, and they are what bounds its heap", () => {
  const limitMb = execFileSync(process.execPath, [
    ...roleMemory(2 * GIB).flags,
    "-p",
    "require('node:v8').getHeapStatistics().heap_size_limit / 1048576",
  ]);
  // The limit counts the young beside the old.
  assert.ok(Number(limitMb) >= 512 && Number(limitMb) <= 512 + 3 * 32, `a limit of ${limitMb.toString()} MB`);
});
