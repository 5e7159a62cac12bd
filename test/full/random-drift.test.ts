import { test } from "node:test";
import { playIonosDrift } from "../support/ionos-drift.ts";
import { playDrift } from "../support/random-drift.ts";

/** About a quarter of a second each. */
const runs = 1_000;

test(`what is not ours stays as it is through ${runs} random runs`, async () => {
  for (let seed = 1; seed <= runs; seed++) await playDrift(seed);
});

/** One to two seconds each, and a test has five minutes. */
const ionosRuns = 50;

for (const from of [1, 51, 101])
  test(`what is not ours stays as it is at IONOS, and what is ours is healed: random runs from ${from}`, async () => {
    for (let seed = from; seed < from + ionosRuns; seed++) await playIonosDrift(seed);
  });
