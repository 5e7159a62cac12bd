import assert from "node:assert/strict";
import { type Incident, type IncidentBench, numbered, without } from "./bench.ts";

const nine = numbered(9);
const newer = { ...nine, "item-01": "v2" };

/** A delayed enactor applied an old plan over a newer one, and a region's name had no addresses left (AWS 2025). */
export const oldPlanWakesUp: Incident = {
  title: "an old plan wakes up after a newer one was applied",
  guard: "permit",
  approvals: 0,
  ends: newer,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike,
  recover: async (bench) => {
    assert.deepEqual(bench.world(), newer, "the newer plan stands");
    await bench.pass({ minutes: 5 });
  },
};

async function strike(bench: IncidentBench): Promise<void> {
  const suspension = bench.suspendAtNextDelete();
  await bench.declare(without(nine, "item-09"));
  await bench.pass({ minutes: 3 });
  assert.ok(suspension.reached, "the old plan is decided and about to delete item-09");
  await bench.declare(newer);
  bench.startAnother();
  await bench.pass({ minutes: 3 });
  assert.equal(bench.world()["item-01"], "v2", "another process has applied the newer plan");
  await suspension.resume();
}
