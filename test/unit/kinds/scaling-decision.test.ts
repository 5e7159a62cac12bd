import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  decideSize,
  isKept,
  type MetricReading,
  type ScalingSituation,
} from "../../../src/kinds/scaling-group/decision.ts";

const nowMs = 1_767_225_600_000;

function situation(parts: Partial<ScalingSituation> = {}): ScalingSituation {
  return {
    mode: "metric",
    min: 2,
    max: 20,
    desired: undefined,
    size: 10,
    metrics: [],
    stepUp: 1,
    maxStepDown: undefined,
    cooldownMs: 300_000,
    lastChangeAtMs: undefined,
    nowMs,
    keep: [],
    ...parts,
  };
}

function reading(name: string, values: readonly (number | undefined)[] | undefined, size?: number): MetricReading {
  const all = values?.length === 1 && size !== undefined ? Array.from({ length: size }, () => values[0]) : values;
  const by = all?.map((value, index) => [`web-${index + 1}`, value] as const);
  return { name, upAbove: 80, downBelow: 30, values: by === undefined ? undefined : new Map(by) };
}

const cpu = (value: number | undefined, size = 10) => reading("cpuPercent", [value], size);
const network = (value: number | undefined, size = 10) => reading("networkMegabits", [value], size);

describe("by metrics", () => {
  const cases: readonly (readonly [string, Partial<ScalingSituation>, number])[] = [
    ["one metric above its bound adds a member", { metrics: [cpu(81), network(50)] }, 11],
    ["the other one does too", { metrics: [cpu(50), network(81)] }, 11],
    ["one metric below its bound takes nobody away", { metrics: [cpu(10), network(50)] }, 10],
    ["both below take one away", { metrics: [cpu(10), network(10)] }, 9],
    ["a tenth at a time", { size: 20, metrics: [cpu(10, 20)] }, 18],
    ["never below the least", { size: 2, metrics: [cpu(1, 2)] }, 2],
    ["never above the most", { size: 20, metrics: [cpu(99, 20)] }, 20],
    ["as many at a time as the spec says", { stepUp: 4, metrics: [cpu(99)] }, 14],
    ["nobody reports", { metrics: [reading("cpuPercent", undefined)] }, 10],
    ["zero on every member at once", { metrics: [cpu(0)] }, 10],
    ["one member does not report", { metrics: [reading("cpuPercent", [...Array<number>(9).fill(5), undefined])] }, 10],
    ["a member is not among the readings", { metrics: [reading("cpuPercent", Array<number>(9).fill(5))] }, 10],
    ["one metric of two is missing", { metrics: [cpu(10), network(undefined)] }, 10],
    ["most report, and are overloaded", { metrics: [reading("cpuPercent", [...Array<number>(6).fill(95)])] }, 11],
    ["few report, and are overloaded", { metrics: [reading("cpuPercent", [...Array<number>(4).fill(95)])] }, 10],
    ["a change was just made", { metrics: [cpu(10)], lastChangeAtMs: nowMs - 1 }, 10],
    ["the cooldown holds growth back too", { metrics: [cpu(99)], lastChangeAtMs: nowMs - 299_999 }, 10],
    ["and then ends", { metrics: [cpu(99)], lastChangeAtMs: nowMs - 300_000 }, 11],
    ["those who are left could not carry it", { size: 3, metrics: [{ ...cpu(55, 3), downBelow: 60 }] }, 3],
    ["a group without members begins with what it says", { size: 0, desired: 5 }, 5],
    ["or with the least", { size: 0 }, 2],
    ["a member was lost below the least", { size: 1, desired: 5 }, 2],
  ];
  for (const [name, parts, size] of cases)
    test(name, () => assert.equal(decideSize(situation(parts)).size, size, decideSize(situation(parts)).reason));

  test("a shrink on metrics is covered, and says by what", () => {
    const decided = decideSize(situation({ metrics: [cpu(10), network(20)] }));
    assert.deepEqual([decided.covered, decided.missing], [true, undefined]);
    assert.match(decided.reason, /cpuPercent is 10, below 30.*networkMegabits is 20, below 30/);
  });

  test("what is missing is named", () => {
    assert.match(decideSize(situation({ metrics: [cpu(0), network(5)] })).missing ?? "", /^cpuPercent is missing/);
  });
});

describe("a declared size", () => {
  const fixed = (size: number, desired: number, parts: Partial<ScalingSituation> = {}) =>
    decideSize(situation({ mode: "static", size, desired, ...parts }));

  test("is grown to at once", () => assert.equal(fixed(3, 9).size, 9));
  test("one step less is covered by the declaration", () => {
    const { size, covered } = fixed(10, 9);
    assert.deepEqual([size, covered], [9, true]);
  });
  test("a wider shrink is for a person to approve", () => {
    const { size, covered } = fixed(10, 4);
    assert.deepEqual([size, covered], [4, false]);
  });
  test("a second step waits for the cooldown", () => assert.equal(fixed(10, 9, { lastChangeAtMs: nowMs }).size, 10));
  test("a lowered maximum on missing metrics is for a person", () => {
    const { size, covered } = decideSize(situation({ max: 9, metrics: [cpu(undefined)] }));
    assert.deepEqual([size, covered], [9, false]);
  });
  test("people decide within the bounds of a manual group", () => {
    const sizes = [1, 5, 20, 25].map((size) => decideSize(situation({ mode: "manual", size })).size);
    assert.deepEqual(sizes, [2, 5, 20, 20]);
  });
});

