import type { Clock } from "../ports/clock.ts";
import type {
  DueSubject,
  EngineStore,
  OutcomeRecord,
  PermitAnswer,
  PermitRequest,
  SettleAnswer,
  Settlement,
  SubjectEntry,
} from "../ports/engine-store.ts";
import type { Ids } from "../ports/ids.ts";
import type { CycleInput, StoredObservation, SubjectMemory, SubjectRef } from "../ports/records.ts";
import { AccountHealth } from "./account-health.ts";
import { Batcher } from "./batcher.ts";
import { lazyCycleInputs } from "./cycle-inputs.ts";
import type { Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import { permitBatch, recordOutcomeBatch } from "./permits.ts";
import { priorityNumber, priorityOf } from "./priorities.ts";
import { dock } from "./dock.ts";
import { settleBatch } from "./settlements.ts";
import { blockCalls, recordAccount, recordedThings, reserveDeletes, takeCalls } from "./sql/budgets.ts";
import { countIdleCycles, recordFreshness, recordLoopsSeen, recordSeen } from "./sql/idle.ts";
import { releaseShards, renewShards, shardHolders, takeShards } from "./sql/lease.ts";
import { load } from "./sql/load.ts";
import { dueSubjects, listSubjects, type SubjectEntryRow } from "./sql/subjects.ts";
import { type Call, call } from "./statement.ts";
import { StoreTime } from "./store-time.ts";
import { compareText } from "./text.ts";

/** As many as a scheduler looks at together in its steady state. */
const LOADS_PER_STATEMENT = 1_000;
/** A cycle takes about a tenth of a millisecond from one wait for the store to the next. */
const CYCLES_AT_ONCE = 16;

interface LoadRequest {
  readonly id: number;
  readonly organizationId: string | undefined;
}
type CallsRequest = Parameters<EngineStore["takeCalls"]>[0];
type CallsAnswer = Awaited<ReturnType<EngineStore["takeCalls"]>>;

/** The engine's store on PostgreSQL. Concurrent loads, permits, outcomes and settlements share statements. */
export class PostgresEngineStore implements EngineStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #time = new StoreTime();
  readonly #loads: Batcher<LoadRequest, (() => CycleInput) | undefined>;
  readonly #health: AccountHealth;
  readonly #calls: Batcher<CallsRequest, CallsAnswer | undefined>;
  readonly #permits: Batcher<PermitRequest, PermitAnswer>;
  readonly #outcomes: Batcher<OutcomeRecord, boolean>;
  readonly #settlements: Batcher<Settlement, SettleAnswer>;

  /** `database` is one of role `setpoint_engine`. */
  constructor({ database, clock, ids }: { readonly database: Database; readonly clock: Clock; readonly ids: Ids }) {
    this.#database = database;
    this.#clock = clock;
    this.#loads = new Batcher({
      clock,
      keyOf: ({ id }) => id,
      run: (batch) => this.#load(batch),
      maxSize: LOADS_PER_STATEMENT,
      answersAtOnce: CYCLES_AT_ONCE,
    });
    this.#health = new AccountHealth({ database, clock });
    this.#calls = new Batcher({
      clock,
      keyOf: ({ accountId }) => accountId,
      run: (batch) => callsBatch(database, batch),
    });
    const shared = { clock, keyOf: subjectOf, weightOf, answersAtOnce: CYCLES_AT_ONCE } as const;
    this.#permits = new Batcher<PermitRequest, PermitAnswer>({
      ...shared,
      run: (batch) => permitBatch(database, batch),
    });
    this.#outcomes = new Batcher<OutcomeRecord, boolean>({
      ...shared,
      run: (batch) => recordOutcomeBatch(database, batch),
    });
    this.#settlements = new Batcher<Settlement, SettleAnswer>({
      ...shared,
      run: (batch) => settleBatch(database, ids, batch),
    });
  }

  load: EngineStore["load"] = async (id, organizationId) => {
    const loaded = await this.#loads.add({ id, organizationId });
    const input = loaded?.();
    if (input === undefined || this.#database.clockIsGiven) return input;
    // A cycle takes this for now, so it must not have grown old on the way or while others had their turn.
    return { ...input, storeNowMs: this.#time.at(this.#clock.monotonicMs()) };
  };
  permit: EngineStore["permit"] = (request) => this.#permits.add(request);
  recordOutcome: EngineStore["recordOutcome"] = (request) => this.#outcomes.add(request);
  settle: EngineStore["settle"] = (settlement) => this.#settlements.add(settlement);

  takeShards: EngineStore["takeShards"] = ({ holder, wanted, leaseMs }) =>
    this.#run(call(takeShards, holder, wanted, leaseMs));

  renewShards: EngineStore["renewShards"] = async ({ holder, leaseMs, shards }) => {
    const numbers = shards.map(({ shard }) => shard);
    const epochs = shards.map(({ epoch }) => epoch);
    const rows = await this.#run(call(renewShards, holder, leaseMs, numbers, epochs));
    return rows.map(({ shard }) => shard).sort((left, right) => left - right);
  };

  releaseShards: EngineStore["releaseShards"] = async ({ holder, shards }) => {
    const numbers = shards.map(({ shard }) => shard);
    const epochs = shards.map(({ epoch }) => epoch);
    await this.#run(call(releaseShards, holder, numbers, epochs));
  };

  shardHolders: EngineStore["shardHolders"] = async () => {
    const rows = await this.#run(call(shardHolders));
    return rows.toSorted((left, right) => compareText(left.holder, right.holder));
  };

  listSubjects: EngineStore["listSubjects"] = async ({ shard, afterId, limit }) => {
    const rows = await this.#run(call(listSubjects, shard, afterId, limit));
    return rows.map(entryOf);
  };

  dueSubjects: EngineStore["dueSubjects"] = async ({ shards, limit, dueAfterMs, after }) => {
    const from = [after === undefined ? -1 : priorityNumber(after.priority), after?.dueAtMs ?? 0, after?.id ?? 0];
    const rows = await this.#run(call(dueSubjects, [...new Set(shards)], limit, dueAfterMs ?? null, ...from));
    return rows.map(
      (row): DueSubject => ({
        ...entryOf(row),
        shard: row.shard,
        priority: priorityOf(row.priority),
        dueAtMs: row.due_at_ms,
      }),
    );
  };

  accountHealth: EngineStore["accountHealth"] = (request) => this.#health.of(request);

  reserveDeletes: EngineStore["reserveDeletes"] = async ({ actor, subject, ungranted, granted, limits }) => {
    const { holder, shard, epoch, operationId = null } = actor;
    const budget = JSON.stringify(limits);
    const [row] = await this.#run(
      call(reserveDeletes, subject.id, holder, shard, epoch, ungranted, granted, budget, operationId),
    );
    return row?.answer ?? { current: false, ungrantedPass: false, levels: [] };
  };

  takeCalls: EngineStore["takeCalls"] = async (request) => {
    const answer = await this.#calls.add(request);
    if (answer !== undefined) return answer;
    throw new StoreError(
      "NOT_FOUND",
      `Account ${request.accountId} does not exist. Create it before anything calls through it.`,
    );
  };

  blockCalls: EngineStore["blockCalls"] = async ({ accountId, forMs }) => {
    await this.#run(call(blockCalls, accountId, Math.round(forMs)));
  };

  recordIdle: EngineStore["recordIdle"] = async ({ cycles, freshness, seen, loopsSeen }) => {
    const calls: Call<never>[] = [];
    if (cycles.length > 0) {
      const counts = cycles.map(({ count }) => count);
      calls.push(
        call(
          countIdleCycles,
          cycles.map(({ kind }) => kind),
          cycles.map(({ minuteMs }) => minuteMs),
          counts,
        ),
      );
    }
    if (freshness.length > 0) {
      const accountIds = freshness.map(({ accountId }) => accountId);
      const collections = freshness.map(({ collection }) => collection);
      calls.push(
        call(
          recordFreshness,
          accountIds,
          collections,
          freshness.map(({ completeAtMs }) => completeAtMs),
        ),
      );
    }
    if (seen.length > 0) {
      calls.push(
        call(
          recordSeen,
          seen.map(({ shard }) => shard),
          seen.map(({ sinceMs }) => sinceMs),
        ),
      );
    }
    if (loopsSeen.length > 0) {
      calls.push(
        call(
          recordLoopsSeen,
          loopsSeen.map(({ shard }) => shard),
          loopsSeen.map(({ kind }) => kind),
          loopsSeen.map(({ sinceMs }) => sinceMs),
        ),
      );
    }
    if (calls.length > 0) await this.#database.transact("platform", calls);
  };

  recordAccount: EngineStore["recordAccount"] = async ({ accountId, fingerprint, claimedIncarnation }) => {
    await this.#database.run({ ofAccount: accountId }, call(recordAccount, accountId, fingerprint, claimedIncarnation));
  };

  dock: EngineStore["dock"] = (request) => dock(this.#database, request);

  recordedThings: EngineStore["recordedThings"] = async ({ accountId, atMost }) => {
    const rows = await this.#database.run({ ofAccount: accountId }, call(recordedThings, accountId, atMost));
    return rows.map(({ kind, external_id: externalId }) => ({ kind, externalId }));
  };

  async #load(requests: readonly LoadRequest[]): Promise<readonly ((() => CycleInput) | undefined)[]> {
    const sentMs = this.#clock.monotonicMs();
    const subjectIds = requests.map(({ id }) => id);
    const organizations = new Set(requests.map(({ organizationId }) => organizationId));
    const tenants = isKnown(organizations) ? { organizations: [...organizations] } : { ofSubjects: subjectIds };
    const [batch] = await this.#database.run(tenants, call(load, subjectIds, subjectIds.length > 1));
    if (batch === undefined) return subjectIds.map(() => undefined);
    this.#time.note(sentMs, batch.now_ms, this.#clock.monotonicMs());
    const found = lazyCycleInputs(batch);
    return subjectIds.map((id) => found.get(id));
  }

  /** What concerns no tenant's rows. */
  #run<Row>(one: Call<Row>): Promise<readonly Row[]> {
    return this.#database.run("platform", one);
  }
}

