import assert from "node:assert/strict";
import { test } from "node:test";
import { sizesBefore } from "../../../console/src/pages/object/special/sizes.ts";
import type { HistoryDocument } from "../../../src/control-api/schemas/resource.ts";

const entry = (minute: number, change: Partial<HistoryDocument>): HistoryDocument => ({
  type: "change",
  at: `2026-01-01T00:0${minute}:00.000Z`,
  words: "",
  verdicts: [],
  result: "done",
  ...change,
});

test("the size of a group over time is what its members' making and going adds up to", () => {
  const history = [
    entry(5, { action: "delete" }),
    entry(4, { action: "update" }),
    entry(3, { action: "create" }),
    entry(2, { action: "create", result: "failed" }),
    entry(1, { action: "create" }),
    entry(0, { type: "declaration" }),
  ];
  assert.deepEqual(
    sizesBefore(history, 1).map(({ size }) => size),
    [0, 1, 2, 1],
  );
  assert.deepEqual(
    sizesBefore([], 3).map(({ size }) => size),
    [3],
    "nothing is known of before",
  );
});
