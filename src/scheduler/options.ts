import type { Claim, CycleReport, Engine } from "../kernel/claim.ts";
import { SHARDS } from "../kernel/hash.ts";
import { noMetrics, type SchedulerMetrics } from "./metrics.ts";

export type RunCycle = (engine: Engine, claim: Claim) => Promise<CycleReport>;

export interface SchedulerSettings {
  /** A name for people. Each start adds an id of its own: a restarted process must never pass for the one before it. */
  readonly holder: string;
  /** How long a shard stays ours without a renewal. A crashed process's shards are idle for this long. */
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** How often to compare what we hold with our fair share. */
  readonly balanceEveryMs: number;
  /** `fair`: the shards divided by the live holders, rounded up. */
  readonly wantedShards: "fair" | number;
  /** A statement of the scheduler's own that takes longer counts as failed. */
  readonly storeTimeoutMs: number;

  /** Cycles that somebody waits for, at the same time. More of them share commits better; fewer answer the next one sooner. */
  readonly inFlightMax: number;
  /** Share of these slots that first looks leave free. */
  readonly urgentShare: number;
  /** Periodic looks at the same time. They begin in groups, and as many as may run are read by one statement. */
  readonly periodicInFlightMax: number;
  /** No organization fills more than this share of the slots, and no account more than that. */
  readonly organizationShare: number;
  readonly accountShare: number;
  /** Turns of one organization that begin in a second while others have turns too, so that they do not wait for its backlog. */
  readonly besideOthersPerSecond: number;
  /** Looks nobody waits for, per second: the load of a steady state, bounded after a long sleep. 1,000,000 hourly looks need 278. */
  readonly periodicPerSecond: number;
  /** Due subjects in memory (about 150 bytes each); what has no room stays in the store. */
  readonly queuedMax: number;
  readonly queuedPerOrganizationMax: number;

  /** How late an edge is found when its poke was lost. */
  readonly pollMs: number;
  /** Rows of a page. They are taken over in one go, and everybody waits meanwhile: about 7 µs each. */
  readonly pollBatch: number;
  /** Pokes that come closer together than this share one poll. */
  readonly pollGapMs: number;
  /** How often a poll reads every due row again instead of the new ones. */
  readonly fullPollEveryMs: number;
  /** A transaction stamps its edges before it commits; a poll looks back this far for those that were late. */
  readonly pollOverlapMs: number;
  readonly listBatch: number;

  /** A cycle that takes longer is aborted, and given up when it has not ended `abandonAfterMs` later. */
  readonly cycleDeadlineMs: number;
  readonly abandonAfterMs: number;
  /** Consecutive cycles of a subject that threw or hung, after which it is only tried every `quarantineMs`. */
  readonly quarantineAfter: number;
  readonly quarantineMs: number;
  /** Longer than any permit lives: a cycle that was given up may have a call under way, and settling would end its permit. */
  readonly permitOutlivesMs: number;
  /** How long running cycles may go on when a shard is handed over or the process shuts down. */
  readonly drainMs: number;

  /** A kind that is not installed is still looked at, so that it is reported. */
  readonly unknownKindEverySeconds: number;
  /** Idle cycles are recorded this often when there are at least `idleBatch` of them, else every `idleAtLatestMs`. */
  readonly idleEveryMs: number;
  readonly idleBatch: number;
  readonly idleAtLatestMs: number;

  readonly metrics: SchedulerMetrics;
  readonly run: RunCycle;
}

/** Everything but the name has a default. */
export type SchedulerOptions = Pick<SchedulerSettings, "holder"> & {
  readonly [Name in keyof SchedulerSettings]?: SchedulerSettings[Name] | undefined;
};

export const schedulerDefaults = Object.freeze({
  leaseMs: 15_000,
  renewEveryMs: 5_000,
  balanceEveryMs: 5_000,
  wantedShards: "fair",
  storeTimeoutMs: 5_000,

  inFlightMax: 256,
  urgentShare: 0.25,
  periodicInFlightMax: 1_000,
  organizationShare: 0.75,
  accountShare: 0.5,
  besideOthersPerSecond: 250,
  periodicPerSecond: 1_000,
  queuedMax: 150_000,
  queuedPerOrganizationMax: 110_000,

  pollMs: 1_000,
  pollBatch: 100,
  pollGapMs: 2,
  fullPollEveryMs: 30_000,
  pollOverlapMs: 2_000,
  listBatch: 5_000,

  cycleDeadlineMs: 120_000,
  abandonAfterMs: 10_000,
  quarantineAfter: 5,
  quarantineMs: 3_600_000,
  permitOutlivesMs: 60_000,
  drainMs: 20_000,

  unknownKindEverySeconds: 3_600,
  idleEveryMs: 10_000,
  idleBatch: 100,
  // A loop of a minute reads at most a third of its interval older than it is.
  idleAtLatestMs: 20_000,

  metrics: noMetrics,
} satisfies Omit<SchedulerSettings, "holder" | "run">);

/** Fills in the defaults and checks what must hold between settings; every problem at once. */
export function schedulerSettings(options: SchedulerOptions, run: RunCycle): SchedulerSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings: SchedulerSettings = { ...schedulerDefaults, run, ...given, holder: options.holder };
  const problems = [...positive(settings), ...relations(settings)];
  if (problems.length > 0)
    throw new Error(
      `The scheduler's settings do not fit together:\n${problems.map((problem) => `- ${problem}`).join("\n")}`,
    );
  return Object.freeze(settings);
}

const COUNTS = [
  "inFlightMax",
  "periodicInFlightMax",
  "queuedMax",
  "queuedPerOrganizationMax",
  "pollBatch",
  "listBatch",
  "quarantineAfter",
  "idleBatch",
] as const;
const DURATIONS = [
  "leaseMs",
  "renewEveryMs",
  "balanceEveryMs",
  "storeTimeoutMs",
  "pollMs",
  "fullPollEveryMs",
  "cycleDeadlineMs",
  "abandonAfterMs",
  "quarantineMs",
  "drainMs",
  "unknownKindEverySeconds",
  "periodicPerSecond",
  "besideOthersPerSecond",
] as const;
const SHARES = ["urgentShare", "organizationShare", "accountShare"] as const;

function positive(settings: SchedulerSettings): readonly string[] {
  return [
    ...COUNTS.filter((name) => !Number.isInteger(settings[name]) || settings[name] < 1).map(
      (name) => `${name} is ${settings[name]}; expected a whole number from 1`,
    ),
    ...DURATIONS.filter((name) => !(settings[name] > 0)).map(
      (name) => `${name} is ${settings[name]}; expected more than 0`,
    ),
    ...SHARES.filter((name) => !(settings[name] > 0 && settings[name] <= 1)).map(
      (name) => `${name} is ${settings[name]}; expected a share above 0 and up to 1`,
    ),
  ];
}

function relations(settings: SchedulerSettings): readonly string[] {
  const problems: string[] = [];
  const { holder, leaseMs, renewEveryMs, wantedShards } = settings;
  if (holder === "") problems.push("holder is empty; expected a name that people can tell processes apart by");
  if (renewEveryMs * 2 > leaseMs)
    problems.push(
      `renewEveryMs is ${renewEveryMs}; expected at most half of leaseMs (${leaseMs}), so that one lost renewal loses no shard`,
    );
  if (wantedShards !== "fair" && !(Number.isInteger(wantedShards) && wantedShards >= 0 && wantedShards <= SHARDS))
    problems.push(`wantedShards is ${wantedShards}; expected "fair" or a whole number from 0 to ${SHARDS}`);
  return problems;
}
