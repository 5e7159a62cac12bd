import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextPeriodicInMs } from "../../../src/scheduler/periodic.ts";

const subject = fc.record({
  id: fc.integer({ min: 1, max: 2 ** 40 }),
  everyMs: fc.integer({ min: 1_000, max: 86_400_000 }),
});
const nowMs = fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("the first look comes within one interval", () => {
  fc.assert(
    fc.property(subject, nowMs, random, (each, now, drawn) => {
      const inMs = nextPeriodicInMs({ ...each, looked: false }, now, { next: () => drawn });
      assert.ok(inMs >= 0 && inMs < each.everyMs, `${inMs} of ${each.everyMs}`);
    }),
  );
});

test("after a look the next one is neither so soon that it would be the same one nor later than a third above the interval", () => {
  fc.assert(
    fc.property(subject, nowMs, random, (each, now, drawn) => {
      const inMs = nextPeriodicInMs({ ...each, looked: true }, now, { next: () => drawn });
      assert.ok(inMs >= each.everyMs * 0.2 - 1 && inMs <= each.everyMs * 1.3, `${inMs} of ${each.everyMs}`);
    }),
  );
});

test("in the long run a subject is looked at once per interval, at its own phase", () => {
  fc.assert(
    fc.property(subject, nowMs, fc.array(random, { minLength: 50, maxLength: 50 }), (each, start, drawn) => {
      let now = start;
      for (const next of drawn) now += nextPeriodicInMs({ ...each, looked: true }, now, { next: () => next });
      const looks = (now - start) / each.everyMs;
      assert.ok(Math.abs(looks - drawn.length) <= 1.5, `${drawn.length} looks in ${looks} intervals`);
    }),
    { numRuns: 50 },
  );
});

test("looks of many subjects spread evenly over the interval", () => {
  const minutes = Array.from({ length: 60 }, () => 0);
  for (let id = 1; id <= 60_000; id++) {
    const inMs = nextPeriodicInMs({ id, everyMs: 3_600_000, looked: false }, 1_700_000_000_000, { next: () => 0.5 });
    const minute = Math.floor(inMs / 60_000);
    minutes[minute] = (minutes[minute] ?? 0) + 1;
  }
  assert.ok(
    Math.max(...minutes) < 1_200 && Math.min(...minutes) > 800,
    `busiest minute ${Math.max(...minutes)}, quietest ${Math.min(...minutes)} of 1,000 expected`,
  );
});
