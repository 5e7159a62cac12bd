import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { Batcher } from "../../src/store/batcher.ts";
import { StoreError } from "../../src/store/errors.ts";

interface Recorder {
  readonly batches: number[][];
  readonly batcher: Batcher<number, number>;
  /** Lets the oldest batch that is under way go on. */
  release(): void;
}

/** Doubles numbers, in batches that wait to be released. Requests with the same last digit may not share one. */
function recorder(
  fail: (batch: readonly number[]) => Error | undefined = () => undefined,
  fullAtOnce: number = 1,
): Recorder {
  const batches: number[][] = [];
  const waiting: (() => void)[] = [];
  const batcher = new Batcher<number, number>({
    clock: systemClock,
    keyOf: (request) => request % 10,
    maxSize: 5,
    fullAtOnce,
    async run(batch) {
      batches.push([...batch]);
      await new Promise<void>((resolve) => waiting.push(resolve));
      const failure = fail(batch);
      if (failure !== undefined) throw failure;
      return batch.map((request) => request * 2);
    },
  });
  return { batches, batcher, release: () => waiting.shift()?.() };
}

async function drain(use: Recorder, answers: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  void answers.finally(() => over.abort());
  while (!over.signal.aborted) {
    use.release();
    await systemClock.wait(0);
  }
}

test("what is asked while a batch is under way travels together with the next one", async () => {
  const use = recorder();
  const first = use.batcher.add(1);
  await systemClock.wait(0);
  const rest = [2, 3, 4].map((request) => use.batcher.add(request));
  const answers = Promise.all([first, ...rest]);
  await drain(use, answers);
  assert.deepEqual(await answers, [2, 4, 6, 8]);
  assert.deepEqual(use.batches, [[1], [2, 3, 4]]);
});

test("two requests with one key never share a batch, and no batch is too large", async () => {
  const use = recorder();
  const answers = Promise.all([1, 11, 21, 2, 3, 4, 5, 6].map((request) => use.batcher.add(request)));
  await drain(use, answers);
  assert.deepEqual(await answers, [2, 22, 42, 4, 6, 8, 10, 12]);
  assert.deepEqual(use.batches, [[1, 2, 3, 4, 5], [11, 6], [21]]);
});

test("full batches travel beside each other, and what fills none waits for those under way", async () => {
  const use = recorder(undefined, 2);
  const asked = Array.from({ length: 17 }, (_, index) => 10 * index + (index % 5));
  const answers = Promise.all(asked.map((request) => use.batcher.add(request)));
  await systemClock.wait(0);
  assert.deepEqual(
    use.batches.map((batch) => batch.length),
    [5, 5],
    "two at once, and no third",
  );
  use.release();
  await systemClock.wait(0);
  assert.deepEqual(
    use.batches.map((batch) => batch.length),
    [5, 5, 5],
    "the next full one, while the second is under way",
  );
  await drain(use, answers);
  assert.deepEqual(
    await answers,
    asked.map((request) => request * 2),
  );
  assert.deepEqual(
    use.batches.map((batch) => batch.length),
    [5, 5, 5, 2],
  );
});

test("heavy requests travel apart", async () => {
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>({
    clock: systemClock,
    keyOf: (request) => request,
    weightOf: (request) => request,
    run: async (batch) => {
      batches.push([...batch]);
      return batch;
    },
  });
  await Promise.all([15_000, 4_000, 30_000, 900, 800].map((request) => batcher.add(request)));
  assert.deepEqual(batches, [[15_000, 4_000, 900], [30_000], [800]]);
});

test("a refused request fails alone", async () => {
  const use = recorder((batch) => (batch.includes(3) ? new StoreError("BAD_VALUE", "three is refused") : undefined));
  const answers = Promise.allSettled([1, 2, 3, 4].map((request) => use.batcher.add(request)));
  await drain(use, answers);
  assert.deepEqual(
    (await answers).map((answer) => (answer.status === "fulfilled" ? answer.value : "refused")),
    [2, 4, "refused", 8],
  );
});

test("a lost database fails the whole batch once: nobody knows what was done", async () => {
  const use = recorder(() => new StoreError("DATABASE_UNREACHABLE", "gone"));
  const answers = Promise.allSettled([1, 2, 3].map((request) => use.batcher.add(request)));
  await drain(use, answers);
  assert.deepEqual(
    (await answers).map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  assert.equal(use.batches.length, 1);
});

test("a batch that is stuck does not stop those behind it", async () => {
  const use = recorder();
  const stuck = use.batcher.add(1);
  await systemClock.wait(0);
  const behind = use.batcher.add(2);
  while (use.batches.length < 2) await systemClock.wait(1);
  assert.deepEqual(use.batches, [[1], [2]]);
  const answers = Promise.all([stuck, behind]);
  await drain(use, answers);
  assert.deepEqual(await answers, [2, 4]);
});
