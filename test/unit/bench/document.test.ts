import assert from "node:assert/strict";
import { test } from "node:test";
import { documentTable, makeDocument } from "../../../bench/harness/document.ts";

const figures = { quick: 1.234567, slow: 80, many: 1_000_000 };

test("a document has a name, figures and bars, and nothing else", () => {
  const document = makeDocument("example", figures, [
    { figure: "quick", atMost: 2 },
    { figure: "slow", atLeast: 90 },
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(document)), {
    name: "example",
    figures: { quick: 1.2346, slow: 80, many: 1_000_000 },
    bars: [
      { name: "quick", value: 1.2346, limit: 2, holds: true },
      { name: "slow", value: 80, limit: 90, holds: false },
    ],
  });
});

test("a limit that is just reached holds", () => {
  const document = makeDocument("example", { at: 5 }, [
    { figure: "at", atMost: 5 },
    { figure: "at", atLeast: 5 },
  ]);
  assert.deepEqual(
    document.bars.map((bar) => bar.holds),
    [true, true],
  );
});

test("a figure that is missing or not a number makes no document", () => {
  assert.throws(() => makeDocument("example", figures, [{ figure: "absent", atMost: 1 }]), /was not measured/);
  assert.throws(() => makeDocument("example", { broken: Number.NaN }, []), /expected a number/);
  assert.throws(() => makeDocument("example", { broken: Number.POSITIVE_INFINITY }, []), /expected a number/);
  assert.throws(() => makeDocument("example", figures, [{ figure: "quick" }]), /either atMost or atLeast/);
});

test("the table says which bar does not hold", () => {
  const table = documentTable(makeDocument("example", figures, [{ figure: "slow", atMost: 1 }]));
  assert.match(table, /slow\s+80\s+limit\s+1\s+DOES NOT HOLD/);
  assert.match(table, /quick\s+1\.2346/);
});
