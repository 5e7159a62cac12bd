import assert from "node:assert/strict";
import { test } from "node:test";
import { Phases, withTrace } from "../../../src/kernel/phases.ts";
import { sameStatus } from "../../../src/kernel/status.ts";
import type { CycleTrace, SubjectStatus } from "../../../src/ports/records.ts";

const status: SubjectStatus = { observedGeneration: 1, conditions: [], differences: 0, owned: 1, failing: false };
const trace = (atMs: number): CycleTrace => ({
  atMs,
  result: "changed",
  spentMs: { observe: 1, diff: 0, guard: 0, act: 2 },
  create: 1,
  update: 0,
  delete: 0,
  written: 1,
});

test("each part of a cycle has its own time, however often it comes", () => {
  let nowMs = 100;
  const phases = new Phases({ nowMs: () => 0, monotonicMs: () => nowMs, wait: async () => {} });
  const after = (ms: number, phase: "observe" | "diff" | "guard" | "act") => {
    nowMs += ms;
    phases.passed(phase);
  };
  after(1.26, "diff");
  after(40, "observe");
  after(2, "diff");
  after(3, "guard");
  after(5, "act");
  assert.deepEqual(phases.spentMs, { observe: 40, diff: 3.3, guard: 3, act: 5 });
});

test("a status tells of its last few cycles, and is no other status because of them", () => {
  let told = status;
  for (let atMs = 1; atMs <= 20; atMs += 1) told = withTrace(status, told, trace(atMs));
  assert.deepEqual(
    told.cycles?.map(({ atMs }) => atMs),
    [15, 16, 17, 18, 19, 20],
  );
  assert.equal(sameStatus(told, status), true, "then nothing is written");
  assert.equal(sameStatus(told, { ...status, differences: 1 }), false);
});
