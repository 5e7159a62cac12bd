import { startHousekeeping } from "../../src/compose/housekeeping.ts";
import { PostgresSignalSender } from "../../src/fabric/postgres-signals.ts";
import { signalOf } from "../../src/fabric/signal-text.ts";
import type { DeclareRequest } from "../../src/ports/intent-store.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresIntentStore } from "../../src/store/intent-store.ts";
import { answerCalls } from "../harness/child.ts";
import { atRate, machineMs } from "../harness/pacing.ts";
import { benchLog } from "./bench-engine.ts";
import { accountOf, type Geometry, itemName, itemSpec, itemUid } from "./geometry.ts";

/** The API's side of an event: the production intent store and the production signals, in a process of their own. */
const [, , url = "", geometryText = ""] = process.argv;
const geometry = JSON.parse(geometryText) as Geometry;
const cleanup = new AsyncDisposableStack();
const database = new Database({ url, role: "setpoint_api", log: benchLog });
const administration = new Database({ url, role: "setpoint_admin", log: benchLog, max: 1 });
cleanup.defer(() => Promise.all([database.end(), administration.end()]).then(() => undefined));
const signals = cleanup.use(new PostgresSignalSender({ url, clock: systemClock, log: benchLog }));
const { sealer } = cleanup.use(
  startHousekeeping({ administration, clock: systemClock, log: benchLog, retention: false, appends: true }),
);
const intents = new PostgresIntentStore({
  database,
  administration,
  ids: createSystemIds(),
  clock: systemClock,
  poke: (shards, due) => signals.send(signalOf(shards, due)),
  logged: () => sealer.poke(),
});

function declaration(item: number, note: string): DeclareRequest {
  const account = accountOf(geometry, Math.floor(item / geometry.itemsPerAccount));
  return {
    uid: itemUid(item),
    organizationId: account.organizationId,
    kind: "BenchItem",
    name: itemName(item),
    scope: `organization/${account.organizationId}`,
    spec: itemSpec(item, account.id, note),
    labels: {},
    author: { name: "bench", type: "machine" },
    ifRevision: undefined,
    mode: "enforce",
    protect: undefined,
    accounts: [account.id],
    links: [],
  };
}

const calls = {
  ready(): void {},
  /** Edits these items one after the other at a rate. Their cycles have nothing to write outside. */
  async declare(options: {
    readonly items: readonly number[];
    readonly perSecond: number;
    readonly note: string;
  }): Promise<{ readonly calledMs: Float64Array; readonly committedMs: Float64Array }> {
    const { items, perSecond, note } = options;
    const calledMs = new Float64Array(items.length);
    const committedMs = new Float64Array(items.length);
    await atRate({ perSecond, count: items.length }, async (index) => {
      calledMs[index] = machineMs();
      const answer = await intents.declare(declaration(items[index] as number, note));
      committedMs[index] = machineMs();
      if (answer.result !== "changed")
        throw new Error(`An edit was to change its item and was answered ${answer.result}`);
    });
    return { calledMs, committedMs };
  },
};
export type WriterCalls = typeof calls;

answerCalls(calls, () => cleanup.disposeAsync());
