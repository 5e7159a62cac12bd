import assert from "node:assert/strict";
import { test } from "node:test";
import { interleave, pairedRatio } from "../../../bench/harness/pairs.ts";

test("floor and contender take turns", async () => {
  const order: string[] = [];
  const run = await interleave({
    pairs: 3,
    floor: async (pair) => order.push(`floor ${pair}`),
    contender: async (pair) => order.push(`contender ${pair}`),
  });
  assert.deepEqual(order, ["floor 0", "contender 0", "floor 1", "contender 1", "floor 2", "contender 2"]);
  assert.deepEqual([run.floors.length, run.contenders.length], [3, 3]);
});

test("what slows both sides of a pair does not move the ratio", () => {
  const run = { floors: [10, 100, 1_000], contenders: [20, 200, 2_000] };
  const same = { floor: (value: number) => value, contender: (value: number) => value };
  assert.deepEqual(pairedRatio(run, same), { median: 2, min: 2, max: 2, percent: 0 });
});

test("a floor that measured nothing is an error", async () => {
  const same = { floor: (value: number) => value, contender: (value: number) => value };
  assert.throws(() => pairedRatio({ floors: [0], contenders: [1] }, same), /expected more than 0/);
  await assert.rejects(interleave({ pairs: 0, floor: async () => 1, contender: async () => 1 }), /at least 1/);
});
