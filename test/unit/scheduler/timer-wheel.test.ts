import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TimerWheel } from "../../../src/scheduler/timer-wheel.ts";

const TICK_MS = 20;

type Step =
  | { readonly do: "set"; readonly row: number; readonly inMs: number }
  | { readonly do: "cancel"; readonly row: number }
  | { readonly do: "advance"; readonly ms: number; readonly take: number }
  | { readonly do: "grow"; readonly by: number };

/** Delays from within one tick to beyond each ring: 82 s, 11.6 h, 124 days. */
const delayMs = fc.oneof(
  fc.integer({ min: -1_000, max: 200 }),
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 80_000, max: 50_000_000 }),
  fc.integer({ min: 40_000_000, max: 20_000_000_000 }),
);
const pauseMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 60 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 3_000, max: 200_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 200_000, max: 90_000_000 }) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("set" as const), row: fc.nat(39), inMs: delayMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), row: fc.nat(39) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: pauseMs,
      take: fc.oneof(fc.constant(1_000), fc.nat(3)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("grow" as const), by: fc.nat(20) }) },
);

/** A list of due times, looked through from end to end. */
class NaiveTimers {
  readonly due = new Map<number, number>();
  set(row: number, dueMs: number): void {
    this.due.set(row, dueMs);
  }
  surelyDue(nowMs: number): readonly number[] {
    return [...this.due].filter(([, dueMs]) => dueMs <= nowMs - TICK_MS).map(([row]) => row);
  }
}

function takeAll(wheel: TimerWheel, atMost: number): number[] {
  const rows: number[] = [];
  while (rows.length < atMost) {
    const row = wheel.takeDue();
    if (row < 0) break;
    rows.push(row);
  }
  return rows;
}

test("fires every timer once, never early and at most a tick late, whatever was set, moved and cancelled", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5_000 }), fc.array(step, { maxLength: 60 }), (startMs, steps) => {
      let nowMs = startMs;
      let capacity = 40;
      const wheel = new TimerWheel({ capacity, nowMs });
      const naive = new NaiveTimers();
      for (const each of steps) {
        if (each.do === "set") {
          // The coarse ring reaches 124 days; the scheduler sets nothing beyond that.
          const inMs = Math.min(each.inMs, 120 * 86_400_000);
          wheel.set(each.row, nowMs + inMs);
          naive.set(each.row, Math.max(nowMs + inMs, nowMs - TICK_MS));
        } else if (each.do === "cancel") {
          wheel.cancel(each.row);
          naive.due.delete(each.row);
        } else if (each.do === "grow") {
          capacity += each.by;
          wheel.grow(capacity);
        } else {
          nowMs += each.ms;
          wheel.advance(nowMs);
          for (const row of takeAll(wheel, each.take)) {
            const dueMs = naive.due.get(row);
            assert.ok(dueMs !== undefined, `row ${row} fired without a timer`);
            assert.ok(dueMs <= nowMs, `row ${row} fired ${dueMs - nowMs} ms early`);
            naive.due.delete(row);
          }
          if (each.take === 1_000) assert.deepEqual(naive.surelyDue(nowMs), []);
        }
        assert.equal(wheel.size, naive.due.size);
        for (const [row] of naive.due) assert.ok(wheel.isSet(row));
      }
      wheel.advance(nowMs + 200 * 86_400_000);
      assert.deepEqual(new Set(takeAll(wheel, 1_000)), new Set(naive.due.keys()));
      assert.equal(wheel.size, 0);
    }),
    { numRuns: 300 },
  );
});

const sets = fc.array(fc.tuple(fc.nat(19), delayMs), { minLength: 1, maxLength: 20 });

test("says when to look next: never after the first timer, and nothing without timers", () => {
  fc.assert(
    fc.property(
      sets,
      pauseMs,
      fc.array(fc.tuple(fc.integer({ min: 20, max: 39 }), delayMs), { maxLength: 20 }),
      (first, pause, second) => {
        const wheel = new TimerWheel({ capacity: 40, nowMs: 0 });
        assert.equal(wheel.nextMs(), undefined);
        const due = new Map<number, number>();
        const set = (row: number, nowMs: number, inMs: number) => {
          wheel.set(row, nowMs + inMs);
          due.set(row, nowMs + Math.max(0, inMs));
        };
        for (const [row, inMs] of first) set(row, 0, inMs);
        wheel.advance(pause);
        for (const row of takeAll(wheel, 100)) due.delete(row);
        for (const [row, inMs] of second) set(row, pause, inMs);
        // Following its advice alone reaches every timer, each at most one tick late.
        for (let rounds = 0; due.size > 0; rounds++) {
          assert.ok(rounds < 200, "the advice leads nowhere");
          const nextMs = wheel.nextMs();
          assert.ok(nextMs !== undefined);
          wheel.advance(nextMs);
          for (const row of takeAll(wheel, 100)) {
            assert.ok(
              nextMs - (due.get(row) ?? 0) <= TICK_MS,
              `row ${row} was ${nextMs - (due.get(row) ?? 0)} ms late`,
            );
            due.delete(row);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("a timer of the coarse ring is not overlooked for a later one of the middle ring", () => {
  const hoursMs = 3_600_000;
  const dueMs = [12 * hoursMs, 17 * hoursMs, 6 * hoursMs + 1_000];
  const wheel = new TimerWheel({ capacity: 3, nowMs: 0 });
  wheel.set(0, 12 * hoursMs);
  wheel.advance(6 * hoursMs);
  for (const row of [1, 2]) wheel.set(row, dueMs[row] ?? 0);
  const fired: number[] = [];
  for (let nextMs = wheel.nextMs(); nextMs !== undefined; nextMs = wheel.nextMs()) {
    wheel.advance(nextMs);
    for (const row of takeAll(wheel, 3)) {
      assert.ok(nextMs - (dueMs[row] ?? 0) <= TICK_MS, `row ${row} fired at ${nextMs / hoursMs} h`);
      fired.push(row);
    }
  }
  assert.deepEqual(fired, [2, 0, 1]);
});

test("never fires early, not even within a tick", () => {
  const wheel = new TimerWheel({ capacity: 1, nowMs: 1_000 });
  wheel.set(0, 1_025);
  for (const nowMs of [1_020, 1_024, 1_039]) {
    wheel.advance(nowMs);
    assert.equal(wheel.takeDue(), -1, `at ${nowMs}`);
  }
  wheel.advance(1_040);
  assert.equal(wheel.takeDue(), 0);
});

test("hands out what is due in portions and keeps the rest due", () => {
  const wheel = new TimerWheel({ capacity: 100, nowMs: 0 });
  for (let row = 0; row < 100; row++) wheel.set(row, 1_000);
  wheel.advance(1_000);
  assert.equal(takeAll(wheel, 30).length, 30);
  wheel.cancel(99);
  assert.equal(takeAll(wheel, 1_000).length, 69);
  assert.equal(wheel.takeDue(), -1);
});

test("works past 2^32 ticks, because processes run for years", () => {
  const years = 3.2 * 365 * 86_400_000;
  const wheel = new TimerWheel({ capacity: 4, nowMs: 0 });
  wheel.advance(years);
  wheel.set(0, years + 50);
  wheel.set(1, years + 100_000_000);
  wheel.advance(years + 99_999_000);
  assert.deepEqual(takeAll(wheel, 9), [0]);
  wheel.advance(years + 100_000_100);
  assert.deepEqual(takeAll(wheel, 9), [1]);
});