test("keep windows go by the day and the hour in UTC, and may cross midnight", () => {
  // 1 January 2026, 00:00, was a Thursday.
  const day = [{ days: [4], fromMinute: 8 * 60, toMinute: 20 * 60 }];
  const night = [{ days: [4], fromMinute: 22 * 60, toMinute: 6 * 60 }];
  const at = (hours: number) => nowMs + hours * 3_600_000;
  assert.deepEqual(
    [7, 8, 19.99, 20].map((hour) => isKept(day, at(hour))),
    [false, true, true, false],
  );
  assert.deepEqual(
    [5, 23, 29, 30].map((hour) => isKept(night, at(hour))),
    [false, true, true, false],
  );
  const quiet = situation({ metrics: [cpu(10)], nowMs: at(9) });
  assert.deepEqual([decideSize({ ...quiet, keep: day }).size, decideSize(quiet).size], [10, 9]);
});

const anyReading = fc
  .record({
    upAbove: fc.integer({ min: 20, max: 100 }),
    below: fc.integer({ min: 1, max: 19 }),
    values: fc.option(fc.array(fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }), { maxLength: 12 }), {
      nil: undefined,
    }),
  })
  .map(
    ({ upAbove, below, values }): MetricReading => ({
      ...reading("metric", values),
      upAbove,
      downBelow: upAbove - below,
    }),
  );

const anySituation = fc
  .record({
    mode: fc.constantFrom("static" as const, "manual" as const, "metric" as const),
    min: fc.integer({ min: 0, max: 12 }),
    more: fc.integer({ min: 0, max: 12 }),
    at: fc.integer({ min: 0, max: 12 }),
    size: fc.integer({ min: 0, max: 30 }),
    metrics: fc.array(anyReading, { minLength: 1, maxLength: 2 }),
    stepUp: fc.integer({ min: 1, max: 5 }),
    maxStepDown: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    sinceMs: fc.option(fc.integer({ min: 0, max: 600_000 }), { nil: undefined }),
  })
  .map(({ more, at, sinceMs, ...rest }): ScalingSituation => {
    const max = Math.max(1, rest.min + more);
    const desired = Math.min(max, rest.min + at);
    const lastChangeAtMs = sinceMs === undefined ? undefined : nowMs - sinceMs;
    return situation({ ...rest, max, desired, lastChangeAtMs });
  });

const runs = { numRuns: 2_000 };

test("never below the least and never above the most, unless it waits on its way there", () => {
  fc.assert(
    fc.property(anySituation, (at) => {
      const { size } = decideSize(at);
      assert.ok(size >= Math.min(at.min, Math.max(at.min, at.size)) && size <= Math.max(at.max, at.size));
      if (at.size >= at.min && at.size <= at.max) assert.ok(size >= at.min && size <= at.max);
      if (at.size < at.min) assert.ok(size >= at.min);
    }),
    runs,
  );
});

test("missing metrics, and zero on every member at once, never make it smaller by itself", () => {
  const silent = fc.tuple(anySituation, fc.boolean(), fc.nat()).map(([at, zero, hole]) => {
    const size = Math.max(2, at.size);
    const values = Array.from({ length: size }, (_, index) => (zero ? 0 : index === hole % size ? undefined : 1));
    const [first, ...others] = at.metrics;
    return {
      ...at,
      size,
      metrics: [{ ...(first ?? reading("metric", [])), values: reading("m", values).values }, ...others],
    };
  });
  fc.assert(
    fc.property(silent, (at) => {
      const { size, covered } = decideSize({ ...at, mode: "metric" });
      assert.equal(covered, false);
      if (at.size <= at.max) assert.ok(size >= at.size);
    }),
    runs,
  );
});

test("what goes without a person is at most one step, and only outside the cooldown", () => {
  fc.assert(
    fc.property(anySituation, (at) => {
      const { size, covered } = decideSize(at);
      if (!covered) return;
      assert.ok(at.size - size <= (at.maxStepDown ?? Math.max(1, Math.floor(at.size / 10))));
      assert.ok(at.lastChangeAtMs === undefined || nowMs - at.lastChangeAtMs >= at.cooldownMs);
    }),
    runs,
  );
});

test("more load never makes it smaller", () => {
  fc.assert(
    fc.property(anySituation, fc.integer({ min: 0, max: 100 }), (at, more) => {
      // Zero on all members is missing, and not the least of loads.
      fc.pre(at.metrics.every(({ values }) => [...(values?.values() ?? [])].some((value) => (value ?? 0) > 0)));
      const heavier = at.metrics.map((metric) => ({
        ...metric,
        values: new Map(
          [...(metric.values ?? [])].map(([name, value]) => [name, value === undefined ? value : value + more]),
        ),
      }));
      assert.ok(decideSize({ ...at, metrics: heavier }).size >= decideSize(at).size);
    }),
    runs,
  );
});

test("a shrink by metrics is never followed by growth under the same load", () => {
  fc.assert(
    fc.property(anySituation, (at) => {
      const metric = { ...at, mode: "metric" as const };
      const { size } = decideSize(metric);
      if (size >= at.size || at.size > at.max || size === 0) return;
      const shared = at.metrics.map((reading) => {
        const total = [...(reading.values?.values() ?? [])].reduce<number>((sum, value) => sum + (value ?? 0), 0);
        const values = new Map(Array.from({ length: size }, (_, index) => [`web-${index}`, total / size] as const));
        return { ...reading, values };
      });
      assert.ok(decideSize({ ...metric, size, metrics: shared }).size <= size);
    }),
    runs,
  );
});
