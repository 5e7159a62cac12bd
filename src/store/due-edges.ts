import type { Priority } from "../ports/engine-store.ts";
import { priorityOf } from "./priorities.ts";
import type { WokenRow } from "./sql/wake.ts";

/** A subject that a transaction made due. */
export interface DueEdge {
  readonly subjectId: number;
  readonly shard: number;
  readonly priority: Priority;
  /** By the store's clock. */
  readonly dueAtMs: number;
}

/** What a transaction made due: the shards, and the subjects where they are few. */
export interface Woken {
  readonly shards: readonly number[];
  readonly due: readonly DueEdge[];
}

export const nobodyWoken: Woken = Object.freeze({ shards: [], due: [] });

export function wokenOf(rows: readonly WokenRow[]): Woken {
  const due = rows.flatMap(({ shard, edges }) =>
    (edges ?? []).map(([subjectId, priority, dueAtMs]) => ({
      subjectId,
      shard,
      priority: priorityOf(priority),
      dueAtMs,
    })),
  );
  return { shards: [...new Set(rows.map(({ shard }) => shard))], due };
}
