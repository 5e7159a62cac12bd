import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "../../src/kinds/registry.ts";
import { withoutScenario } from "../crash-points/scenarios/index.ts";

test("every registered kind with a loop has a crash-point scenario", () => {
  const missing = withoutScenario(kinds);
  assert.deepEqual(
    missing,
    [],
    `add test/crash-points/scenarios/<kind>.ts, and list it in index.ts, for: ${missing.join(", ")}`,
  );
});

test("a kind without a scenario is named, and one without a loop needs none", () => {
  const looping = [...kinds.values()].filter((kind) => kind.loop !== undefined).map((kind) => kind.kind);
  assert.ok(looping.length > 0 && looping.length < kinds.size);
  assert.deepEqual(withoutScenario(kinds, []), looping);
});
