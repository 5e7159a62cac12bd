import { pausedWords } from "../kernel/scope-words.ts";
import { isLive } from "../kernel/steering.ts";
import type { Clock } from "../ports/clock.ts";
import type {
  MoveAnswer,
  OperationMove,
  OperationRef,
  OperationStanding,
  OperationStore,
  OperationWithJournal,
} from "../ports/operation-store.ts";
import { Batcher } from "./batcher.ts";
import { accountRecord } from "./cycle-inputs.ts";
import type { Database, Transaction } from "./database.ts";
import { recordOf } from "./operation-row.ts";
import { lockLeases } from "./permits.ts";
import { priorityNumber, priorityOf } from "./priorities.ts";
import {
  dueOperations,
  findAccount,
  loadOperations,
  lockOperations,
  type MovedRow,
  recordMoves,
  releaseWorkerShards,
  renewWorkerShards,
  type StandingRow,
  takeWorkerShards,
  workerShardHolders,
} from "./sql/operations.ts";
import { subjectsAround, wakeAround } from "./sql/wake.ts";
import { startOperation } from "./start-together.ts";
import { call } from "./statement.ts";
import { compareText } from "./text.ts";

/** The worker's store on PostgreSQL. Concurrent loads and moves share statements. */
export class PostgresOperationStore implements OperationStore {
  readonly #database: Database;
  readonly #presence: (() => number | undefined) | undefined;
  readonly #loads: Batcher<OperationRef, OperationWithJournal | undefined>;
  readonly #moves: Batcher<OperationMove, MoveAnswer>;

  /** `database` is one of role `setpoint_engine`. `presence`: the lock by which others see that this process lives. */
  constructor(options: {
    readonly database: Database;
    readonly clock: Clock;
    readonly presence?: () => number | undefined;
  }) {
    const { database, clock } = options;
    this.#database = database;
    this.#presence = options.presence;
    this.#loads = new Batcher({
      clock,
      keyOf: ({ operationId }) => operationId,
      run: (batch) => loadBatch(database, batch),
    });
    this.#moves = new Batcher({
      clock,
      keyOf: ({ actor }) => actor.operationId,
      run: (batch) => moveBatch(database, batch),
    });
  }

  loadOperation: OperationStore["loadOperation"] = ({ organizationId, operationId }) =>
    this.#loads.add({ organizationId, operationId });
  recordMove: OperationStore["recordMove"] = (move) => this.#moves.add(move);

  dueOperations: OperationStore["dueOperations"] = async ({ shards, limit }) => {
    const rows = await this.#database.run("platform", call(dueOperations, [...new Set(shards)], limit));
    return rows.map((row) => ({
      organizationId: row.organization_id,
      operationId: row.operation_id,
      shard: row.shard,
      accountId: row.account_id ?? undefined,
      priority: priorityOf(row.priority),
      dueAtMs: row.due_at_ms,
    }));
  };

  findAccount: OperationStore["findAccount"] = async ({ organizationId, name }) => {
    const tenants = { organizations: [organizationId] };
    const [found] = await this.#database.run(tenants, call(findAccount, organizationId, name));
    return found && accountRecord(found.account);
  };

  subjectsAround: OperationStore["subjectsAround"] = async ({ organizationId, subjectId, kind }) => {
    const tenants = { organizations: [organizationId] };
    const rows = await this.#database.run(tenants, call(subjectsAround, subjectId, kind));
    return rows.map(({ id }) => id);
  };

  wakeAround: OperationStore["wakeAround"] = async ({ organizationId, subjectId, kind }) => {
    const tenants = { organizations: [organizationId] };
    await this.#database.run(tenants, call(wakeAround, priorityNumber("event"), subjectId, kind));
  };

  takeWorkerShards: OperationStore["takeWorkerShards"] = ({ holder, wanted, leaseMs }) =>
    this.#database.run("platform", call(takeWorkerShards, holder, wanted, leaseMs, this.#presence?.() ?? null));

  renewWorkerShards: OperationStore["renewWorkerShards"] = async ({ holder, leaseMs, shards }) => {
    const numbers = shards.map(({ shard }) => shard);
    const epochs = shards.map(({ epoch }) => epoch);
    const rows = await this.#database.run(
      "platform",
      call(renewWorkerShards, holder, leaseMs, numbers, epochs, this.#presence?.() ?? null),
    );
    return rows.map(({ shard }) => shard).sort((left, right) => left - right);
  };

  releaseWorkerShards: OperationStore["releaseWorkerShards"] = async ({ holder, shards }) => {
    const numbers = shards.map(({ shard }) => shard);
    const epochs = shards.map(({ epoch }) => epoch);
    await this.#database.run("platform", call(releaseWorkerShards, holder, numbers, epochs));
  };

  workerShardHolders: OperationStore["workerShardHolders"] = async () => {
    const rows = await this.#database.run("platform", call(workerShardHolders));
    return rows.toSorted((left, right) => compareText(left.holder, right.holder));
  };
}

