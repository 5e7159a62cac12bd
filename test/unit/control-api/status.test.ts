import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mergedConditions, subjectConditions } from "../../../src/control-api/subject-conditions.ts";
import { verdictAge, verdictLimitMs } from "../../../src/control-api/verdict-age.ts";
import { isoTime } from "../../../src/kernel/iso-time.ts";
import type { SubjectView } from "../../../src/ports/read-store.ts";

const nowMs = 1_800_000_000_000;

function subject(change: Partial<SubjectView> = {}): SubjectView {
  const condition = (type: string, status: "True" | "False") => ({
    type,
    status,
    reason: "R",
    message: "M",
    sinceMs: nowMs - 5_000,
  });
  return {
    id: 1,
    accountId: "a",
    shard: 0,
    inputVersion: 1,
    dueAtMs: undefined,
    holdOperationId: undefined,
    confirmedAtMs: nowMs - 1_000,
    status: {
      observedGeneration: 2,
      conditions: [
        condition("Ready", "True"),
        condition("Synced", "True"),
        condition("Guard/mode", "True"),
        condition("Old", "False"),
      ],
      differences: 0,
      owned: 1,
      failing: false,
    },
    ...change,
  };
}

const about = { generation: 2, everySeconds: 300, nowMs };
const statusOf = (conditions: readonly { readonly type: string; readonly status: string }[]) =>
  Object.fromEntries(conditions.map(({ type, status }) => [type, status]));

test("times are written as the standard says, for every millisecond of eight thousand years", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), (ms) => {
      assert.equal(isoTime(ms), new Date(ms).toISOString());
    }),
  );
  assert.equal(isoTime(Date.UTC(2000, 1, 29, 23, 59, 59, 999)), "2000-02-29T23:59:59.999Z");
});

test("a verdict is fresh for three intervals and at least a quarter of an hour", () => {
  assert.equal(verdictLimitMs(60), 900_000);
  assert.equal(verdictLimitMs(3_600), 10_800_000);
  assert.equal(verdictAge({ confirmedAtMs: nowMs - 900_000, nowMs, everySeconds: 60 }).fresh, true);
  assert.equal(verdictAge({ confirmedAtMs: nowMs - 900_001, nowMs, everySeconds: 60 }).fresh, false);
  assert.equal(verdictAge({ confirmedAtMs: undefined, nowMs, everySeconds: 60 }).fresh, false);
  assert.equal(
    verdictAge({ confirmedAtMs: nowMs + 60_000, nowMs, everySeconds: 60 }).ageMs,
    0,
    "a clock that is ahead is not an age",
  );
});

test("a fresh verdict about the current spec is shown as it is, and conditions that are false are left out", () => {
  assert.deepEqual(statusOf(subjectConditions(subject(), about)), {
    Ready: "True",
    Synced: "True",
    "Guard/mode": "True",
    Fresh: "True",
  });
});

test("an old verdict is never green", () => {
  const shown = subjectConditions(subject({ confirmedAtMs: nowMs - 901_000 }), about);
  assert.deepEqual(statusOf(shown), { Ready: "Unknown", Synced: "Unknown", "Guard/mode": "True", Fresh: "False" });
  assert.match(shown.find(({ type }) => type === "Ready")?.message ?? "", /last confirmed 15 min ago.*it was: M/);
});

test("an old verdict whose looks fail says first what they fail with", () => {
  const failing = (reason: string, isFailing = true) => {
    const status = { ...(subject().status ?? assert.fail()), failing: isFailing };
    const conditions = status.conditions.map((entry) =>
      entry.type === "Ready" ? { ...entry, status: "False" as const, reason, message: "401: unauthorized" } : entry,
    );
    return subject({ confirmedAtMs: undefined, status: { ...status, conditions } });
  };
  const readyOf = (shown: ReturnType<typeof subjectConditions>) => shown.find(({ type }) => type === "Ready");
  for (const reason of ["Stalled", "LookFailed"]) {
    const shown = subjectConditions(failing(reason), about);
    assert.deepEqual(
      { ...readyOf(shown), since: undefined },
      {
        type: "Ready",
        status: "Unknown",
        reason,
        message: "401: unauthorized",
        since: undefined,
      },
    );
    assert.match(shown.find(({ type }) => type === "Fresh")?.message ?? "", /^never confirmed, the limit is 15 min$/);
  }
  assert.equal(readyOf(subjectConditions(failing("Stalled", false), about))?.reason, "Stale", "its looks do not fail");
  assert.equal(readyOf(subjectConditions(failing("Paused"), about))?.reason, "Stale", "nobody looks");
});

test("a verdict about an older spec says nothing about the current one", () => {
  const shown = subjectConditions(subject(), { ...about, generation: 3 });
  assert.equal(statusOf(shown)["Ready"], "Unknown");
  assert.equal(shown.find(({ type }) => type === "Ready")?.reason, "NotYetObserved");
});

test("what was never looked at is unknown, and what is due is reconciling", () => {
  const shown = subjectConditions(subject({ status: undefined, dueAtMs: nowMs - 1 }), about);
  assert.deepEqual(statusOf(shown), { Ready: "Unknown", Synced: "Unknown", Fresh: "Unknown", Reconciling: "True" });
  assert.equal(statusOf(subjectConditions(subject({ dueAtMs: nowMs + 1 }), about))["Reconciling"], undefined);
});

test("over several subjects the worst speaks", () => {
  const condition = (status: "True" | "False" | "Unknown") => [{ type: "Ready", status, reason: status, message: "" }];
  assert.equal(mergedConditions([condition("True"), condition("Unknown"), condition("False")])[0]?.status, "False");
  assert.equal(mergedConditions([condition("True"), condition("Unknown")])[0]?.status, "Unknown");
  assert.deepEqual(mergedConditions([]), []);
});

test("while an operation waits for a person, Ready says what for, however old the verdict is", () => {
  const needsAttention = { pipeline: "host.create", message: "PROVIDER_REFUSED: no such type" };
  for (const change of [{}, { confirmedAtMs: undefined }, { status: undefined }]) {
    const conditions = subjectConditions(subject({ holdOperationId: "o-1", needsAttention, ...change }), about);
    const ready = conditions.find(({ type }) => type === "Ready");
    assert.deepEqual([ready?.status, ready?.reason], ["False", "OperationNeedsAttention"]);
    assert.equal(
      ready?.message,
      "host.create waits for a person: PROVIDER_REFUSED: no such type. When that is mended: setpoint ops resume o-1 --reason TEXT. See: setpoint ops get o-1",
    );
  }
});
