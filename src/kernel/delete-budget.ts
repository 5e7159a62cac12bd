import type { DeleteLimit } from "../ports/records.ts";

/** allowed = min(count, max(atLeast, floor(percent of owned))). A share alone would be blind on small sets, a count alone on large ones. */
export function allowedDeletes(limit: DeleteLimit, owned: number): number {
  return Math.min(limit.count, Math.max(limit.atLeast, Math.floor((limit.percent * owned) / 100)));
}
