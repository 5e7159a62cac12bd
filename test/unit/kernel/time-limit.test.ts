import assert from "node:assert/strict";
import { test } from "node:test";
import { RetryableError } from "../../../src/kernel/errors.ts";
import { withTimeLimit } from "../../../src/kernel/time-limit.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const limit = (signal = new AbortController().signal) => ({ ms: 1_000, signal, what: "lab create" });

test("an answer in time passes through and leaves no timer behind", async () => {
  const clock = new ManualClock();
  assert.equal(await withTimeLimit(clock, limit(), async () => "made"), "made");
  assert.equal(clock.waiting, 0);
});

test("a failure in time passes through unchanged", async () => {
  const clock = new ManualClock();
  const thrown = new RetryableError("PROVIDER_UNAVAILABLE", "503");
  await assert.rejects(
    withTimeLimit(clock, limit(), () => Promise.reject(thrown)),
    (error) => error === thrown,
  );
  await assert.rejects(
    withTimeLimit(clock, limit(), () => {
      throw thrown;
    }),
    (error) => error === thrown,
  );
  assert.equal(clock.waiting, 0);
});

test("a call that does not answer is told to stop, left behind, and its answer is unknown", async () => {
  const clock = new ManualClock();
  let told: AbortSignal | undefined;
  const late = Promise.withResolvers<string>();
  const attempt = withTimeLimit(clock, limit(), (signal) => {
    told = signal;
    return late.promise;
  });
  const rejected = assert.rejects(attempt, (error) => {
    assert.ok(error instanceof RetryableError);
    assert.deepEqual([error.code, error.ambiguous], ["TIMED_OUT", true]);
    assert.equal(error.message, "lab create did not answer within 1000 ms");
    return true;
  });
  clock.advance(999);
  await Promise.resolve();
  assert.equal(told?.aborted, false);
  clock.advance(1);
  await rejected;
  assert.equal(told?.aborted, true);
  late.reject(new Error("too late to matter"));
});

test("whoever runs the attempt can end it: the call is told, and its answer is unknown", async () => {
  const clock = new ManualClock();
  const runner = new AbortController();
  let told: AbortSignal | undefined;
  const attempt = withTimeLimit(clock, limit(runner.signal), (signal) => {
    told = signal;
    return new Promise<never>(() => {});
  });
  runner.abort(new Error("the lease is lost"));
  await assert.rejects(attempt, (error) => {
    assert.ok(error instanceof RetryableError);
    assert.deepEqual([error.code, error.ambiguous], ["TIMED_OUT", true]);
    assert.equal(error.message, "lab create was ended before it answered");
    return true;
  });
  assert.equal(told?.aborted, true);
  assert.equal((told?.reason as Error | undefined)?.message, "the lease is lost");
  assert.equal(clock.waiting, 0);
});

test("an attempt that was ended before it began never starts its call", async () => {
  const clock = new ManualClock();
  let started = false;
  const attempt = withTimeLimit(clock, limit(AbortSignal.abort()), async () => {
    started = true;
  });
  await assert.rejects(attempt, (error) => error instanceof RetryableError && !error.ambiguous);
  assert.equal(started, false);
  assert.equal(clock.waiting, 0);
});
