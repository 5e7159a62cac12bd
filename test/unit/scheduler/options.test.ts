import assert from "node:assert/strict";
import { test } from "node:test";
import { schedulerDefaults, schedulerSettings } from "../../../src/scheduler/options.ts";
import { report } from "./fake-store.ts";

const run = async () => report(1);

test("defaults fill in what is not given, undefined included", () => {
  const settings = schedulerSettings({ holder: "a", leaseMs: 30_000, pollMs: undefined }, run);
  assert.deepEqual([settings.leaseMs, settings.pollMs, settings.renewEveryMs], [30_000, 1_000, 5_000]);
  assert.ok(schedulerDefaults.periodicPerSecond >= 278, "enough for a million hourly looks");
});

test("settings that do not fit together are refused, all problems at once", () => {
  assert.throws(
    () =>
      schedulerSettings(
        { holder: "", leaseMs: 8_000, inFlightMax: 0, urgentShare: 2, wantedShards: 65, drainMs: 0 },
        run,
      ),
    (error: Error) => {
      for (const name of ["holder", "renewEveryMs", "inFlightMax", "urgentShare", "wantedShards", "drainMs"])
        assert.match(error.message, new RegExp(`- ${name} is`));
      return true;
    },
  );
});
