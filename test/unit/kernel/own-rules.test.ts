import assert from "node:assert/strict";
import { test } from "node:test";
import { loosenedBy, type OwnRules } from "../../../src/kernel/policy.ts";

const fields = (before: OwnRules, after: OwnRules) => loosenedBy(before, after).map(({ field }) => field);

test("a mode that goes further is laxer, and saying none leaves it to the scopes above", () => {
  const modes = ["observe", "propose", "enforce", undefined] as const;
  const laxer = modes.flatMap((before) =>
    modes.flatMap((after) => (fields({ mode: before }, { mode: after }).length > 0 ? [[before, after]] : [])),
  );
  assert.deepEqual(laxer, [
    ["observe", "propose"],
    ["observe", "enforce"],
    ["observe", undefined],
    ["propose", "enforce"],
    ["propose", undefined],
  ]);
});

test("protection that is taken away is laxer, however that is said", () => {
  for (const protect of [false, undefined]) {
    assert.deepEqual(fields({ protect: true }, { protect }), ["/metadata/protect"]);
    assert.deepEqual(fields({ protect }, { protect: true }), []);
  }
  assert.deepEqual(fields({ mode: "observe", protect: true }, {}), ["/metadata/mode", "/metadata/protect"]);
});
