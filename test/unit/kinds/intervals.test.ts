import assert from "node:assert/strict";
import { test } from "node:test";
import { verdictLimitMs } from "../../../src/control-api/verdict-age.ts";
import { kinds } from "../../../src/kinds/registry.ts";

test("no kind is looked at so rarely that the others of its account seem old by it", () => {
  // Verdicts are confirmed by shard, for all subjects of an account together: the rarest look tells how old they are.
  const shortestLimitMs = verdictLimitMs(0);
  for (const { kind, loop } of kinds.values()) {
    const rarestMs = (loop?.everySeconds ?? 0) * 1_500;
    assert.ok(rarestMs <= shortestLimitMs, `${kind} is looked at every ${loop?.everySeconds} s: at most 600 will do`);
  }
});
