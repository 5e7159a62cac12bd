import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { requireReal } from "./requirement.ts";
import { duplicatesIn, startWorkerTown, type WorkerTown } from "./worker-town.ts";

const KILLS = Number(process.env["SETPOINT_WORKER_KILLS"] ?? 200);
const IN_FLIGHT = 24;
/** Two seconds for a kill are usual, a busy machine needs several times that. What hangs is found by its own wait, in minutes. */
const LIMIT_MS = 5 * 60_000 + KILLS * 12_000;

/** Goal: however often workers die without a word, no operation is lost and nothing is done twice. */
test(`${KILLS} workers killed with many operations in flight: none lost, nothing twice`, {
  timeout: LIMIT_MS,
}, async (t) => {
  const program = requireReal(t, "PowerDNS");
  if (program === undefined) return;
  await using town = await startWorkerTown(program, { workers: 3 });
  const supply = new AbortController();
  const supplying = keepBusy(town, supply.signal);
  let fewest = Number.POSITIVE_INFINITY;
  for (let kills = 0; kills < KILLS; kills++) {
    const inFlight = await town.untilInFlight(IN_FLIGHT);
    fewest = Math.min(fewest, inFlight);
    // Another moment each time: within a look, a call, a record, or between them.
    await sleep((kills * 37) % 300);
    await town.killOneThatWorks();
  }
  supply.abort();
  await supplying;
  const ended = await town.untilAllEnded();
  t.diagnostic(`${KILLS} kills, at least ${fewest} operations in flight at each; ${ended.length} operations in all`);
  assert.ok(fewest >= IN_FLIGHT);
  assert.deepEqual(
    ended.filter(({ state }) => state !== "succeeded").map(({ id, state, message }) => `${id} ${state}: ${message}`),
    [],
    "an operation was lost",
  );
  assert.deepEqual(duplicatesIn(town.gateway.calls), [], "something was done twice");
  assert.deepEqual(await town.zonesOutside(), town.zonesDeclared(), "what is outside is what is declared");
  assert.deepEqual(await town.stepsDoneTwice(ended), [], "a recorded step was run again");
});

/** Declares zones and deletes what is made, so that there is always much to do. */
async function keepBusy(town: WorkerTown, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const live = await town.live();
    await town.help(live);
    const wanted = IN_FLIGHT * 2 - live.length;
    if (wanted > 0) {
      const gone = town.takeMade(Math.floor(wanted / 2), live);
      await Promise.all(gone.map((zone) => town.remove(zone)));
      await Promise.all(Array.from({ length: Math.ceil(wanted / 2) }, () => town.declareZone()));
    }
    await sleep(100);
  }
}
