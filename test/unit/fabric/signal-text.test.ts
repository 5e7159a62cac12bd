import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseSignal, signalOf, signalText } from "../../../src/fabric/signal-text.ts";
import type { Priority } from "../../../src/ports/engine-store.ts";
import type { Signal } from "../../../src/ports/signal.ts";

const shard = fc.integer({ min: 0, max: 63 });
const edge = fc.record(
  {
    subjectId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    shard,
    priority: fc.constantFrom<Priority>("person", "event", "first", "resync"),
    dueAtMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  },
  { noNullPrototype: true },
);
const signal: fc.Arbitrary<Signal> = fc.record(
  { shards: fc.uniqueArray(shard), due: fc.array(edge) },
  { noNullPrototype: true },
);

test("a signal arrives as it was sent", () => {
  fc.assert(fc.property(signal, (sent) => assert.deepEqual(parseSignal(signalText(sent, 1_000_000)), sent)));
});

test("a signal that does not fit names its shards, so that their owners ask", () => {
  fc.assert(
    fc.property(signal, (sent) => {
      const text = signalText(sent, 200);
      const heard = parseSignal(text);
      assert.ok(text.length <= 200 || heard?.due.length === 0);
      const mentioned = new Set([...(heard?.shards ?? []), ...(heard?.due ?? []).map((each) => each.shard)]);
      for (const each of sent.due) assert.ok(mentioned.has(each.shard));
      for (const each of sent.shards) assert.ok(heard?.shards.includes(each));
    }),
  );
});

test("what is not a signal is not taken for one", () => {
  for (const text of ["", "1,2", "1;2;3", "a;", ";1:2:3", ";1:2:9:4", ";1:2:0:4:5", ";1:x:0:4", "1.5;"])
    assert.equal(parseSignal(text), undefined, text);
});

test("only shards without a named subject must be asked about", () => {
  const due = [{ subjectId: 7, shard: 3, priority: "event" as const, dueAtMs: 5 }];
  assert.deepEqual(signalOf([3, 4], due), { shards: [4], due });
});
