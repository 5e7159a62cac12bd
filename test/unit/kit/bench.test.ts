import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { memoryBackend } from "../../../examples/backends.ts";
import { keyValueSet } from "../../../examples/key-value-set.ts";
import { Bench, VirtualTime } from "setpoint/testing";

const name = "KeyValueSet/colours";

test("a freeze is obeyed, and what waited goes on when it ends", async () => {
  const items = new Map<string, string>();
  const bench = await Bench.start({ kinds: [keyValueSet(memoryBackend(items))] });
  const unfreeze = await bench.freeze("writes", "somebody is looking");
  await bench.declare(name, { items: { sky: "blue" } });
  await bench.pass({ minutes: 5 });
  assert.deepEqual([...items], []);
  assert.match(bench.ready(name), /writes paused at platform by operator: somebody is looking/);
  await unfreeze();
  await bench.pass({ minutes: 2 });
  assert.deepEqual([...items], [["sky", "blue"]]);
  await bench.stop();
});

test("a deletion that confirms its count needs no further approval", async () => {
  const items = new Map<string, string>();
  const bench = await Bench.start({ kinds: [keyValueSet(memoryBackend(items))] });
  await bench.declare(name, { items: { coal: "black", grass: "green", sky: "blue" } });
  await bench.pass({ seconds: 10 });
  await bench.delete(name, { confirmedCount: 3 });
  await bench.pass({ minutes: 2 });
  assert.deepEqual([...items], []);
  assert.throws(() => bench.statuses(name), /KeyValueSet\/colours is not declared/);
  await bench.stop();
});

test("bad input is named and nothing is declared", async () => {
  const kind = keyValueSet(memoryBackend(new Map()));
  const bench = await Bench.start({ kinds: [kind, { ...kind, kind: "Existing", modeRequired: true }] });
  await assert.rejects(bench.declare(name, { items: { sky: 1 } }), /KeyValueSet\/colours: \/spec\/items\/sky: /);
  await assert.rejects(bench.declare("Colour/sky", {}), /no such kind; write Kind\/name with one of KeyValueSet/);
  await assert.rejects(bench.declare("Existing/colours", { items: {} }), /no default mode/);
  assert.throws(() => bench.statuses(name), /is not declared on this bench/);
  await bench.stop();
});

test("time stands still while a call of the kind takes real time", async () => {
  const items = new Map<string, string>();
  const put = async (key: string, value: string) => {
    for (let turn = 0; turn < 1_000; turn++) await nextTurn();
    items.set(key, value);
  };
  const slow = { ...memoryBackend(items), put };
  const bench = await Bench.start({ kinds: [keyValueSet(slow)] });
  await bench.declare(name, { items: { sky: "blue" } });
  await bench.pass({ seconds: 10 });
  assert.equal(bench.ready(name), "Converged: as declared");
  assert.equal(bench.history(name).length, 1, "the call was not taken for one that never answers");
  await bench.stop();
});

test("timers fire in order, and a stopped clock's fire as much later as it stood", async () => {
  const time = new VirtualTime(0);
  const [moving, stopped] = [time.clock(), time.clock()];
  const fired: string[] = [];
  void stopped.wait(10).then(() => fired.push(`stopped at ${stopped.nowMs()}`));
  void moving.wait(20).then(() => fired.push(`moving at ${moving.nowMs()}`));
  stopped.suspend();
  await time.pass(100);
  stopped.resume();
  await time.pass(9);
  assert.deepEqual(fired, ["moving at 20"]);
  await time.pass(1);
  assert.deepEqual(fired, ["moving at 20", "stopped at 10"]);
});
