import { test } from "node:test";
import { playDrift } from "../support/random-drift.ts";

test("what is not ours stays as it is through a thousand random runs", async () => {
  for (let seed = 1; seed <= 1_000; seed++) await playDrift(seed);
});
