import assert from "node:assert/strict";
import { type Incident, numbered, without } from "./bench.ts";

const nine = numbered(9);
const changed = { ...without(nine, "item-01"), "item-02": "v2", "item-10": "v1" };

/** A list failed half way, the error was swallowed, and what was not on the first page counted as gone. */
export const listEndsAfterHalfAPage: Incident = {
  title: "a list returns half and then an error",
  guard: "complete-reads",
  approvals: 0,
  ends: changed,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    bench.fault("half-a-list");
    await bench.declare(changed);
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    assert.deepEqual(bench.world(), { ...nine, "item-02": "v2", "item-10": "v1" }, "what deletes nothing went on");
    const created = bench.effects().filter(({ effect }) => effect === "create");
    assert.equal(created.length, 10, "nothing that was not on the first page was made again");
    bench.fault("none");
    await bench.pass({ minutes: 5 });
  },
};
