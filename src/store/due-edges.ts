import type { DueEdge } from "../ports/signal.ts";
import { priorityOf } from "./priorities.ts";
import type { WokenRow } from "./sql/wake.ts";

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
