import assert from "node:assert/strict";
import { type Incident, numbered } from "./bench.ts";

const whole = numbered(200);
const remains = { "item-01": "v1", "item-02": "v2" };

/** A bad configuration left a sliver of the set, and over 90 % of an application was pruned. */
export const desiredSetLoses99Percent: Incident = {
  title: "the desired set loses 99 %",
  guard: "delete-budget",
  approvals: 0,
  ends: whole,
  arrange: async (bench) => {
    await bench.declare(whole);
    await bench.pass({ minutes: 5 });
  },
  strike: async (bench) => {
    await bench.declare(remains);
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    const [held, ...others] = bench.heldChanges();
    assert.deepEqual(others, [], "one held change for the whole plan");
    assert.equal(held?.items.length, 198, "all of them wait, and none was trimmed off and done");
    assert.equal(bench.world()["item-02"], "v2", "what deletes nothing went on meanwhile");
    await bench.declare(whole);
    await bench.pass({ minutes: 2 });
  },
};
