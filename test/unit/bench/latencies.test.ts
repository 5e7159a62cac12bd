import assert from "node:assert/strict";
import { test } from "node:test";
import { matchStarts, summarize } from "../../../bench/scheduler/latencies.ts";

const written = { calledMs: Float64Array.of(0, 10, 20), committedMs: Float64Array.of(2, 12, 22) };

test("starts are put beside their events whatever order they came in", () => {
  const started = { items: Float64Array.of(7, 5, 6), atMs: Float64Array.of(23, 5, 13) };
  const times = matchStarts([5, 6, 7], written, started);
  assert.deepEqual([...times.startedMs], [5, 13, 23]);
  const summary = summarize(times);
  assert.equal(summary.fromCommitP50Ms, 1);
  assert.equal(summary.fromCommitP99Ms, 3);
  assert.equal(summary.fromCallP50Ms, 3);
  assert.equal(summary.callToCommitP50Ms, 2);
  assert.equal(summary.perSecond, 100);
});

test("a start that was seen before the commit's answer took no time", () => {
  const started = { items: Float64Array.of(0, 1, 2), atMs: Float64Array.of(1, 11, 21) };
  assert.equal(summarize(matchStarts([0, 1, 2], written, started)).fromCommitP99Ms, 0);
});

test("an event without a start is an error, not a good figure", () => {
  const started = { items: Float64Array.of(0, 1), atMs: Float64Array.of(3, 13) };
  assert.throws(() => matchStarts([0, 1, 2], written, started), /1 of 3 events led to no start/);
});

test("a periodic look that began after the event was asked for has served it; one from before has not", () => {
  const started = { items: Float64Array.of(0, 1), atMs: Float64Array.of(3, 13) };
  const after = { items: Float64Array.of(1, 2), atMs: Float64Array.of(11, 24) };
  assert.deepEqual([...matchStarts([0, 1, 2], written, started, after).startedMs], [3, 13, 24]);
  const before = { items: Float64Array.of(2), atMs: Float64Array.of(19) };
  assert.throws(() => matchStarts([0, 1, 2], written, started, before), /1 of 3 events led to no start/);
});
