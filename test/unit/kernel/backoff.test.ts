import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { backoffMs } from "../../../src/kernel/backoff.ts";
import { holds } from "../../support/properties.ts";

const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("failures back off from one second, doubling to a quarter of an hour, half of it jittered", () => {
  const at = (attempts: number, random: number) => backoffMs(attempts, { next: () => random });
  assert.deepEqual(
    [1, 2, 3, 4].map((attempts) => at(attempts, 0)),
    [500, 1_000, 2_000, 4_000],
  );
  assert.deepEqual([at(1, 0.5), at(10, 0.5), at(11, 0), at(11, 0.999_999_9)], [750, 384_000, 450_000, 900_000]);
});

test("a backoff never leaves its bounds and never shrinks with further failures", () => {
  holds(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fraction, (attempts, random) => {
      const waitMs = backoffMs(attempts, { next: () => random });
      assert.ok(Number.isInteger(waitMs) && waitMs >= 500 && waitMs <= 900_000, `${waitMs}`);
      assert.ok(backoffMs(attempts + 1, { next: () => random }) >= waitMs);
    }),
  );
});
