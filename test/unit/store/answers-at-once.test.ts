import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../../src/ports/clock.ts";
import { Batcher } from "../../../src/store/batcher.ts";

test("answers are handed out a few at a time, with everybody else's turn in between", async () => {
  const turns: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (ms === 0) turns.push(resolve);
        else signal?.addEventListener("abort", () => resolve());
      }),
  };
  const batcher = new Batcher<number, number>({
    clock,
    keyOf: (request) => request,
    run: async (batch) => batch.map((request) => request * 2),
    answersAtOnce: 3,
  });
  const answered: number[] = [];
  const requests = [1, 2, 3, 4, 5, 6, 7];
  const all = Promise.all(requests.map((request) => batcher.add(request).then((answer) => answered.push(answer))));
  const counts: number[] = [];
  while (answered.length < requests.length) {
    for (let microtasks = 0; microtasks < 20; microtasks++) await Promise.resolve();
    counts.push(answered.length);
    turns.shift()?.();
  }
  await all;
  assert.deepEqual(answered, [2, 4, 6, 8, 10, 12, 14]);
  assert.deepEqual(counts, [3, 6, 7]);
});
