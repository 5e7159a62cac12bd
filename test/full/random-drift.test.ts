import { test } from "node:test";
import { playIonosDrift } from "../support/ionos-drift.ts";
import { playDrift } from "../support/random-drift.ts";

/** About a quarter of a second each. */
const runs = 1_000;

test(`what is not ours stays as it is through ${runs} random runs`, async () => {
  for (let seed = 1; seed <= runs; seed++) await playDrift(seed);
});

/** About two seconds each: a load balancer has many looks. */
const ionosRuns = 60;

test(`what is not ours stays as it is at IONOS through ${ionosRuns} random runs, and what is ours is healed`, async () => {
  for (let seed = 1; seed <= ionosRuns; seed++) await playIonosDrift(seed);
});
