import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, enumerate } from "./enumerate.ts";
import { titleOf } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";
import { play } from "./stage.ts";

/** Every point and every fault belong to the full tests; here every so manieth, each kind at other ones. */
const everyNth = 9;

for (const scenario of scenarios) {
  test(`${titleOf(scenario)}: a crash, a stale read, a lost signal or lease or a doubled call changes nothing in the end`, async () => {
    const { undisturbed, runs, differences } = await enumerate(scenario, { everyNth });
    assert.ok(undisturbed.points.length > 30, `only ${undisturbed.points.length} points: the scenario does too little`);
    assert.ok(runs > 20, `only ${runs} runs`);
    assert.equal(differences.length, 0, describe(differences));
  });
}

test("an undisturbed run passes the same points every time and ends with what was declared", async () => {
  for (const scenario of scenarios) {
    const [first, again] = [await play(scenario), await play(scenario)];
    assert.deepEqual(again, first);
    assert.notDeepEqual((first.final as { readonly outside: unknown }).outside, []);
  }
});
