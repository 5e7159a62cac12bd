import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { plausible } from "../../../src/kernel/metrics.ts";

const reading = (values: Readonly<Record<string, number | undefined>>) => new Map(Object.entries(values));

test("what every member says is believed, a single idle member too", () => {
  assert.deepEqual(plausible(reading({ a: 3, b: 0 })), reading({ a: 3, b: 0 }));
  assert.deepEqual(plausible(reading({ a: 0 })), reading({ a: 0 }));
});

test("no answer, no member, a member without a value and zero on all at once are missing", () => {
  assert.equal(plausible(undefined), "missing");
  assert.equal(plausible(reading({})), "missing");
  assert.equal(plausible(reading({ a: 3, b: undefined })), "missing");
  assert.equal(plausible(reading({ a: 3, b: Number.NaN })), "missing");
  assert.equal(plausible(reading({ a: 0, b: 0 })), "missing");
});

test("a value is never made up: all of the reading is believed, or nothing", () => {
  const values = fc.dictionary(fc.string(), fc.option(fc.double(), { nil: undefined }));
  fc.assert(
    fc.property(values, (given) => {
      const answer = plausible(reading(given));
      if (answer !== "missing") assert.deepEqual(answer, reading(given));
    }),
  );
});
