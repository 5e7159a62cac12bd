import { fnv1a } from "../kernel/hash.ts";
import type { Random } from "../ports/random.ts";

/** Share of the interval by which each look is moved, either way, so that what was once in step does not stay so. */
const JITTER = 0.05;
/** A look this close to the next periodic one replaces it; more than the jitter, or a look could come twice in one interval. */
const TOO_SOON = 0.25;

/**
 * Milliseconds until the next periodic look. Each subject has its own phase within the interval, taken from its id: looks spread
 * evenly, and a subject keeps its place when another process takes over. `looked` says that it was looked at just now.
 */
export function nextPeriodicInMs(
  subject: { readonly id: number; readonly everyMs: number; readonly looked: boolean },
  nowMs: number,
  random: Random,
): number {
  const { everyMs, id, looked } = subject;
  const phaseMs = fnv1a(String(id)) % everyMs;
  const soonestMs = looked ? everyMs * TOO_SOON : 0;
  const untilPhaseMs = (((phaseMs - nowMs - soonestMs) % everyMs) + everyMs) % everyMs;
  // The first look needs no jitter: phases are spread already, and a shard full of subjects must not begin with a burst.
  const jitterMs = looked ? (random.next() * 2 - 1) * JITTER * everyMs : 0;
  return soonestMs + untilPhaseMs + jitterMs;
}
