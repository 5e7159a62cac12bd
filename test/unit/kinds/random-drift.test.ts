import { test } from "node:test";
import { playDrift } from "../../support/random-drift.ts";

for (const seed of [1, 2]) test(`what is not ours stays as it is (seed ${seed})`, () => playDrift(seed));
