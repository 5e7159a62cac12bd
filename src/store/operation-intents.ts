import { isLive, isSaidAlready, steerRefusal } from "../kernel/steering.ts";
import type { Clock } from "../ports/clock.ts";
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
import { recordOf } from "./operation-row.ts";
import { priorityNumber } from "./priorities.ts";
import { lockOperation, releaseHold, steerOperation } from "./sql/operation-intents.ts";
import { wakeHeld } from "./sql/wake.ts";
import { StartTogether } from "./start-together.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface OperationIntentOptions {
  /** One of role `setpoint_api`. */
  readonly database: Database;
  readonly clock: Clock;
  readonly poke?: (shards: Woken["shards"], due: Woken["due"]) => void;
  /** Called after a commit that may have appended to the log. */
  readonly logged?: () => void;
}

/** How people start and steer operations, on PostgreSQL. */
export class PostgresOperationIntents implements OperationIntents {
  readonly #options: OperationIntentOptions;
  readonly #together: StartTogether;

  constructor(options: OperationIntentOptions) {
    this.#options = options;
    this.#together = new StartTogether(options.clock);
  }

  async startOperation(request: StartOperation): Promise<StartAnswer> {
    const tenants = requireOrganizationId(request.organizationId);
    const answer = await this.#together.start(request, (work) => this.#options.database.transaction(tenants, work));
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
  if (isSaidAlready(command, row.last ?? undefined))
    return { answer: { result: "done", operation: before }, woken: nobodyWoken };
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
