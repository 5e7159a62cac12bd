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
 * In a large group so many neighbours by id are looked at one after the other, at the pace of the group: their rows lie side by
 * side in the database, and what it reads for one of them serves the next.
 */
const NEIGHBOURS = 32;
const LARGE = 8 * NEIGHBOURS;
/** Multiples of the golden ratio fall where the largest gap is, so that neighbourhoods do not crowd as they would by chance. */
const EVENLY = (Math.sqrt(5) - 1) / 2;

export interface PeriodicSubject {
  readonly id: number;
  readonly everyMs: number;
  readonly looked: boolean;
  readonly groupPhase: number;
  /** The part of the interval over which its group is spread, and how many are in the group. */
  readonly spreadMs: number;
  readonly subjects: number;
}

/**
 * Milliseconds until the next periodic look. Each group has its own phase within the interval and each subject its own within
 * the group's spread, taken from their ids: looks spread evenly over all groups, and a subject keeps its place when another
 * process takes over. `looked` says that it was looked at just now.
 */
export function nextPeriodicInMs(subject: PeriodicSubject, nowMs: number, random: Random): number {
  const { everyMs, groupPhase, looked } = subject;
  const phaseMs = ((groupPhase % everyMs) + placeMs(subject)) % everyMs;
  const soonestMs = looked ? everyMs * TOO_SOON : 0;
  const untilPhaseMs = (((phaseMs - nowMs - soonestMs) % everyMs) + everyMs) % everyMs;
  // The first look needs no jitter: phases are spread already, and a shard full of subjects must not begin with a burst.
  const jitterMs = looked ? (draw(subject, nowMs, random) * 2 - 1) * JITTER * everyMs : 0;
  return soonestMs + untilPhaseMs + jitterMs;
}

/** Where within the spread of its group. */
function placeMs({ id, spreadMs: spread, subjects }: PeriodicSubject): number {
  if (subjects < LARGE) return fnv1a(String(id)) % spread;
  const betweenTwoMs = spread / subjects;
  return (((neighbourhoodOf(id) * EVENLY) % 1) * spread + (id % NEIGHBOURS) * betweenTwoMs) % spread;
}

/** From 0 to 1. Neighbours move together, by another amount in each interval: else they would part after the first one. */
function draw({ id, everyMs, subjects }: PeriodicSubject, nowMs: number, random: Random): number {
  if (subjects < LARGE) return random.next();
  return fnv1a(`${Math.floor(nowMs / everyMs)} ${neighbourhoodOf(id)}`) / 2 ** 32;
}

function neighbourhoodOf(id: number): number {
  return Math.floor(id / NEIGHBOURS);
}
