import assert from "node:assert/strict";
import { type Incident, numbered, without } from "./bench.ts";

const nine = numbered(9);
const eight = without(nine, "item-01");

/** A page named itself as the next one: a list that never ends, or that a naive reader cuts off and believes. */
export const pageTokenRepeats: Incident = {
  title: "a page token repeats",
  guard: "complete-reads",
  approvals: 0,
  ends: eight,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    bench.fault("repeated-token");
    await bench.declare(eight);
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    const proofs = bench.verdicts().filter(({ reason }) => reason.includes("given twice"));
    assert.notEqual(proofs.length, 0, "the record says what was wrong with the list");
    bench.fault("none");
    await bench.pass({ minutes: 5 });
  },
};
