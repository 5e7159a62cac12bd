import type { Clock } from "../ports/clock.ts";
import type { StartAnswer, StartOperation } from "../ports/operation-store.ts";
import { Batcher } from "./batcher.ts";
import type { Transaction } from "./database.ts";
import { logCall } from "./log-entries.ts";
import { recordOf } from "./operation-row.ts";
import { OrganizationLanes, type Write } from "./organization-lanes.ts";
import { priorityNumber } from "./priorities.ts";
import { appendLogs } from "./sql/log.ts";
import { insertOperations, liveOperations, type SubjectToStart, subjectsToStart } from "./sql/operation-intents.ts";
import { type Call, call } from "./statement.ts";

/**
 * Operations of one organization that are started at the same time share a transaction: most of what a start costs is the
 * transaction itself and the way to the server and back. A lone request leaves at once.
 */
export class StartTogether {
  readonly #lanes: OrganizationLanes<StartOperation, StartAnswer>;

  constructor(clock: Clock) {
    this.#lanes = new OrganizationLanes((write) => batcherOf(clock, write));
  }

  start(request: StartOperation, write: Write): Promise<StartAnswer> {
    return this.#lanes.ask(request.organizationId, request, write);
  }
}

function batcherOf(clock: Clock, write: Write): Batcher<StartOperation, StartAnswer> {
  return new Batcher({
    clock,
    keyOf: ({ resourceUid }) => resourceUid,
    run: (requests) => write((tx) => startSeveral(tx, requests, (calls) => tx.finish(calls))),
    maxSize: 50,
  });
}

/** The operation, its place in the queue and its hold, in the transaction of whoever declares what it is for. */
export async function startOperation(tx: Transaction, request: StartOperation): Promise<StartAnswer> {
  const [answer] = await startSeveral(tx, [request], async (calls) => {
    const [inserting, logging] = calls;
    const [made] = await Promise.all([
      tx.run(inserting.statement, ...inserting.values),
      tx.run(logging.statement, ...logging.values),
    ]);
    return [made, []];
  });
  if (answer === undefined) throw new RangeError(`Operation ${request.operationId} was not answered`);
  return answer;
}

type Writes = readonly [Call<{ operation: Parameters<typeof recordOf>[0] }>, Call<never>];
type Answered = readonly [readonly { readonly operation: Parameters<typeof recordOf>[0] }[], readonly never[]];

/** Two round trips for all of them: look, then write. No two are about the same resource. */
async function startSeveral(
  tx: Transaction,
  requests: readonly StartOperation[],
  send: (calls: Writes) => Promise<Answered>,
): Promise<readonly StartAnswer[]> {
  const organizationId = requests[0]?.organizationId ?? "";
  const uids = requests.map(({ resourceUid }) => resourceUid);
  const [subjects, live] = await Promise.all([
    tx.run(subjectsToStart, organizationId, uids),
    tx.run(liveOperations, organizationId, uids),
  ]);
  const subjectsOf = Map.groupBy(subjects, ({ resource_uid: uid }) => uid);
  const running = new Map(live.map(({ operation }) => [operation.resourceUid, recordOf(operation)]));
  const judged = requests.map((request): StartAnswer | Starting => {
    const operation = running.get(request.resourceUid);
    const found = subjectsOf.get(request.resourceUid) ?? [];
    if (found.length > 0 && operation !== undefined) return { result: "running", operation };
    return judge(request, found);
  });
  const starting = judged.filter((one) => "subject" in one);
  const made = new Map<string, StartAnswer>();
  if (starting.length > 0) {
    const [rows] = await send([inserting(organizationId, starting), logging(organizationId, starting)]);
    for (const { operation } of rows)
      made.set(String(operation.id), { result: "started", operation: recordOf(operation) });
  }
  return judged.map((one) => ("subject" in one ? answerOf(made, one) : one));
}

interface Starting {
  readonly request: StartOperation;
  readonly subject: SubjectToStart;
}

/** Why it cannot be started, or on which subject. */
function judge(request: StartOperation, subjects: readonly SubjectToStart[]): StartAnswer | Starting {
  const [subject] = subjects;
  if (subject === undefined) return { result: "not-found" };
  if (subjects.length > 1) return { result: "several-accounts" };
  if (subject.leaving !== request.ends) return { result: subject.leaving ? "leaving" : "not-leaving" };
  if (subject.hold_operation_id !== null) return { result: "held-by-another" };
  return { request, subject };
}

function answerOf(made: ReadonlyMap<string, StartAnswer>, { request }: Starting): StartAnswer {
  const answer = made.get(request.operationId);
  if (answer === undefined) throw new RangeError(`Operation ${request.operationId} was not answered`);
  return answer;
}

function inserting(organizationId: string, starting: readonly Starting[]): Writes[0] {
  const rows = starting.map(({ request, subject }) => ({
    id: request.operationId,
    pipeline: request.pipeline,
    version: request.version,
    priority: priorityNumber(request.priority),
    input: request.input,
    author_name: request.author.name,
    author_type: request.author.type,
    subject_id: subject.id,
    resource_uid: request.resourceUid,
    kind: subject.kind,
    name: subject.name,
    account_id: subject.account_id,
    shard: subject.shard,
    scope: subject.scope,
  }));
  return call(insertOperations, organizationId, JSON.stringify(rows));
}

function logging(organizationId: string, starting: readonly Starting[]): Call<never> {
  const entries = starting.map(({ request, subject: { kind, name, scope } }) => {
    const { operationId: operation, pipeline, version, resourceUid: uid, author } = request;
    const data = { operation, pipeline, version, kind, name, scope };
    return logCall({ organizationId, type: "operation.started", uid, author, data }).values;
  });
  const column = (index: number) => entries.map((values) => values[index] as string | number | null);
  return call(appendLogs, organizationId, ...[1, 2, 3, 4, 5, 6].map(column));
}
