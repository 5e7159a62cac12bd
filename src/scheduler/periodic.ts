import { fnv1a } from "../kernel/hash.ts";
import type { Random } from "../ports/random.ts";

/** Share of the interval by which each look is moved, either way, so that what was once in step does not stay so. */
const JITTER = 0.05;
/** A look this close to the next periodic one replaces it; more than the jitter, or a look could come twice in one interval. */
const TOO_SOON = 0.25;

/** Subjects that share a listing are looked at within this part of their interval, so that it need not be kept for the rest. */
const TOGETHER = 1 / 8;
/** Shorter than this there is nothing to gain, and a large account takes longer, so that it does not crowd out the others. */
const TOGETHER_AT_LEAST_MS = 300_000;
const TOGETHER_PER_SECOND = 50;

/** The part of the interval over which the looks of a group are spread. */
export function spreadMs(group: {
  readonly everyMs: number;
  readonly shared: boolean;
  readonly subjects: number;
}): number {
  const { everyMs, shared, subjects } = group;
  if (!shared) return everyMs;
  const neededMs = Math.max(everyMs * TOGETHER, TOGETHER_AT_LEAST_MS, (subjects * 1_000) / TOGETHER_PER_SECOND);
  return Math.min(everyMs, Math.ceil(neededMs));
}

/**
 * Milliseconds until the next periodic look. Each group has its own phase within the interval and each subject its own within
 * the group's spread, taken from their ids: looks spread evenly over all groups, and a subject keeps its place when another
 * process takes over. `looked` says that it was looked at just now.
 */
export function nextPeriodicInMs(
  subject: {
    readonly id: number;
    readonly everyMs: number;
    readonly looked: boolean;
    readonly groupPhase: number;
    readonly spreadMs: number;
  },
  nowMs: number,
  random: Random,
): number {
  const { everyMs, groupPhase, id, looked } = subject;
  const phaseMs = ((groupPhase % everyMs) + (fnv1a(String(id)) % subject.spreadMs)) % everyMs;
  const soonestMs = looked ? everyMs * TOO_SOON : 0;
  const untilPhaseMs = (((phaseMs - nowMs - soonestMs) % everyMs) + everyMs) % everyMs;
  // The first look needs no jitter: phases are spread already, and a shard full of subjects must not begin with a burst.
  const jitterMs = looked ? (random.next() * 2 - 1) * JITTER * everyMs : 0;
  return soonestMs + untilPhaseMs + jitterMs;
}
