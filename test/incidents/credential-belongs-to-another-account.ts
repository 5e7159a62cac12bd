import assert from "node:assert/strict";
import { type Incident, numbered, without } from "./bench.ts";

const nine = numbered(9);
const changed = { ...without(nine, "item-01"), "item-02": "v2" };

/** A rotated credential led to another account: what was missing there was made there, and what was there was anybody's. */
export const credentialBelongsToAnotherAccount: Incident = {
  title: "the credential now belongs to another account",
  guard: "account-identity",
  approvals: 0,
  ends: changed,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    // In the middle of work: the account was asked who it is a second ago.
    await bench.declare({ ...nine, "item-02": "v2" });
    await bench.pass({ seconds: 1 });
    bench.fault("another-account");
    await bench.declare(changed);
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    const elsewhere = bench.effects().filter(({ account }) => account !== "ours");
    assert.deepEqual(elsewhere, [], "nothing was written to the other account");
    bench.fault("none");
    await bench.pass({ minutes: 5 });
  },
  counterproof: { harmed: (effects) => effects.some(({ account }) => account !== "ours") },
};
