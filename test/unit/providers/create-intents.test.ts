import assert from "node:assert/strict";
import { test } from "node:test";
import { playIntents, playIonosIntents } from "../../support/create-intents.ts";

test("150 create intents with a fifth of ambiguous outcomes: none doubled, none orphaned, none lost", async () => {
  const { ambiguous, ...outcome } = await playIntents(150, 7);
  assert.deepEqual(outcome, { intents: 150, duplicates: 0, orphans: 0, lost: 0 });
  assert.ok(ambiguous > 15, `only ${ambiguous} outcomes were ambiguous`);
});

test("60 create intents at IONOS, where names are not unique and lists lag: none doubled, none orphaned, none lost", async () => {
  const { ambiguous, ...outcome } = await playIonosIntents(60, 7);
  assert.deepEqual(outcome, { intents: 60, duplicates: 0, orphans: 0, lost: 0 });
  assert.ok(ambiguous > 6, `only ${ambiguous} outcomes were ambiguous`);
});
