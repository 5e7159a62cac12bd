import type { Priority } from "./engine-store.ts";

/** A subject that became due, as the transaction that made it due knows it. */
export interface DueEdge {
  readonly subjectId: number;
  readonly shard: number;
  readonly priority: Priority;
  /** The stored due time, by the store's clock. */
  readonly dueAtMs: number;
}

/**
 * A wake-up hint, sent after a commit. Where they are few the subjects that became due are named, so that whoever owns them
 * need not ask which; the owners of `shards` must ask. Losing a hint costs one poll, a wrong one an idle cycle.
 */
export interface Signal {
  readonly shards: readonly number[];
  readonly due: readonly DueEdge[];
}
