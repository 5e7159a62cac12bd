import { thrownMessage } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Database } from "../store/database.ts";
import { removeOldHistory } from "../store/retention.ts";
import { Sealer } from "../store/sealer.ts";

const retentionEveryMs = 3_600_000;
const spareSealerPollMs = 10_000;
/** Not at once: a start has more urgent things to do. */
const firstRetentionMs = 60_000;

export interface Housekeeping extends AsyncDisposable {
  readonly sealer: Sealer;
  /** Has somebody called whenever this process has sealed something. */
  readonly followSealed: (listener: () => void) => void;
}

/**
 * What some process must do now and then for all of them. Any number may run it: one seals at a time, and what another one
 * has removed is not there to be removed again.
 */
export function startHousekeeping(options: {
  readonly administration: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention: boolean;
  /** Whether entries are appended here: then they are sealed at once, and otherwise only for want of somebody else. */
  readonly appends: boolean;
}): Housekeeping {
  const { administration, clock, log } = options;
  const over = new AbortController();
  const listeners: (() => void)[] = [];
  const sealed = () => {
    for (const listener of listeners) listener();
  };
  const pollMs = options.appends ? 1_000 : spareSealerPollMs;
  const sealer = new Sealer({ administration, clock, log, pollMs, sealed });
  const running = [sealer.run(over.signal)];
  if (options.retention) running.push(keepHistoryBounded({ administration, clock, log, signal: over.signal }));
  return {
    sealer,
    followSealed: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await Promise.allSettled(running);
    },
  };
}

async function keepHistoryBounded(options: {
  readonly administration: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { administration, clock, log, signal } = options;
  await clock.wait(firstRetentionMs, signal);
  while (!signal.aborted) {
    try {
      const removed = await removeOldHistory({ administration });
      if (Object.values(removed).some((count) => count > 0)) log.info("store.history-cut", removed);
    } catch (thrown) {
      log.warn("store.history-not-cut", { message: thrownMessage(thrown) });
    }
    await clock.wait(retentionEveryMs, signal);
  }
}
