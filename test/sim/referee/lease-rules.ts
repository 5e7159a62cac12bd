import type { Claim, CycleReport, Engine } from "../../../src/kernel/claim.ts";
import type { SimProcess } from "../process.ts";
import type { Ledger } from "./ledger.ts";
import { Violation } from "./witness.ts";

type RunCycle = (engine: Engine, claim: Claim) => Promise<CycleReport>;

/** For so long somebody may count on a lease that a restore has cleared under him; the permit stands in his way. */
export const longestLeaseMs = 15_000;
/** Times are whole milliseconds on every clock; rounding may add one. */
const roundingMs = 1;

/**
 * Watches what a process believes of its lease each time a cycle asks: never more than the store would say. And whoever
 * runs one subject twice at the same time has lost count of what runs.
 */
export function watchCycles(
  ledger: Ledger,
  process: SimProcess,
  fail: (violation: Violation) => void,
  run: RunCycle,
): RunCycle {
  const running = new Map<number, Claim>();
  return async (engine, claim) => {
    const other = running.get(claim.subjectId);
    if (other !== undefined && !other.signal.aborted) {
      fail(new Violation("one cycle at a time", `${process.name} runs subject ${claim.subjectId} twice at once`));
    }
    running.set(claim.subjectId, claim);
    const leaseRemainingMs = () => {
      const believedMs = claim.leaseRemainingMs();
      const { epoch, holder, shard } = claim.actor;
      const lease = ledger.state.tables.shards[shard];
      const isCurrent = lease?.holder === holder && lease.epoch === epoch;
      const trulyMs = isCurrent ? lease.untilMs - ledger.nowMs : 0;
      const cleared = ledger.nowMs - ledger.leasesClearedAtMs < longestLeaseMs;
      if (!cleared && believedMs > Math.max(0, trulyMs) + roundingMs) {
        fail(
          new Violation(
            "lease",
            `${process.name} counts on shard ${shard} for ${believedMs} ms, which lasts ${trulyMs}`,
          ),
        );
      }
      return believedMs;
    };
    const watched: Claim = { ...claim, leaseRemainingMs };
    try {
      return await run(engine, watched);
    } finally {
      if (running.get(claim.subjectId) === claim) running.delete(claim.subjectId);
    }
  };
}
