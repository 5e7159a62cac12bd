import type { Database } from "./database.ts";
import {
  cutLog,
  removeChanges,
  removeCharges,
  removeDeliveries,
  removeGovernanceChanges,
  removeCredentials,
  removeGrants,
  removeHeldChanges,
  removeIdleCycles,
  removeNotifications,
  removeOperations,
  removeKeys,
  removePauses,
  removeProposals,
  removeVerdicts,
} from "./sql/retention.ts";
import { call, type Statement } from "./statement.ts";
import { storeNow } from "./sql/lease.ts";

/** How long history is kept, each counted from when it was over. */
export interface RetentionLimits {
  readonly changesMs: number;
  readonly verdictsMs: number;
  readonly logMs: number;
  readonly grantsMs: number;
  readonly heldChangesMs: number;
  readonly pausesMs: number;
  readonly idleCyclesMs: number;
  readonly notificationsMs: number;
  readonly idempotencyKeysMs: number;
  readonly proposalsMs: number;
  /** Operations that ended, with their journals. */
  readonly operationsMs: number;
  /** Tokens that expired, were revoked or used up. */
  readonly credentialsMs: number;
}

const dayMs = 86_400_000;
const defaultRetention: RetentionLimits = Object.freeze({
  changesMs: 90 * dayMs,
  verdictsMs: 30 * dayMs,
  logMs: 365 * dayMs,
  grantsMs: 30 * dayMs,
  heldChangesMs: 90 * dayMs,
  pausesMs: 30 * dayMs,
  idleCyclesMs: 7 * dayMs,
  notificationsMs: 30 * dayMs,
  idempotencyKeysMs: dayMs,
  proposalsMs: 90 * dayMs,
  operationsMs: 90 * dayMs,
  credentialsMs: 90 * dayMs,
});

export interface RetentionOptions {
  /** Of role `setpoint_admin`. */
  readonly administration: Database;
  readonly limits?: RetentionLimits;
  /** Rows of one transaction, and transactions per table and run: a run is bounded, and the next one goes on. */
  readonly batchSize?: number;
  readonly maxBatches?: number;
}

/** Removes history that is older than its limit. Answers with how many rows went, by table. */
export async function removeOldHistory(options: RetentionOptions): Promise<Readonly<Record<string, number>>> {
  const { administration, limits = defaultRetention, batchSize = 1_000, maxBatches = 100 } = options;
  const [row] = await administration.run("platform", call(storeNow));
  const nowMs = row?.now_ms ?? 0;
  const tables: readonly (readonly [name: string, Statement<{ removed: number }>, keepMs: number])[] = [
    ["changes", removeChanges, limits.changesMs],
    ["verdicts", removeVerdicts, limits.verdictsMs],
    ["log", cutLog, limits.logMs],
    ["grants", removeGrants, limits.grantsMs],
    ["heldChanges", removeHeldChanges, limits.heldChangesMs],
    ["pauses", removePauses, limits.pausesMs],
    ["idleCycles", removeIdleCycles, limits.idleCyclesMs],
    ["credentials", removeCredentials, limits.credentialsMs],
    ["charges", removeCharges, 0],
    ["deliveries", removeDeliveries, limits.notificationsMs],
    ["notifications", removeNotifications, limits.notificationsMs],
    ["governanceChanges", removeGovernanceChanges, limits.heldChangesMs],
    ["idempotencyKeys", removeKeys, limits.idempotencyKeysMs],
    ["proposals", removeProposals, limits.proposalsMs],
    ["operations", removeOperations, limits.operationsMs],
  ];
  const removed: Record<string, number> = {};
  for (const [name, statement, keepMs] of tables) {
    let total = 0;
    for (let batch = 0; batch < maxBatches; batch++) {
      const [answer] = await administration.run("platform", call(statement, nowMs - keepMs, batchSize));
      const count = answer?.removed ?? 0;
      total += count;
      if (count < batchSize) break;
    }
    removed[name] = total;
  }
  return removed;
}
