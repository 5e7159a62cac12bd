import assert from "node:assert/strict";
import { test } from "node:test";
import { enumerateOperation } from "./operations.ts";
import { operationScenarios } from "./pipelines/index.ts";

for (const scenario of operationScenarios) {
  test(`${scenario.name}: killed before or after any call, it ends as if undisturbed, each effect made once`, async (t) => {
    const { points, runs, state, differences } = await enumerateOperation(scenario);
    t.diagnostic(`${points} points, ${runs} runs`);
    assert.ok(points > 3);
    assert.equal(state, scenario.ends ?? (scenario.meanwhile === undefined ? "succeeded" : "cancelled"));
    const [first] = differences;
    assert.equal(
      differences.length,
      0,
      first && `${differences.map(({ crash }) => crash).join(", ")}\n${first.expected}\n${first.actual}`,
    );
  });
}
