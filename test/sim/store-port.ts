import { asError } from "./as-error.ts";
import { type MemoryStore, type StoreMethods, transactions } from "./memory-store.ts";
import type { SimProcess } from "./process.ts";
import type { Witness } from "./referee/witness.ts";
import type { StoreFaults } from "./swarm.ts";

type Method = keyof typeof transactions & keyof StoreMethods;

const noFaults: StoreFaults = { slowestMs: 2, errorBefore: 0, lostAnswer: 0, stall: 0 };

/**
 * The store as one process reaches it: a request that arrives some time later, one transaction, an answer that comes back
 * some time later or never. Every commit is shown to the witness.
 */
export function connectStore(options: {
  readonly store: MemoryStore;
  readonly process: SimProcess;
  readonly faults: () => StoreFaults | undefined;
  readonly witness: Witness;
}): StoreMethods {
  const { store, process, witness } = options;
  const { world } = process;
  const random = process.random.fork("store");

  function call(method: Method, request: unknown): Promise<unknown> {
    const faults = options.faults() ?? noFaults;
    const draw = random.next();
    const failsBefore = draw < faults.errorBefore;
    const losesAnswer = !failsBefore && draw < faults.errorBefore + faults.lostAnswer;
    const stalls = random.chance(faults.stall);
    const arrivesInMs = random.int(0, faults.slowestMs) + (stalls ? random.int(1_000, 20_000) : 0);
    return new Promise((resolve, reject) => {
      const answer = (run: () => void) => {
        // A message of its own, so that a crash, a pause of the process or somebody else's commit can fall in between.
        world.schedule(random.int(0, faults.slowestMs), method, run, { owner: process });
      };
      const arrive = () => {
        if (failsBefore || process.cutOffUntilMs > world.nowMs)
          return answer(() => reject(new Error("The database connection was refused")));
        try {
          const result = commit(method, request);
          if (losesAnswer) return answer(() => reject(new Error("The database connection was lost")));
          answer(() => resolve(result));
        } catch (thrown) {
          answer(() => reject(asError(thrown)));
        }
      };
      world.schedule(arrivesInMs, `${method} arrives`, arrive, { sender: process });
    });
  }

  function commit(method: Method, request: unknown): unknown {
    witness.beforeCommit(process, method, request);
    const transaction = transactions[method] as (state: MemoryStore["state"], request: unknown) => unknown;
    const result = transaction(store.state, request);
    if (world.onStep !== undefined)
      world.onStep(`  ${process.name} ${method} ${JSON.stringify(request)} -> ${JSON.stringify(result)}`);
    witness.afterCommit(process, method, request, result);
    return result;
  }

  const port: Partial<Record<Method, (request: unknown) => Promise<unknown>>> = {};
  for (const method of Object.keys(transactions) as Method[]) port[method] = (request) => call(method, request);
  return port as unknown as StoreMethods;
}
