// graphile-worker's side that runs jobs: a task that does nothing but say when it began.
import { Logger, run } from "graphile-worker";
import { answerCalls } from "../harness/child.ts";
import { machineMs } from "../harness/pacing.ts";

const [, , connectionString, settings] = process.argv;
/** @type {Map<number, number>} */
let starts = new Map();
const runner = await run({
  preset: { worker: { connectionString, pollInterval: 1_000, ...JSON.parse(settings) } },
  noHandleSignals: true,
  logger: new Logger(() => () => undefined),
  taskList: {
    job: async (payload) => {
      starts.set(payload.index, machineMs());
    },
  },
});

answerCalls(
  {
    ready: () => undefined,
    watchStarts: () => {
      starts = new Map();
    },
    starts: () => ({ items: Float64Array.from(starts.keys()), atMs: Float64Array.from(starts.values()) }),
  },
  () => runner.stop(),
);
