import type { Priority } from "../ports/engine-store.ts";

/** From the most urgent. A rank is a place in this list. */
export const PRIORITIES = ["person", "event", "first", "resync"] as const satisfies readonly Priority[];
export const RESYNC_RANK = 3;
/** People's changes and events; what is not urgent leaves slots free for them. */
export const LAST_URGENT_RANK = 1;

export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

export function priorityOf(rank: number): Priority {
  return PRIORITIES[rank] ?? "resync";
}
