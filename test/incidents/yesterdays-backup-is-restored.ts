import assert from "node:assert/strict";
import { type Incident, numbered, without } from "./bench.ts";

const nine = numbered(9);
const today = { ...nine, "item-01": "v2" };
const tomorrow = { ...today, "item-02": "v3" };

/** An older memory of the world was put back, and what it did not remember, or still meant to remove, was destroyed. */
export const yesterdaysBackupIsRestored: Incident = {
  title: "yesterday's backup is restored",
  guard: "account-identity",
  approvals: 1,
  ends: tomorrow,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    // Yesterday somebody meant to remove item-09, and the backup remembers that; then it was wanted after all.
    await bench.declare(without(nine, "item-09"));
    bench.backup();
    await bench.declare(today);
    await bench.pass({ minutes: 10 });
    assert.deepEqual(bench.world(), today);
    await bench.restore();
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    assert.deepEqual(bench.world(), today, "the old intentions touched nothing");
    await bench.declare(tomorrow);
    await bench.pass({ minutes: 2 });
    const [held, ...others] = bench.heldChanges();
    assert.deepEqual(others, [], "one decision for the whole account");
    assert.ok(held !== undefined);
    await bench.approve(held);
    await bench.pass({ minutes: 5 });
  },
};
