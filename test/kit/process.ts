import { Accounts } from "../../src/kernel/accounts.ts";
import type { CycleReport, Engine } from "../../src/kernel/claim.ts";
import { runCycle } from "../../src/kernel/cycle.ts";
import type { Kind, KindRegistry } from "../../src/kernel/kind.ts";
import type { EngineStore } from "../../src/ports/engine-store.ts";
import type { Ids } from "../../src/ports/ids.ts";
import type { Log } from "../../src/ports/log.ts";
import type { Provider } from "../../src/ports/provider.ts";
import { type Scheduler, startScheduler } from "../../src/scheduler/scheduler.ts";
import { SeededRandom } from "../sim/random.ts";
import { trackedKind } from "./tracked-kind.ts";
import type { VirtualClock, VirtualTime } from "./virtual-time.ts";

export interface ProcessOptions {
  readonly kinds: readonly Kind[];
  readonly providers: readonly Provider[];
  readonly store: EngineStore;
  /** How loops declare resources of their own. */
  readonly declaring: Engine["declaring"];
  /** How loops start operations. */
  readonly starting: Engine["starting"];
}

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** One process: the production scheduler and kernel, with a clock and a way to the store of its own. */
export class BenchProcess {
  readonly clock: VirtualClock;
  /** What its cycles came to, oldest first. */
  readonly reports: CycleReport[] = [];
  readonly #time: VirtualTime;
  readonly #scheduler: Scheduler;

  constructor(options: ProcessOptions & { readonly time: VirtualTime; readonly name: string; readonly ids: Ids }) {
    const { time, store, ids, declaring, starting } = options;
    this.#time = time;
    this.clock = time.clock();
    const clock = this.clock;
    const kinds: KindRegistry = new Map(options.kinds.map((kind) => [kind.kind, trackedKind(kind, time)]));
    const providers = new Map(options.providers.map((provider) => [provider.name, provider]));
    const accounts = new Accounts({ providers, store, clock });
    const engine = {
      store,
      clock,
      random: new SeededRandom(1),
      ids,
      log: silent,
      kinds,
      accounts,
      declaring,
      starting,
    };
    this.#scheduler = startScheduler(engine, {
      holder: options.name,
      run: async (seen, claim) => {
        const report = await runCycle(seen, claim);
        this.reports.push(report);
        return report;
      },
    });
  }

  /** Something changed in the store. A process that stands still does not hear it. */
  poke(): void {
    if (!this.clock.suspended) this.#scheduler.poke();
  }

  /** Ends in order; time passes as far as that takes. */
  async stop(): Promise<void> {
    const drained = this.#scheduler.drain().then(() => true);
    const time = this.#time.settle().then(() => false);
    for (let ended = await Promise.race([drained, time]); !ended; ) {
      ended = await Promise.race([drained, this.#time.pass(1_000).then(() => false)]);
    }
  }

  /** The process stands still in the middle of whatever it does, as a stopped machine would. */
  suspend(): void {
    this.clock.suspend();
  }

  resume(): void {
    this.clock.resume();
  }
}
