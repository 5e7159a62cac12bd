import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextPeriodicInMs, spreadMs } from "../../../src/scheduler/periodic.ts";

const subject = fc
  .record({
    id: fc.integer({ min: 1, max: 2 ** 40 }),
    everyMs: fc.integer({ min: 1_000, max: 86_400_000 }),
    groupPhase: fc.nat(),
    shared: fc.boolean(),
    subjects: fc.integer({ min: 1, max: 1_000_000 }),
  })
  .map((each) => ({ ...each, spreadMs: spreadMs(each) }));
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

for (const [which, apart] of [
  ["side by side", 1],
  ["every tenth", 10],
  ["as far apart as there are others", 1_000],
] as const) {
  test(`looks of many subjects spread evenly over the interval, also later; their ids are ${which}`, () => {
    for (const looked of [false, true]) {
      const minutes = Array.from({ length: 60 }, () => 0);
      for (let id = 1; id <= 60_000; id++) {
        const group = { everyMs: 3_600_000, groupPhase: 0, spreadMs: 3_600_000, subjects: 60_000 };
        const inMs = nextPeriodicInMs({ ...group, id: id * apart, looked }, 1_700_000_000_000, { next: () => 0.5 });
        const minute = Math.floor(inMs / 60_000) % 60;
        minutes[minute] = (minutes[minute] ?? 0) + 1;
      }
      assert.ok(
        Math.max(...minutes) < 1_500 && Math.min(...minutes) > 600,
        `busiest minute ${Math.max(...minutes)}, quietest ${Math.min(...minutes)} of 1,000 expected`,
      );
    }
  });
}

test("neighbours of a large group have their looks one after the other, interval after interval", () => {
  const everyMs = 3_600_000;
  const group = { everyMs, groupPhase: 12_345, spreadMs: 450_000, subjects: 1_000 };
  let now = 1_700_000_000_000;
  // Whoever drew for himself would leave his neighbours.
  let drawn = 0;
  const next = () => (drawn++ % 10) / 10;
  for (const looked of [false, true, true, true]) {
    const times = Array.from(
      { length: 32 },
      (_, place) => now + nextPeriodicInMs({ ...group, id: 320 + place, looked }, now, { next }),
    );
    const apart = times.slice(1).map((time, place) => Math.round(time - (times[place] as number)));
    // One of the steps may lead from the end of the group's time back to its beginning.
    assert.ok(apart.filter((ms) => ms === 450).length >= 30, apart.join());
    now = Math.max(...times);
  }
});

test("subjects that share a listing are looked at close together, and each such group at its own time", () => {
  const everyMs = 3_600_000;
  const phases = [7, 1_000_003, 2_345_678];
  const midnight = 1_700_000_000_000 - (1_700_000_000_000 % everyMs);
  for (const groupPhase of phases) {
    const subjects = 1_000;
    const group = { everyMs, groupPhase, subjects, spreadMs: spreadMs({ everyMs, shared: true, subjects }) };
    const times = Array.from({ length: 1_000 }, (_, id) =>
      nextPeriodicInMs({ ...group, id, looked: false }, midnight, { next: () => 0.5 }),
    );
    const afterPhase = times.map((inMs) => (inMs - groupPhase + everyMs) % everyMs);
    assert.ok(Math.max(...afterPhase) <= everyMs / 8, `${Math.max(...afterPhase)} ms after the group's phase`);
  }
});

test("a large group takes as much of the interval as its looks need, and never more than all of it", () => {
  const everyMs = 3_600_000;
  assert.equal(spreadMs({ everyMs, shared: true, subjects: 100_000 }), 2_000_000);
  assert.equal(spreadMs({ everyMs, shared: true, subjects: 10_000_000 }), everyMs);
  assert.equal(spreadMs({ everyMs, shared: false, subjects: 1 }), everyMs);
  assert.equal(spreadMs({ everyMs: 60_000, shared: true, subjects: 1 }), 60_000);
});
