import { test } from "node:test";
import { playDrift } from "../support/random-drift.ts";

/** About a quarter of a second each. */
const runs = 1_000;

test(`what is not ours stays as it is through ${runs} random runs`, async () => {
  for (let seed = 1; seed <= runs; seed++) await playDrift(seed);
});
