import assert from "node:assert/strict";
import { test } from "node:test";
import { playIntents } from "../../support/create-intents.ts";

test("150 create intents with a fifth of ambiguous outcomes: none doubled, none orphaned, none lost", async () => {
  const { ambiguous, ...outcome } = await playIntents(150, 7);
  assert.deepEqual(outcome, { intents: 150, duplicates: 0, orphans: 0, lost: 0 });
  assert.ok(ambiguous > 15, `only ${ambiguous} outcomes were ambiguous`);
});
