import assert from "node:assert/strict";
import { type Incident, numbered, without } from "./bench.ts";

const nine = numbered(9);
const changed = { ...without(nine, "item-01"), "item-02": "v2" };

/** Databases were deleted after the kinds that stood for them had been replaced: removing the adapter removed reality. */
export const adapterIsUninstalled: Incident = {
  title: "the adapter of a kind is uninstalled",
  guard: "complete-reads",
  approvals: 0,
  ends: changed,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    await bench.uninstall();
    await bench.declare(changed);
    await bench.pass({ minutes: 65 });
  },
  recover: async (bench) => {
    assert.deepEqual(bench.world(), nine, "what it made stays as it is");
    await bench.install();
    await bench.pass({ minutes: 5 });
  },
  // An adapter of the same name that wants nothing is no different from an empty desired set.
  counterproof: {
    setting: { without: "empty-desired" },
    strike: async (bench) => {
      await bench.installIgnorant();
      await bench.pass({ minutes: 30 });
    },
  },
};
