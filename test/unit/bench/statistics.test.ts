import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { median, percentile, spread } from "../../../bench/harness/statistics.ts";

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 50 });

test("a percentile is a value that was measured, with that share of the values at or below it", () => {
  fc.assert(
    fc.property(values, fc.integer({ min: 0, max: 100 }), (measured, percent) => {
      const found = percentile(measured, percent);
      assert.ok(measured.some((value) => Object.is(value, found) || value === found));
      const atOrBelow = measured.filter((value) => value <= found).length;
      const below = measured.filter((value) => value < found).length;
      assert.ok(atOrBelow >= (percent / 100) * measured.length);
      assert.ok(below <= Math.max(0, Math.ceil((percent / 100) * measured.length) - 1) || below === 0);
    }),
  );
});

test("known percentiles", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.deepEqual(
    [0, 1, 50, 95, 99, 100].map((percent) => percentile(hundred, percent)),
    [1, 1, 50, 95, 99, 100],
  );
});

test("the median does not depend on order and lies in the middle", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  fc.assert(fc.property(values, (measured) => assert.equal(median(measured), median(measured.toReversed()))));
});

test("the spread is the range over the median", () => {
  assert.deepEqual(spread([10, 8, 12]), { median: 10, min: 8, max: 12, percent: 40 });
});

test("nothing measured is an error, not a zero", () => {
  for (const ask of [() => median([]), () => percentile([], 50), () => spread([]), () => percentile([1], 101)])
    assert.throws(ask);
});
