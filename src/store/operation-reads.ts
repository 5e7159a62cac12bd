import type { OperationReads, OperationView } from "../ports/operation-store.ts";
import type { Database } from "./database.ts";
import { recordOf } from "./operation-row.ts";
import { findOperation, listOperations, type OperationViewRow, queuePlaces } from "./sql/operation-reads.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

/** Operations as people read them, on PostgreSQL. */
export class PostgresOperationReads implements OperationReads {
  readonly #database: Database;
  readonly #administration: Database;

  /** `database` is one of role `setpoint_api`, `administration` of `setpoint_admin`: a queue is that of all tenants. */
  constructor({ database, administration }: { readonly database: Database; readonly administration: Database }) {
    this.#database = database;
    this.#administration = administration;
  }

  listOperations: OperationReads["listOperations"] = async (request) => {
    const { organizationId, uid, states, limit, before, needingAttention, within } = request;
    const wanted = [uid ?? null, states === undefined ? null : [...states], before ?? null, limit];
    const scopes = within?.map(({ scope }) => scope) ?? null;
    const kinds = within?.map(({ kind }) => kind ?? null) ?? null;
    const asked = call(listOperations, organizationId, ...wanted, needingAttention?.holdsForMs ?? null, scopes, kinds);
    return (await this.#database.run(requireOrganizationId(organizationId), asked)).map(viewOf);
  };

  findOperation: OperationReads["findOperation"] = async ({ organizationId, operationId }) => {
    const asked = call(findOperation, organizationId, operationId);
    const [row] = await this.#database.run(requireOrganizationId(organizationId), asked);
    return row === undefined ? undefined : { ...viewOf(row), journal: row.journal };
  };

  queuePlaces: OperationReads["queuePlaces"] = async (ids) => {
    if (ids.length === 0) return new Map();
    const rows = await this.#administration.run("platform", call(queuePlaces, [...ids]));
    return new Map(
      rows.map(({ operation_id, ahead, ahead_own, worked }) => [operation_id, { ahead, aheadOwn: ahead_own, worked }]),
    );
  };
}

function viewOf({ operation, scope, hold_since_ms: holdSinceMs }: OperationViewRow): OperationView {
  return { ...recordOf(operation), scope, holdSinceMs: holdSinceMs ?? undefined };
}
