import assert from "node:assert/strict";
import { type Effect, type Incident, numbered } from "./bench.ts";

const three = numbered(3);

/** A controller made another one on every pass, because no list ever showed the last one. */
export const providerSwallowsWhatItIsGiven: Incident = {
  title: "a provider accepts what it is given and never shows it",
  guard: "fights",
  approvals: 0,
  ends: three,
  arrange: async (bench) => {
    await bench.declare(three);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    bench.fault("nothing-listed");
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    assert.ok(!isEndless(bench.effects().slice(3)), "three rounds for each item, and no more");
    bench.fault("none");
    await bench.pass({ minutes: 5 });
  },
  counterproof: { harmed: isEndless },
};

/** Three rounds for each item are what the guard allows. */
function isEndless(effects: readonly Effect[]): boolean {
  return effects.length > 3 * Object.keys(three).length;
}