async function loadBatch(
  database: Database,
  batch: readonly OperationRef[],
): Promise<readonly (OperationWithJournal | undefined)[]> {
  const organizations = batch.map(({ organizationId }) => organizationId);
  const ids = batch.map(({ operationId }) => operationId);
  const tenants = { organizations: [...new Set(organizations)] };
  const rows = await database.run(tenants, call(loadOperations, organizations, ids));
  const byId = new Map(rows.map((row) => [`${row.operation.organizationId} ${row.operation.id}`, row]));
  return batch.map(({ organizationId, operationId }) => {
    const row = byId.get(`${organizationId} ${operationId}`);
    if (row === undefined) return undefined;
    return { ...standingOf(row), journal: row.journal, overQuota: row.over_quota ?? undefined };
  });
}

/** Moves of a batch of operations in one transaction and, unless one is followed by another operation, in one round trip. */
async function moveBatch(database: Database, batch: readonly OperationMove[]): Promise<readonly MoveAnswer[]> {
  const organizations = [...new Set(batch.map(({ organizationId }) => organizationId))];
  const ids = batch.map(({ actor }) => actor.operationId);
  const calls = [
    lockLeases(batch),
    call(lockOperations, organizations, ids),
    call(recordMoves, JSON.stringify(batch.map(moveRow))),
  ] as const;
  if (batch.every(({ next }) => next === undefined)) {
    const [, , kept] = await database.transact({ organizations }, calls);
    return answersOf(batch, kept);
  }
  return await database.transaction({ organizations }, async (tx) => {
    const [locking, ordering, moving] = calls;
    const [, , kept] = await Promise.all([
      tx.run(locking.statement, ...locking.values),
      tx.run(ordering.statement, ...ordering.values),
      tx.run(moving.statement, ...moving.values),
    ]);
    const answers = answersOf(batch, kept);
    for (const [index, move] of batch.entries()) await follow(tx, move, answers[index]);
    return answers;
  });
}

function answersOf(batch: readonly OperationMove[], kept: readonly MovedRow[]): readonly MoveAnswer[] {
  const answers = batch.map((): MoveAnswer => ({ kept: false }));
  for (const row of kept) answers[row.index] = { kept: true, ...standingOf(row), entries: row.entries };
  return answers;
}

/** What comes after an operation that ended, if it did: whoever ends it and dies leaves the next one behind. */
async function follow(
  tx: Transaction,
  { next, organizationId }: OperationMove,
  answer: MoveAnswer | undefined,
): Promise<void> {
  if (next === undefined || answer?.kept !== true || isLive(answer.operation)) return;
  await startOperation(tx, { ...next, organizationId, resourceUid: answer.operation.resourceUid });
}

function moveRow(
  { actor, organizationId, journalLength, yieldsTo, dueInMs, turnMs, next: _, ...move }: OperationMove,
  index: number,
) {
  return {
    index,
    organization_id: organizationId,
    operation_id: actor.operationId,
    holder: actor.holder,
    shard: actor.shard,
    epoch: actor.epoch,
    journal_length: journalLength,
    yields_to_cancel: yieldsTo.cancel,
    yields_to_leaving: yieldsTo.leaving,
    turn_ms: turnMs,
    due_in_ms: dueInMs === undefined ? undefined : Math.round(dueInMs),
    ...move,
  };
}

function standingOf({ operation, now_ms: storeNowMs, paused, leaving }: StandingRow): OperationStanding {
  return {
    operation: recordOf(operation),
    storeNowMs,
    paused: paused === null ? undefined : pausedWords(paused),
    leaving,
  };
}
