import type { Limits, PartialLimits } from "../../src/ports/records.ts";
import type { SeededRandom } from "./random.ts";
import { drawRareTrouble, type RareTrouble } from "./rare-trouble.ts";

/** What one seed's run is like: which faults exist at all, how often they strike, how big the world is. */
export interface Swarm {
  readonly schedulers: number;
  readonly tenants: number;
  readonly accountsPerTenant: number;
  readonly subjectsPerTenant: number;
  readonly itemsMax: number;
  readonly callsPerSecond: number;
  /** Whether the provider itself refuses two things under one name. */
  readonly uniqueKeys: boolean;
  /** Whether listings carry the provider's own count and revision. */
  readonly counted: boolean;
  readonly pageSize: number;
  readonly settleMs: number;
  readonly callTimeoutMs: number;
  readonly limits: PartialLimits;
  readonly confirmAfterMs: number;
  readonly skewMs: number;
  readonly store: StoreFaults;
  readonly provider: ProviderFaults;
  readonly chaos: ChaosRates;
  readonly intents: IntentRates;
  readonly rare: RareTrouble;
  readonly operations: OperationRates;
}

/** Long work beside the loops. */
export interface OperationRates {
  /** Processes that run operations; 0: there are none, and nobody starts any. */
  readonly workers: number;
  /** Mean milliseconds between two words of people about operations. */
  readonly every: number;
  /** Mean milliseconds between two acts of somebody who has his hands on what operations make; 0 means never. */
  readonly contested: number;
}

/** Probabilities per call. */
export interface StoreFaults {
  readonly slowestMs: number;
  readonly errorBefore: number;
  readonly lostAnswer: number;
  readonly stall: number;
}

/** Probabilities per call, and whether lists may lag. */
export interface ProviderFaults {
  readonly slowestMs: number;
  readonly errorBefore: number;
  readonly lostAnswer: number;
  readonly hang: number;
  readonly pageError: number;
  readonly repeatedToken: number;
  readonly staleList: number;
  /** Calls per second the provider really gives; 0 means no limit. */
  readonly callsPerSecond: number;
}

/** Mean milliseconds of virtual time between two strikes; 0 means never. */
export interface ChaosRates {
  readonly crash: number;
  readonly suspend: number;
  readonly clockJump: number;
  readonly freezesMonotonic: boolean;
  readonly stranger: number;
  readonly notFound: number;
  readonly swap: number;
  readonly readOnly: number;
  readonly restore: boolean;
  readonly lostPoke: number;
  readonly doublePoke: number;
}

export interface IntentRates {
  /** Mean milliseconds between two intents. */
  readonly every: number;
  readonly pauses: boolean;
  readonly modes: boolean;
  readonly deletions: boolean;
  readonly approvals: boolean;
  readonly holds: boolean;
  readonly protection: boolean;
  readonly brokenSpecs: boolean;
  readonly unknownDesired: boolean;
  readonly emptied: boolean;
  readonly sharedZones: boolean;
  readonly manyAccounts: boolean;
  readonly fourEyes: boolean;
}

export function drawSwarm(random: SeededRandom): Swarm {
  const settleMs = random.choose(0, 300, 1_500, 4_000);
  const confirmAfterMs = Math.max(settleMs, random.choose(2_000, 5_000, 12_000));
  const callTimeoutMs = random.choose(1_000, 4_000);
  const chaos = drawChaos(random.fork("chaos"));
  return {
    schedulers: random.int(1, 3),
    tenants: random.int(1, 3),
    accountsPerTenant: random.int(1, 2),
    subjectsPerTenant: random.int(1, 4),
    itemsMax: random.choose(3, 6, 12),
    callsPerSecond: random.choose(30, 100, 500),
    uniqueKeys: random.chance(0.4),
    counted: random.chance(0.5),
    pageSize: random.choose(2, 5, 50),
    settleMs,
    callTimeoutMs,
    limits: drawLimits(random, confirmAfterMs),
    confirmAfterMs,
    skewMs: random.choose(0, 50, 30_000),
    store: {
      slowestMs: random.choose(0, 3, 40),
      errorBefore: sometimes(random, 0.02),
      lostAnswer: sometimes(random, 0.02),
      stall: sometimes(random, 0.003),
    },
    provider: {
      slowestMs: random.choose(2, 30, 400),
      errorBefore: sometimes(random, 0.05),
      lostAnswer: sometimes(random, 0.08),
      hang: sometimes(random, 0.03),
      pageError: sometimes(random, 0.2),
      repeatedToken: sometimes(random, 0.2),
      staleList: settleMs === 0 ? 0 : random.choose(0, 0.3, 0.9),
      callsPerSecond: random.choose(0, 0, 10, 40),
    },
    chaos,
    intents: drawIntents(random),
    rare: drawRareTrouble(random.fork("rare"), { ...chaos, callTimeoutMs }),
    operations: drawOperations(random.fork("operations"), chaos),
  };
}

/** What a restored database has forgotten of an operation, nobody could be judged by. */
function drawOperations(random: SeededRandom, { restore }: ChaosRates): OperationRates {
  const workers = !restore && random.chance(0.4) ? random.int(1, 2) : 0;
  const every = random.choose(300, 1_000, 3_000);
  return { workers, every, contested: random.chance(0.4) ? 2_500 * (0.5 + random.next()) : 0 };
}

function drawLimits(random: SeededRandom, confirmAfterMs: number): PartialLimits {
  const cycle: Limits["deletesPerCycle"] = {
    count: random.int(1, 5),
    percent: random.choose(20, 50, 100),
    atLeast: random.int(0, 2),
  };
  const hour = (most: number) => ({
    count: random.int(2, most),
    percent: random.choose(20, 60, 100),
    atLeast: random.int(1, 4),
  });
  return {
    deletesPerCycle: cycle,
    deletesPerHour: { account: hour(8), organization: hour(12), platform: hour(20) },
    changesPerCycle: random.choose(2, 5, 50),
    confirmAfterMs,
  };
}

function drawChaos(random: SeededRandom): ChaosRates {
  return {
    crash: often(random, 9_000),
    suspend: often(random, 12_000),
    clockJump: often(random, 10_000),
    freezesMonotonic: random.chance(0.4),
    stranger: often(random, 2_500),
    notFound: often(random, 30_000),
    swap: often(random, 40_000),
    readOnly: often(random, 40_000),
    restore: random.chance(0.15),
    lostPoke: sometimes(random, 0.5),
    doublePoke: sometimes(random, 0.3),
  };
}

function drawIntents(random: SeededRandom): IntentRates {
  const half = () => random.chance(0.5);
  return {
    every: random.choose(300, 900, 2_500),
    pauses: half(),
    modes: half(),
    deletions: random.chance(0.8),
    approvals: random.chance(0.8),
    holds: half(),
    protection: half(),
    brokenSpecs: random.chance(0.3),
    unknownDesired: random.chance(0.3),
    emptied: random.chance(0.4),
    sharedZones: random.chance(0.2),
    manyAccounts: half(),
    fourEyes: random.chance(0.25),
  };
}

/** Half of all runs do without this fault: what is absent finds as much as what is there. */
function sometimes(random: SeededRandom, most: number): number {
  return random.chance(0.5) ? 0 : most * random.next() ** 2;
}

function often(random: SeededRandom, mean: number): number {
  return random.chance(0.5) ? 0 : mean * (0.5 + 2 * random.next());
}
