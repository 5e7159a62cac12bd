import assert from "node:assert/strict";
import { test } from "node:test";
import { EarlyEnd } from "../../../src/kernel/early-end.ts";
import { systemClock } from "../../../src/runtime/system-clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";

test("a wait ends when it is told to, and leaves nothing behind", async () => {
  const clock = new ManualClock();
  const over = new EarlyEnd();
  const waits = [clock.wait(1_000, over), clock.wait(2_000, over)];
  assert.equal(over.aborted, false);
  assert.equal(clock.waiting, 2);
  over.end();
  await Promise.all(waits);
  assert.equal(over.aborted, true);
  assert.equal(clock.waiting, 0);
});

test("a wait that begins after the end is over at once, with the real clock as well", async () => {
  const over = new EarlyEnd();
  over.end();
  await systemClock.wait(1e12, over);
  await new ManualClock().wait(1e12, over);
});

test("whoever has gone on by himself is not told, and nobody is told twice", () => {
  const over = new EarlyEnd();
  const told: string[] = [];
  const gone = () => told.push("gone");
  over.addEventListener("abort", gone);
  over.addEventListener("abort", () => told.push("waits"));
  over.removeEventListener("abort", gone);
  over.removeEventListener("abort", gone);
  over.end();
  over.end();
  assert.deepEqual(told, ["waits"]);
});
