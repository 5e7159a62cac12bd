import { Accounts } from "../../src/kernel/accounts.ts";
import type { Engine } from "../../src/kernel/claim.ts";
import type { Kind } from "../../src/kernel/kind.ts";
import type { EngineStore } from "../../src/ports/engine-store.ts";
import type { Log } from "../../src/ports/log.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { systemRandom } from "../../src/runtime/system-random.ts";
import { PostgresEngineStore } from "../../src/store/engine-store.ts";
import { benchItemKind } from "./bench-item.ts";
import type { BenchWorld } from "./bench-world.ts";
import { CountingDatabase } from "./counting-database.ts";
import type { Geometry } from "./geometry.ts";

const complain: Log["warn"] = (event, fields) => {
  process.stderr.write(`${event} ${JSON.stringify(fields ?? {})}\n`);
};
/** What goes wrong is said; the rest would only fill the screen. */
export const benchLog: Log = { debug: () => undefined, info: () => undefined, warn: complain, error: complain };

/** The production engine over the production store, with one kind and one provider that live in this process. */
export function benchEngine(options: {
  readonly url: string;
  readonly geometry: Geometry;
  readonly world: BenchWorld;
  readonly cleanup: AsyncDisposableStack;
}): Engine & { readonly database: CountingDatabase } {
  const ids = createSystemIds();
  const database = new CountingDatabase({ url: options.url, role: "setpoint_engine", log: benchLog });
  options.cleanup.defer(() => database.end());
  const store: EngineStore = new PostgresEngineStore({ database, clock: systemClock, ids });
  const kind = benchItemKind(options.geometry.everySeconds) as Kind;
  return {
    database,
    store,
    clock: systemClock,
    random: systemRandom,
    ids,
    log: benchLog,
    kinds: new Map([[kind.kind, kind]]),
    accounts: new Accounts({
      providers: new Map([[options.world.name, options.world]]),
      store,
      clock: systemClock,
    }),
  };
}
