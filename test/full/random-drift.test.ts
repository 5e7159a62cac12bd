import { test } from "node:test";
import { playDrift } from "../support/random-drift.ts";

/** About a second each. */
const runs = 150;

test(`what is not ours stays as it is through ${runs} random runs`, async () => {
  for (let seed = 1; seed <= runs; seed++) await playDrift(seed);
});
