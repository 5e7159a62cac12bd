import assert from "node:assert/strict";
import { test } from "node:test";
import { steadyMs } from "../../../src/runtime/steady-time.ts";

function machine() {
  const at = { monotonicMs: 1_000, wallMs: 1_800_000_000_000 };
  const steady = steadyMs(
    () => at.monotonicMs,
    () => at.wallMs,
  );
  const pass = (monotonicMs: number, wallMs: number) => {
    at.monotonicMs += monotonicMs;
    at.wallMs += wallMs;
    return steady();
  };
  return { pass, startMs: steady() };
}

test("both clocks running: it is the monotonic one, whatever their rounding", () => {
  const { pass, startMs } = machine();
  for (let round = 0; round < 1_000; round++) pass(round % 2, (round + 1) % 2);
  assert.equal(pass(0, 0) - startMs, 500);
});

test("a stopped machine: the time its monotonic clock missed counts", () => {
  const { pass, startMs } = machine();
  assert.equal(pass(10, 3_600_010) - startMs, 3_600_010);
  assert.equal(pass(5, 5) - startMs, 3_600_015);
});

test("a wall clock that is set back changes nothing, and nothing ever goes back", () => {
  const { pass, startMs } = machine();
  assert.equal(pass(10, -3_600_000) - startMs, 10);
  assert.equal(pass(10, 10) - startMs, 20);
});
