import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loopRegistry } from "../../../src/control-api/loop-registry.ts";
import { dnsZoneKind } from "../../../src/kinds/dns-zone/kind.ts";
import type { LoopActivity } from "../../../src/ports/governance-store.ts";

const minuteMs = 60_000;
const beginMs = Date.UTC(2026, 0, 1);

describe("how often a loop really looks", () => {
  const measured = (nowMs: number, counted: Partial<LoopActivity>) => {
    const activity = { kind: "DnsZone", subjects: 4, failing: 0, lastCycleAtMs: beginMs, sweptSinceMs: beginMs };
    const kinds = new Map([["DnsZone", dnsZoneKind]]);
    const all = [{ ...activity, idleCycles: 0, countedSinceMs: beginMs, ...counted }];
    return loopRegistry(kinds, { activity: all, nowMs }).kinds[0]?.activity?.realIntervalSeconds;
  };
  const everyMs = (dnsZoneKind.loop?.everySeconds ?? 0) * 1_000;

  test("it is said of the minutes that were counted, not of those before the first start", () => {
    assert.equal(everyMs, 5 * minuteMs);
    assert.equal(measured(beginMs + 5 * minuteMs, { idleCycles: 4 }), 300);
    assert.equal(measured(beginMs + 5 * minuteMs + 59_000, { idleCycles: 4 }), 300, "whole minutes only");
    assert.equal(measured(beginMs + 60 * minuteMs, { idleCycles: 8 }), 300, "and of the last ten of them");
    assert.equal(measured(beginMs + 60 * minuteMs, { idleCycles: 4 }), 600);
  });

  test("before one interval has passed, or without a cycle, nothing is said", () => {
    assert.equal(measured(beginMs + 4 * minuteMs, { idleCycles: 4 }), undefined);
    assert.equal(measured(beginMs + 60 * minuteMs, {}), undefined);
    assert.equal(measured(beginMs + 60 * minuteMs, { idleCycles: 4, countedSinceMs: undefined }), undefined);
  });
});
