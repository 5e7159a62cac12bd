import assert from "node:assert/strict";
import { test } from "node:test";
import type { CycleResult } from "../../../src/kernel/claim.ts";
import { verdict } from "../../../src/kernel/facts.ts";
import { readyOf, sameStatus, type StatusFacts, statusOf, withFlip } from "../../../src/kernel/status.ts";
import type { Condition, SubjectStatus } from "../../../src/ports/records.ts";

const facts: StatusFacts = {
  nowMs: 1_000,
  generation: 3,
  result: "converged",
  message: "as declared",
  verdicts: [],
  differences: 0,
  owned: 2,
  held: 0,
  bad: false,
  lookedAtMs: 900,
  flips: [],
  previous: undefined,
};
const after = (previous: SubjectStatus, parts: Partial<StatusFacts>) => statusOf({ ...facts, previous, ...parts });
const condition = (status: SubjectStatus, type: string): Condition | undefined =>
  status.conditions.find((entry) => entry.type === type);

test("every outcome has one reading, and only a converged subject is ready", () => {
  const readings: Readonly<Record<CycleResult, Condition["status"]>> = {
    converged: "True",
    changed: "False",
    observing: "False",
    held: "False",
    refused: "False",
    waiting: "False",
    paused: "Unknown",
    failed: "Unknown",
    stalled: "False",
    superseded: "False",
    gone: "False",
  };
  for (const [result, ready] of Object.entries(readings)) {
    assert.equal(readyOf(statusOf({ ...facts, result: result as CycleResult })), ready, result);
  }
});

test("what was not seen whole is neither in step nor out of it, and its age counts from the last look", () => {
  const seen = statusOf(facts);
  for (const result of ["stalled", "failed", "paused", "waiting"] as const) {
    const unseen = after(seen, { result, lookedAtMs: undefined, nowMs: 2_000 });
    assert.equal(condition(unseen, "Synced")?.status, "Unknown", result);
    assert.deepEqual([unseen.failing, unseen.lookedAtMs], [true, 900], result);
  }
  assert.deepEqual([seen.failing, condition(seen, "Synced")?.status], [false, "True"]);
  const differs = after(seen, { result: "held", differences: 2 });
  assert.deepEqual([differs.failing, condition(differs, "Synced")?.status], [false, "False"]);
});

test("a condition dates from when its status or reason changed, not its words", () => {
  const first = statusOf(facts);
  const reworded = after(first, { nowMs: 5_000, message: "still as declared" });
  assert.equal(condition(reworded, "Ready")?.sinceMs, 1_000);
  assert.equal(condition(reworded, "Ready")?.message, "still as declared");
  const changed = after(first, { nowMs: 5_000, result: "changed", differences: 1 });
  assert.deepEqual([condition(changed, "Ready")?.sinceMs, condition(changed, "Synced")?.sinceMs], [5_000, 5_000]);
});

test("convergence and trouble keep the time they began", () => {
  const first = statusOf(facts);
  assert.equal(first.convergedAtMs, 1_000);
  assert.equal(after(first, { nowMs: 2_000 }).convergedAtMs, 1_000);
  const bad = after(first, { nowMs: 3_000, result: "waiting", bad: true });
  assert.deepEqual([bad.badSinceMs, bad.convergedAtMs], [3_000, 1_000]);
  assert.equal(after(bad, { nowMs: 4_000, result: "waiting", bad: true }).badSinceMs, 3_000);
  const healed = after(bad, { nowMs: 5_000 });
  assert.deepEqual([healed.badSinceMs, healed.convergedAtMs], [undefined, 5_000]);
});

test("a guard has one condition, and its strictest answer speaks for it", () => {
  const status = statusOf({
    ...facts,
    result: "held",
    verdicts: [
      verdict("delete-budget", "pass", "within the budget"),
      verdict("evidence", "wait", "a second look"),
      verdict("delete-budget", "hold", "8 deletes, 5 allowed"),
    ],
  });
  const guards = status.conditions.filter(({ type }) => type.startsWith("Guard/"));
  assert.deepEqual(guards.map(({ type, reason }) => `${type} ${reason}`).sort(), [
    "Guard/delete-budget Held",
    "Guard/evidence Waits",
  ]);
  assert.equal(condition(status, "Guard/delete-budget")?.message, "8 deletes, 5 allowed; within the budget");
});

test("an equal status is not written again, whatever the time of the look and the order of its fields", () => {
  const first = statusOf(facts);
  assert.ok(sameStatus(first, after(first, { nowMs: 9_000, lookedAtMs: 8_900 })));
  const stored = JSON.parse(JSON.stringify(first)) as SubjectStatus;
  const turned = Object.fromEntries(Object.entries(stored).reverse()) as unknown as SubjectStatus;
  assert.ok(sameStatus(turned, first));
  assert.ok(!sameStatus(undefined, first));
  assert.ok(!sameStatus(first, after(first, { message: "otherwise" })));
  assert.ok(!sameStatus(first, after(first, { owned: 3 })));
});

test("Ready that changes back and forth is a condition of its own, and ends when it stops", () => {
  const minute = 60_000;
  let status = statusOf(facts);
  let flips: readonly number[] = [];
  for (let round = 1; round <= 5; round++) {
    const previous = status;
    const nowMs = round * minute;
    status = after(previous, { nowMs, flips, result: round % 2 === 1 ? "failed" : "converged", message: "502" });
    flips = withFlip(flips, previous, status, { ms: nowMs, asked: false });
  }
  assert.equal(flips.length, 3);
  assert.equal(condition(status, "Flapping"), undefined);
  const flapping = after(status, { nowMs: 7 * minute, flips, message: "PROVIDER_UNAVAILABLE: 502 from the lab" });
  assert.match(condition(flapping, "Flapping")?.message ?? "", /3 times within an hour.*502 from the lab/);
  assert.equal(condition(after(flapping, { nowMs: 61 * minute + 1, flips }), "Flapping"), undefined);
  assert.deepEqual(withFlip(flips, flapping, flapping, { ms: 8 * minute, asked: false }), flips);
  assert.deepEqual(withFlip([], undefined, status, { ms: minute, asked: false }), []);
  const lost = after(flapping, { nowMs: 9 * minute, flips, result: "changed" });
  assert.deepEqual(withFlip([], flapping, lost, { ms: minute, asked: true }), [], "a change somebody asked for");
  assert.deepEqual(withFlip([], flapping, lost, { ms: minute, asked: false }), [minute]);
});

test("what a loop reports stands until it reports something else, and dates from its beginning", () => {
  const split = { type: "Split", status: "True", reason: "ServersOld", message: "one of two" } as const;
  const first = statusOf({ ...facts, inspection: { conditions: [split], report: { servers: 2 } } });
  assert.deepEqual(first.report, { servers: 2 });
  assert.deepEqual(condition(first, "Report/Split"), { ...split, type: "Report/Split", sinceMs: 1_000 });
  assert.equal(readyOf(first), "True", "it decides nothing");
  const unasked = after(first, { nowMs: 2_000, inspection: undefined });
  assert.ok(sameStatus(first, unasked), "who could not ask writes nothing");
  const again = after(unasked, { nowMs: 3_000, inspection: { conditions: [split], report: { servers: 2 } } });
  assert.ok(sameStatus(first, again));
  const ended = after(again, { nowMs: 4_000, inspection: { conditions: [], report: null } });
  assert.deepEqual([ended.report, condition(ended, "Report/Split")], [undefined, undefined]);
});
