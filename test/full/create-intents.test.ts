import assert from "node:assert/strict";
import { test } from "node:test";
import { playIntents } from "../support/create-intents.ts";

/** In worlds of 5,000 servers each, so that the time goes into the intents and not into one very long list. */
const worlds = 20;
const each = 5_000;

test("100,000 create intents with a fifth of ambiguous outcomes: none doubled, none orphaned, none lost", async () => {
  let ambiguous = 0;
  for (let seed = 1; seed <= worlds; seed++) {
    const { ambiguous: more, ...outcome } = await playIntents(each, seed);
    assert.deepEqual(outcome, { intents: each, duplicates: 0, orphans: 0, lost: 0 }, `seed ${seed}`);
    ambiguous += more;
  }
  assert.ok(ambiguous > 15_000, `only ${ambiguous} outcomes were ambiguous`);
});
