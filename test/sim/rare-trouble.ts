import type { SeededRandom } from "./random.ts";

/**
 * Trouble that one rule alone stands against. Each is absent from most worlds, so that a world that has it has little
 * else in the way, and what the rule prevents would show.
 */
export interface RareTrouble {
  /** How long a shard stays a process's own without a renewal. */
  readonly leaseMs: number;
  /** Mean milliseconds of virtual time between two strikes; 0 means never. */
  readonly partition: number;
  readonly rival: number;
  readonly vanish: number;
  readonly sentinel: number;
  readonly relapse: number;
  /** Probability that a complete listing leaves out one thing that is there. */
  readonly omits: number;
  /** Whether listings show some things without their id. */
  readonly blankIds: boolean;
  /** Whether people do these things at all. */
  readonly movedItems: boolean;
  readonly namelessItems: boolean;
  readonly emptyValues: boolean;
  readonly ceilings: boolean;
}

export function drawRareTrouble(
  random: SeededRandom,
  world: { readonly restore: boolean; readonly notFound: number; readonly callTimeoutMs: number },
): RareTrouble {
  const mean = (probability: number, ms: number) => (random.chance(probability) ? ms * (0.5 + random.next()) : 0);
  const shortLeaseMs = world.callTimeoutMs + 3_000;
  const drawn: RareTrouble = {
    leaseMs: random.choose(15_000, shortLeaseMs),
    partition: mean(0.35, 12_000),
    rival: mean(0.25, 15_000),
    vanish: mean(0.15, 25_000),
    sentinel: mean(0.25, 12_000),
    // What a listing does not show, nobody could find who does not know its id or is told that the id is not found either.
    omits: !world.restore && world.notFound === 0 && random.chance(0.5) ? 0.3 : 0,
    blankIds: random.chance(0.2),
    movedItems: random.chance(0.35),
    namelessItems: random.chance(0.15),
    emptyValues: random.chance(0.35),
    ceilings: random.chance(0.2),
    relapse: mean(0.3, 7_000),
  };
  // A listing must outlive the lease for anybody to be tempted by it.
  return drawn.relapse === 0 ? drawn : { ...drawn, leaseMs: shortLeaseMs };
}
