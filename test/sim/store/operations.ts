import type { ShardLeases } from "../../../src/ports/engine-store.ts";
import type {
  AroundSubject,
  DueOperation,
  JournalEntry,
  MoveAnswer,
  OperationMove,
  OperationRecord,
  OperationRef,
  OperationStanding,
  OperationState,
  OperationWithJournal,
  StartAnswer,
  StartOperation,
  SteerAnswer,
  SteerOperation,
} from "../../../src/ports/operation-store.ts";
import { pausedWords } from "../../../src/kernel/scope-words.ts";
import { isLive, isSaidAlready, steerRefusal } from "../../../src/kernel/steering.ts";
import type { OperationRow, SubjectRow } from "./rows.ts";
import { releaseShards, renewShards, shardHolders, takeShards } from "./shards.ts";
import {
  compareText,
  coveringPauses,
  endHold,
  isLeased,
  scopePath,
  type State,
  subjectsOf,
  type Tables,
  urgency,
  wake,
} from "./state.ts";

type LeaseRequest<Name extends keyof ShardLeases> = Parameters<ShardLeases[Name]>[0];

/** The same leases, of the shards of operations among workers. */
function amongWorkers(state: State): State {
  const { tables } = state;
  return { ...state, tables: { ...tables, shards: tables.workerShards, holders: tables.workerHolders } };
}
export const takeWorkerShards = (state: State, request: LeaseRequest<"takeShards">) =>
  takeShards(amongWorkers(state), request);
export const renewWorkerShards = (state: State, request: LeaseRequest<"renewShards">) =>
  renewShards(amongWorkers(state), request);
export const releaseWorkerShards = (state: State, request: LeaseRequest<"releaseShards">) =>
  releaseShards(amongWorkers(state), request);
export const workerShardHolders = (state: State) => shardHolders(amongWorkers(state));

/** Urgent ones first, then a turn for each tenant, then by due time and id. */
export function dueOperations(
  { tables, nowMs }: State,
  { shards, limit }: { readonly shards: readonly number[]; readonly limit: number },
): readonly DueOperation[] {
  const now = nowMs();
  const due = [...tables.operations.values()]
    .filter((row) => shards.includes(row.shard) && row.dueAtMs !== undefined && row.dueAtMs <= now)
    .sort((left, right) => (left.dueAtMs ?? 0) - (right.dueAtMs ?? 0) || compareText(left.id, right.id));
  const byAccount = inTurns(due, (row) => `${row.organizationId} ${row.priority} ${row.accountId ?? ""}`);
  const byTenant = inTurns(byAccount, (row) => `${row.organizationId} ${row.priority}`);
  const queued = byTenant.toSorted((left, right) => urgency[left.priority] - urgency[right.priority]);
  return queued.slice(0, limit).map((row) => ({
    organizationId: row.organizationId,
    operationId: row.id,
    shard: row.shard,
    accountId: row.accountId,
    priority: row.priority,
    dueAtMs: row.dueAtMs ?? 0,
  }));
}

/** The first of each lane, then the second of each, and so on; within one round the order stays as it was. */
function inTurns(rows: readonly OperationRow[], laneOf: (row: OperationRow) => string): readonly OperationRow[] {
  const turns = new Map<string, number>();
  const queued = rows.map((row) => {
    const turn = (turns.get(laneOf(row)) ?? 0) + 1;
    turns.set(laneOf(row), turn);
    return { row, turn };
  });
  const order = (left: OperationRow, right: OperationRow) =>
    (left.dueAtMs ?? 0) - (right.dueAtMs ?? 0) || compareText(left.id, right.id);
  return queued.sort((left, right) => left.turn - right.turn || order(left.row, right.row)).map(({ row }) => row);
}

export function loadOperation(state: State, { organizationId, operationId }: OperationRef) {
  const row = state.tables.operations.get(operationId);
  if (row?.organizationId !== organizationId) return undefined;
  return { ...standingOf(state, row), journal: row.journal } satisfies OperationWithJournal;
}

export function findAccount({ tables }: State, wanted: { readonly organizationId: string; readonly name: string }) {
  const { organizationId, name } = wanted;
  return [...tables.accounts.values()].find(
    ({ record }) => record.organizationId === organizationId && record.name === name,
  )?.record;
}

