import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StoreTime } from "../../../src/store/store-time.ts";

const AHEAD_MS = 1_700_000_000_000;

test("the quickest answer tells the time, however slow the others were", () => {
  const delays = fc.array(fc.record({ thereMs: fc.nat(2_000), backMs: fc.nat(2_000) }), { maxLength: 20 });
  fc.assert(
    fc.property(delays, delays, (before, after) => {
      const time = new StoreTime();
      let nowMs = 5_000;
      for (const { backMs, thereMs } of [...before, { thereMs: 1, backMs: 1 }, ...after]) {
        const sentMs = nowMs;
        const madeMs = sentMs + thereMs;
        nowMs = madeMs + backMs;
        time.note(sentMs, madeMs + AHEAD_MS, nowMs);
      }
      const errorMs = nowMs + AHEAD_MS - time.at(nowMs);
      const sinceQuickestMs = after.reduce((sum, { backMs, thereMs }) => sum + backMs + thereMs, 0);
      assert.ok(errorMs >= 0 && errorMs <= 2 + sinceQuickestMs * 0.0005 + 1, `${errorMs} ms off`);
    }),
  );
});

test("a clock that was set is believed from its next answer on", () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    const time = new StoreTime();
    time.note(1_000, 1_001 + AHEAD_MS, 1_002);
    time.note(2_000, 2_001 + AHEAD_MS + jumpMs, 2_002);
    assert.equal(time.at(2_002), 2_001 + AHEAD_MS + jumpMs);
  }
});
