import assert from "node:assert/strict";
import { test } from "node:test";
import { timelineGroups } from "../../../console/src/pages/object/timeline-groups.ts";
import type { HistoryDocument } from "../../../src/control-api/schemas/resource.ts";

const startMs = Date.UTC(2026, 0, 1);

const entry = (secondsAgo: number, rest: Partial<HistoryDocument>): HistoryDocument => ({
  type: "change",
  at: new Date(startMs - secondsAgo * 1_000).toISOString(),
  words: "",
  verdicts: [],
  action: "create",
  result: "done",
  trigger: "person",
  ...rest,
});

const shape = (entries: readonly HistoryDocument[]) =>
  timelineGroups(entries).map((group) => group.map(({ key, words }) => key ?? words));

test("what one cycle did in the same way is one group; what differs in how, or lies apart, is not", () => {
  const history = [
    entry(0, { key: "a" }),
    entry(1, { key: "b" }),
    entry(2, { key: "c", result: "failed" }),
    entry(3, { key: "d", action: "delete" }),
    entry(4, { key: "e", action: "delete" }),
    entry(300, { key: "f", action: "delete" }),
  ];
  assert.deepEqual(shape(history), [["a", "b"], ["c"], ["d", "e"], ["f"]]);
});

test("a guard's word is a group with the same word alone, and declarations are never one", () => {
  const verdict = (secondsAgo: number, words: string) => entry(secondsAgo, { type: "verdict", words });
  const declared = (secondsAgo: number) => entry(secondsAgo, { type: "declaration", words: "declared" });
  const history = [verdict(0, "wait"), verdict(1, "wait"), verdict(2, "hold"), declared(3), declared(4)];
  assert.deepEqual(shape(history), [["wait", "wait"], ["hold"], ["declared"], ["declared"]]);
  assert.deepEqual(shape([]), []);
});