export function subjectsAround({ tables }: State, { organizationId, subjectId, kind }: AroundSubject) {
  return around(tables, organizationId, subjectId, kind).map(({ id }) => id);
}

export function wakeAround({ tables, nowMs }: State, { organizationId, subjectId, kind }: AroundSubject): void {
  for (const subject of around(tables, organizationId, subjectId, kind)) wake(subject, "event", nowMs(), false);
}

function around(tables: Tables, organizationId: string, subjectId: number, kind: string): readonly SubjectRow[] {
  const own = tables.subjects.get(subjectId);
  const resource = own && tables.resources.get(own.resourceUid);
  if (own?.organizationId !== organizationId || resource === undefined) return [];
  const scopes = scopePath(tables, resource.scope);
  const isAround = (subject: SubjectRow) => {
    const near = tables.resources.get(subject.resourceUid);
    return near?.organizationId === organizationId && near.kind === kind && scopes.includes(near.scope);
  };
  return [...tables.subjects.values()]
    .filter((subject) => subject.accountId === own.accountId && isAround(subject))
    .sort((left, right) => left.id - right.id);
}

function standingOf({ tables, nowMs }: State, row: OperationRow): OperationStanding {
  const now = nowMs();
  const subject = tables.subjects.get(row.subjectId);
  const pause = subject && coveringPauses(tables, subject, now).find(({ level }) => level !== "deletes");
  return {
    operation: recordOf(row),
    storeNowMs: now,
    paused: pause && pausedWords(pause),
    leaving: (tables.resources.get(row.resourceUid)?.deletion ?? subject?.detached) !== undefined,
  };
}

function recordOf({ journal: _, ...operation }: OperationRow): OperationRecord {
  return operation;
}

export function recordMove(state: State, move: OperationMove): MoveAnswer {
  const { tables } = state;
  const now = state.nowMs();
  const row = tables.operations.get(move.actor.operationId);
  if (row?.organizationId !== move.organizationId || row.shard !== move.actor.shard) return { kept: false };
  if (!isLeased(tables.workerShards, move.actor, now)) return { kept: false };
  if ((row.state !== "running" && row.state !== "held") || row.journal.length !== move.journalLength)
    return { kept: false };
  const { leaving } = standingOf(state, row);
  const stopped = (move.yieldsTo.cancel && row.cancel !== undefined) || (move.yieldsTo.leaving && leaving);
  const entries = append(row, move.entries, now);
  row.state = stopped ? "running" : move.state;
  row.direction = move.direction;
  row.step = move.step;
  row.attempts = move.attempts;
  row.message = move.message;
  row.dueAtMs = stopped ? now : move.dueInMs === undefined ? undefined : now + move.dueInMs;
  row.startedAtMs ??= now - move.turnMs;
  row.revision += 1;
  if (!isLive(row)) {
    if (row.state === "not-run" && move.undone !== undefined) leaveUndone(state, row, move.undone);
    end(state, row);
  }
  const answer: MoveAnswer = { kept: true, ...standingOf(state, row), entries };
  const { organizationId, resourceUid } = row;
  if (!isLive(row) && move.next !== undefined) startOperation(state, { ...move.next, organizationId, resourceUid });
  return answer;
}

/** Its own end moves the version too: what else moved since the guards judged makes it worth another try. */
function leaveUndone({ tables }: State, row: OperationRow, judgedBy: NonNullable<OperationMove["undone"]>): void {
  const { id: operationId, pipeline, author, message, resourceUid } = row;
  for (const subject of subjectsOf(tables, resourceUid)) {
    if (subject.hold?.operationId !== operationId) continue;
    const same = subject.policyVersion === judgedBy.policyVersion;
    const policyVersion = same ? subject.policyVersion + 1 : judgedBy.policyVersion;
    subject.undone = { operationId, pipeline, author, message, generation: judgedBy.generation, policyVersion };
  }
}

