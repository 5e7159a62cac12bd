import { isLive, steerRefusal } from "../kernel/steering.ts";
import type {
  OperationIntents,
  StartAnswer,
  StartOperation,
  SteerAnswer,
  SteerOperation,
} from "../ports/operation-store.ts";
import type { Database, Transaction } from "./database.ts";
import { nobodyWoken, type Woken, wokenOf } from "./due-edges.ts";
import { append } from "./log-entries.ts";
import { recordOf } from "./operation-store.ts";
import { priorityNumber } from "./priorities.ts";
import {
  insertOperation,
  liveOperation,
  lockOperation,
  steerOperation,
  subjectsToStart,
} from "./sql/operation-intents.ts";
import { releaseHold } from "./sql/subject-intents.ts";
import { wakeHeld } from "./sql/wake.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface OperationIntentOptions {
  /** One of role `setpoint_api`. */
  readonly database: Database;
  readonly poke?: (shards: Woken["shards"], due: Woken["due"]) => void;
  /** Called after a commit that may have appended to the log. */
  readonly logged?: () => void;
}

/** How people start and steer operations, on PostgreSQL. */
export class PostgresOperationIntents implements OperationIntents {
  readonly #options: OperationIntentOptions;

  constructor(options: OperationIntentOptions) {
    this.#options = options;
  }

  async startOperation(request: StartOperation): Promise<StartAnswer> {
    const tenants = requireOrganizationId(request.organizationId);
    const answer = await this.#options.database.transaction(tenants, (tx) => startOperation(tx, request));
    this.#options.logged?.();
    return answer;
  }

  async steerOperation(request: SteerOperation): Promise<SteerAnswer> {
    const tenants = requireOrganizationId(request.organizationId);
    const { answer, woken } = await this.#options.database.transaction(tenants, (tx) => steer(tx, request));
    if (woken.shards.length > 0) this.#options.poke?.(woken.shards, woken.due);
    this.#options.logged?.();
    return answer;
  }
}

/** The operation, its place in the queue and its hold, in the transaction of whoever declares what it is for. */
export async function startOperation(tx: Transaction, request: StartOperation): Promise<StartAnswer> {
  const { organizationId, resourceUid, operationId, pipeline, version, input, author, ends } = request;
  const [subjects, [live]] = await Promise.all([
    tx.run(subjectsToStart, organizationId, resourceUid),
    tx.run(liveOperation, organizationId, resourceUid),
  ]);
  const [subject] = subjects;
  if (subject === undefined) return { result: "not-found" };
  if (live !== undefined) return { result: "running", operation: recordOf(live.operation) };
  if (subjects.length > 1) return { result: "several-accounts" };
  if (subject.leaving !== ends) return { result: subject.leaving ? "leaving" : "not-leaving" };
  if (subject.hold_operation_id !== null) return { result: "held-by-another" };
  const what = [organizationId, operationId, pipeline, version, subject.id, resourceUid, subject.kind, subject.name];
  const where = [subject.account_id, subject.shard, priorityNumber(request.priority)];
  const said = [JSON.stringify(input), author.name, author.type, subject.scope];
  const { kind, name, scope } = subject;
  const data = { operation: operationId, pipeline, version, kind, name, scope };
  const [[made]] = await Promise.all([
    tx.run(insertOperation, ...what, ...where, ...said),
    append(tx, { organizationId, type: "operation.started", uid: resourceUid, author, data }),
  ]);
  if (made === undefined) throw new RangeError(`Operation ${operationId} was not answered`);
  return { result: "started", operation: recordOf(made.operation) };
}

async function steer(
  tx: Transaction,
  request: SteerOperation,
): Promise<{ readonly answer: SteerAnswer; readonly woken: Woken }> {
  const { organizationId, operationId, command, author, reason } = request;
  const [row] = await tx.run(lockOperation, organizationId, operationId);
  const refused = (result: Exclude<SteerAnswer["result"], "done">) => ({
    answer: { result } as SteerAnswer,
    woken: nobodyWoken,
  });
  if (row === undefined) return refused("not-found");
  const before = recordOf(row.operation);
  if (request.ifRevision !== undefined && request.ifRevision !== before.revision) return refused("moved");
  const refusal = steerRefusal(before, command);
  if (refusal !== undefined) return refused(refusal);
  const said = `${author.name}: ${reason}`;
  const state = command.verb === "release" ? "cancelled" : "running";
  const cancel = command.verb === "cancel" ? JSON.stringify({ author: author.name, reason }) : null;
  const entry = "step" in command ? JSON.stringify(entryOf(request, said)) : null;
  const uid = before.resourceUid;
  const { kind, name, pipeline } = before;
  const data = { operation: operationId, pipeline, kind, name, scope: row.scope, verb: command.verb, reason };
  const [[steered]] = await Promise.all([
    tx.run(steerOperation, organizationId, operationId, state, `${command.verb} by ${said}`, cancel, entry),
    append(tx, { organizationId, type: "operation.steered", uid, author, data }),
  ]);
  if (steered === undefined) throw new RangeError(`Operation ${operationId} was not answered`);
  const operation = recordOf(steered.operation);
  const woken = isLive(operation) ? nobodyWoken : await giveBack(tx, organizationId, uid, operationId);
  return { answer: { result: "done", operation }, woken };
}

function entryOf({ command, stepVersion }: SteerOperation, message: string) {
  const step = "step" in command ? command.step : "";
  return { step, version: stepVersion ?? 1, result: command.verb === "skip" ? "skipped" : "again", message };
}

/** The resource is its loop's again. */
async function giveBack(tx: Transaction, organizationId: string, uid: string, operationId: string): Promise<Woken> {
  const released = await tx.run(releaseHold, organizationId, uid, operationId);
  if (released.length === 0) return nobodyWoken;
  const ids = released.map(({ id }) => id);
  return wokenOf(await tx.run(wakeHeld, priorityNumber("event"), ids));
}
