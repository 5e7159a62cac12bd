import assert from "node:assert/strict";
import { type Incident, numbered } from "./bench.ts";

const nine = numbered(9);
const one = { "item-05": "v1" };

/** A limit that counts alone, or in percent alone, lets a small set go almost whole. Here it was meant, and one decision says so. */
export const setOfNineLosesEight: Incident = {
  title: "a set of 9 loses 8",
  guard: "delete-budget",
  approvals: 1,
  ends: one,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    await bench.declare(one);
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    const [held] = bench.heldChanges();
    assert.equal(held?.items.length, 8);
    await bench.approve(held);
    await bench.pass({ minutes: 5 });
  },
};