function isKnown(organizations: ReadonlySet<string | undefined>): organizations is ReadonlySet<string> {
  return !organizations.has(undefined);
}

function subjectOf<Request extends { readonly subject: SubjectRef }>({ subject }: Request): number {
  return subject.id;
}

/** Undefined for an account that does not exist. */
async function callsBatch(
  database: Database,
  batch: readonly CallsRequest[],
): Promise<readonly (CallsAnswer | undefined)[]> {
  const accountIds = batch.map(({ accountId }) => accountId);
  const wanted = batch.map((request) => request.wanted);
  const forPerson = batch.map((request) => String(request.forPerson));
  const tookMs = batch.map((request) => `{${request.tookMs.join(",")}}`);
  const rows = await database.run("platform", call(takeCalls, accountIds, wanted, forPerson, tookMs));
  const byPlace = new Map(rows.map(({ place, taken, retry_in_ms: retryInMs }) => [place - 1, { taken, retryInMs }]));
  return batch.map((_, index) => byPlace.get(index));
}

interface Weighty {
  readonly memory?: SubjectMemory | undefined;
  readonly observation?: StoredObservation | undefined;
  readonly changes?: readonly unknown[];
}

/** About how many things a request speaks of, so that huge subjects do not share one parameter. */
function weightOf<Request extends Weighty>({ memory, observation, changes }: Request): number {
  const remembered = (memory?.owned.length ?? 0) + (memory?.lastDesired?.length ?? 0);
  return 1 + remembered + (observation?.items.length ?? 0) + (changes?.length ?? 0);
}

function entryOf(row: SubjectEntryRow): SubjectEntry {
  return {
    id: row.id,
    kind: row.kind,
    organizationId: row.organization_id,
    accountId: row.account_id ?? undefined,
  };
}
