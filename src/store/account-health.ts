import { badTogether } from "../kernel/bad-together.ts";
import type { Clock } from "../ports/clock.ts";
import type { EngineStore } from "../ports/engine-store.ts";
import { Batcher } from "./batcher.ts";
import type { Database } from "./database.ts";
import { type AccountCountsRow, accountCounts } from "./sql/subjects.ts";
import { call } from "./statement.ts";

type Request = Parameters<EngineStore["accountHealth"]>[0];
type Answer = Awaited<ReturnType<EngineStore["accountHealth"]>>;

interface PlaceCounts {
  readonly subjects: number;
  readonly badByMinute: readonly (readonly [minute: number, subjects: number])[];
}

interface Counts extends PlaceCounts {
  readonly sites: ReadonlyMap<string, PlaceCounts>;
}

const nobody: Counts = { subjects: 0, badByMinute: [], sites: new Map() };

interface Kept extends Counts {
  readonly untilMonotonicMs: number;
}

/**
 * A count of an account is used for a millisecond per this many of its subjects: 12 seconds with 300,000, which take some 200 ms
 * to count. So counting takes a few percent of the time at most, and an account of less than this many is counted each time.
 */
const SUBJECTS_PER_KEPT_MS = 25;
const KEPT_ACCOUNTS_MAX = 1_000;

/** How an account fares. When it goes bad all its subjects ask at once, each about its own time: one count answers them all. */
export class AccountHealth {
  readonly #clock: Clock;
  readonly #batcher: Batcher<string, Counts>;
  readonly #kept = new Map<string, Kept>();
  readonly #counting = new Map<string, Promise<Counts>>();

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#clock = clock;
    this.#batcher = new Batcher({ clock, keyOf: (accountId) => accountId, run: (batch) => count(database, batch) });
  }

  async of({ accountId, site, ...times }: Request): Promise<Answer> {
    const kept = this.#kept.get(accountId);
    const isFresh = kept !== undefined && this.#clock.monotonicMs() < kept.untilMonotonicMs;
    const counts = isFresh ? kept : await this.#counted(accountId);
    const healthOf = ({ subjects, badByMinute }: PlaceCounts) => ({ subjects, bad: badTogether(badByMinute, times) });
    if (site === undefined) return healthOf(counts);
    return { ...healthOf(counts), atSite: healthOf(counts.sites.get(site) ?? nobody) };
  }

  #counted(accountId: string): Promise<Counts> {
    const counting = this.#counting.get(accountId) ?? this.#count(accountId);
    this.#counting.set(accountId, counting);
    return counting;
  }

  async #count(accountId: string): Promise<Counts> {
    try {
      const counts = await this.#batcher.add(accountId);
      this.#keep(accountId, counts);
      return counts;
    } finally {
      this.#counting.delete(accountId);
    }
  }

  #keep(accountId: string, counts: Counts): void {
    this.#kept.delete(accountId);
    const forMs = Math.floor(counts.subjects / SUBJECTS_PER_KEPT_MS);
    if (forMs === 0) return;
    this.#kept.set(accountId, { ...counts, untilMonotonicMs: this.#clock.monotonicMs() + forMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_ACCOUNTS_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}

async function count(database: Database, accountIds: readonly string[]): Promise<readonly Counts[]> {
  const rows = await database.run("platform", call(accountCounts, accountIds));
  const found = new Map(
    rows.map((row) => [
      row.account_id,
      { subjects: row.subjects, badByMinute: row.bad ?? [], sites: sitesOf(row) } satisfies Counts,
    ]),
  );
  return accountIds.map((accountId) => found.get(accountId) ?? nobody);
}

function sitesOf({ sites, bad_at_sites: bad }: AccountCountsRow): Counts["sites"] {
  const badOf = Map.groupBy(bad ?? [], ([site]) => site);
  return new Map(
    (sites ?? []).map(([site, subjects]) => [
      site,
      { subjects, badByMinute: (badOf.get(site) ?? []).map(([, minute, count]) => [minute, count] as const) },
    ]),
  );
}