function append(row: OperationRow, entries: OperationMove["entries"], nowMs: number): readonly JournalEntry[] {
  const added = entries.map(({ agoMs = 0, ...entry }, index) => ({
    ...entry,
    place: row.journal.length + index + 1,
    atMs: nowMs - agoMs,
  }));
  row.journal = [...row.journal, ...added];
  return added;
}

function end({ tables, nowMs }: State, row: OperationRow): void {
  row.endedAtMs = nowMs();
  row.dueAtMs = undefined;
  for (const subject of subjectsOf(tables, row.resourceUid)) endHold(subject, row.id, row.endedAtMs);
}

/** The operation and its hold, in one transaction. A resource has one operation at a time. */
export function startOperation(state: State, request: StartOperation): StartAnswer {
  const { tables, nowMs } = state;
  const now = nowMs();
  const { resourceUid, organizationId, author, ends } = request;
  const resource = tables.resources.get(resourceUid);
  const subjects = subjectsOf(tables, resourceUid);
  const [subject] = subjects;
  if (resource?.organizationId !== organizationId || subject === undefined) return { result: "not-found" };
  const running = [...tables.operations.values()].find((row) => row.resourceUid === resourceUid && isLive(row));
  if (running !== undefined) return { result: "running", operation: recordOf(running) };
  if (subjects.length > 1) return { result: "several-accounts" };
  const leaving = (resource.deletion ?? subject.detached) !== undefined;
  if (leaving !== ends) return { result: leaving ? "leaving" : "not-leaving" };
  if (subject.hold !== undefined) return { result: "held-by-another" };
  const { pipeline, version, input, priority, operationId: id } = request;
  const { kind, name, accountId, shard, id: subjectId } = subject;
  const row: OperationRow = {
    id,
    organizationId,
    pipeline,
    version,
    subjectId,
    resourceUid,
    kind,
    name,
    accountId,
    shard,
    priority,
    input,
    author: { name: author.name, type: author.type },
    createdAtMs: now,
    startedAtMs: undefined,
    endedAtMs: undefined,
    state: "running",
    direction: "forward",
    step: undefined,
    attempts: 0,
    message: "waits for its turn",
    cancel: undefined,
    dueAtMs: now,
    revision: 1,
    journal: [],
  };
  tables.operations.set(id, row);
  subject.hold = { operationId: id, sinceMs: now, reason: pipeline };
  if (subject.undone?.pipeline === pipeline) subject.undone = undefined;
  return { result: "started", operation: recordOf(row) };
}

/** Of a resource that is about to be deleted: its operation has its turn now, whatever it waited for. */
export function stopOperation({ tables, nowMs }: State, resourceUid: string): void {
  for (const row of tables.operations.values()) {
    if (row.resourceUid !== resourceUid || !isLive(row)) continue;
    if (row.state === "attention") row.state = "running";
    row.attempts = 0;
    row.dueAtMs = nowMs();
    row.revision += 1;
  }
}

/** A person's word to an operation. */
export function steerOperation(state: State, request: SteerOperation): SteerAnswer {
  const now = state.nowMs();
  const { command, author, reason } = request;
  const row = state.tables.operations.get(request.operationId);
  if (row?.organizationId !== request.organizationId) return { result: "not-found" };
  if (request.ifRevision !== undefined && request.ifRevision !== row.revision) return { result: "moved" };
  const refusal = steerRefusal(row, command);
  if (refusal !== undefined) return { result: refusal };
  if (isSaidAlready(command, row.journal.at(-1))) return { result: "done", operation: recordOf(row) };
  const said = `${author.name}: ${reason}`;
  if (command.verb === "retry" || command.verb === "skip") {
    const result = command.verb === "skip" ? "skipped" : "again";
    const { direction } = row;
    append(row, [{ step: command.step, version: request.stepVersion ?? 1, direction, result, message: said }], now);
  }
  if (command.verb === "cancel") row.cancel ??= { author: author.name, atMs: now, reason };
  const next: OperationState = command.verb === "release" ? "cancelled" : "running";
  row.state = next;
  row.attempts = 0;
  row.message = `${command.verb} by ${said}`;
  row.dueAtMs = now;
  row.revision += 1;
  if (!isLive(row)) end(state, row);
  return { result: "done", operation: recordOf(row) };
}
