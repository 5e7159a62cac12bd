import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, enumerate } from "../crash-points/enumerate.ts";
import { titleOf } from "../crash-points/scenario.ts";
import { scenarios } from "../crash-points/scenarios/index.ts";

for (const scenario of scenarios) {
  test(`${titleOf(scenario)}: whatever goes wrong at whichever point, the end is the same`, async () => {
    const { differences } = await enumerate(scenario, { everyNth: 1 });
    assert.equal(differences.length, 0, describe(differences));
  });
}
