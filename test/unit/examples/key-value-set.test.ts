import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "setpoint/testing";
import { memoryBackend } from "../../../examples/backends.ts";
import { keyValueSet } from "../../../examples/key-value-set.ts";

test("what somebody changed by hand is put back", async () => {
  const items = new Map<string, string>();
  const bench = await Bench.start({ kinds: [keyValueSet(memoryBackend(items))] });
  await bench.declare("KeyValueSet/colours", { items: { grass: "green", sky: "blue" } });
  await bench.pass({ seconds: 10 });
  items.set("sky", "grey").delete("grass");
  await bench.pass({ minutes: 2 });
  assert.deepEqual(Object.fromEntries(items), { grass: "green", sky: "blue" });
  await bench.stop();
});

test("what was there before is taken over only when a person agrees", async () => {
  const items = new Map([["sky", "pink"]]);
  const bench = await Bench.start({ kinds: [keyValueSet(memoryBackend(items))] });
  await bench.declare("KeyValueSet/colours", { items: { sky: "blue" } });
  await bench.pass({ minutes: 2 });
  assert.equal(items.get("sky"), "pink");
  for (const held of bench.heldChanges()) await bench.approve(held);
  await bench.pass({ minutes: 2 });
  assert.equal(items.get("sky"), "blue");
  await bench.stop();
});

test("what is nobody's is left alone, also when the set goes", async () => {
  const items = new Map([["moon", "grey"]]);
  const bench = await Bench.start({ kinds: [keyValueSet(memoryBackend(items))] });
  await bench.declare("KeyValueSet/colours", { items: { sky: "blue" } });
  await bench.pass({ seconds: 10 });
  await bench.delete("KeyValueSet/colours");
  await bench.pass({ minutes: 2 });
  assert.deepEqual([...items], [["moon", "grey"]]);
  await bench.stop();
});
