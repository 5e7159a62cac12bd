import type { Random } from "../ports/random.ts";

const FIRST_MS = 1_000;
const LONGEST_MS = 15 * 60_000;

/** 1 s doubling to 15 min, with half of it jittered so that what failed together does not come back together. */
export function backoffMs(attempts: number, random: Random): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts - 1, 30));
  return Math.round(full / 2 + (full / 2) * random.next());
}

const PATIENT_FIRST_MS = 2_000;
const PATIENT_LONGEST_MS = 5 * 60_000;

/**
 * How soon something that waits for others is looked at again: a tenth of the time it has waited already. Each look asks the outside,
 * and what waits for a person may wait for days.
 */
export function patienceMs(sinceMs: number, nowMs: number): number {
  return Math.round(Math.min(PATIENT_LONGEST_MS, Math.max(PATIENT_FIRST_MS, (nowMs - sinceMs) / 10)));
}
