import { test } from "node:test";
import { playIonosDrift } from "../../support/ionos-drift.ts";
import { playDrift } from "../../support/random-drift.ts";

for (const seed of [1, 2]) test(`what is not ours stays as it is (seed ${seed})`, () => playDrift(seed));
for (const seed of [1, 2]) test(`what is not ours stays as it is at IONOS (seed ${seed})`, () => playIonosDrift(seed));
