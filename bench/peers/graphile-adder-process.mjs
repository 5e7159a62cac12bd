// graphile-worker's side that adds jobs, at a fixed rate.
import { Logger, makeWorkerUtils } from "graphile-worker";
import { answerCalls } from "../harness/child.ts";
import { atRate, machineMs } from "../harness/pacing.ts";

const [, , connectionString] = process.argv;
const utils = await makeWorkerUtils({
  connectionString,
  maxPoolSize: 8,
  logger: new Logger(() => () => undefined),
});
await utils.migrate();

answerCalls(
  {
    ready: () => undefined,
    /** @param {{ first: number, count: number, perSecond: number }} options */
    add: async ({ first, count, perSecond }) => {
      const calledMs = new Float64Array(count);
      const committedMs = new Float64Array(count);
      await atRate({ perSecond, count }, async (index) => {
        calledMs[index] = machineMs();
        await utils.addJob("job", { index: first + index });
        committedMs[index] = machineMs();
      });
      return { calledMs, committedMs };
    },
  },
  () => utils.release(),
);
