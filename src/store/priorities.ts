import type { Priority } from "../ports/engine-store.ts";

/** Stored as 0 to 3: the most urgent sorts first. */
const priorities: readonly Priority[] = ["person", "event", "first", "resync"];

export function priorityNumber(priority: Priority): number {
  return priorities.indexOf(priority);
}

export function priorityOf(stored: number): Priority {
  const priority = priorities[stored];
  if (priority === undefined) throw new RangeError(`Priority ${stored} is not one of 0 to 3`);
  return priority;
}
