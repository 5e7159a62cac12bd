import type { OperationReads, OperationView } from "../ports/operation-store.ts";
import type { Database } from "./database.ts";
import { recordOf } from "./operation-store.ts";
import { findOperation, listOperations, type OperationViewRow } from "./sql/operation-reads.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

/** Operations as people read them, on PostgreSQL. */
export class PostgresOperationReads implements OperationReads {
  readonly #database: Database;

  /** `database` is one of role `setpoint_api`. */
  constructor({ database }: { readonly database: Database }) {
    this.#database = database;
  }

  listOperations: OperationReads["listOperations"] = async ({ organizationId, uid, states, limit, before }) => {
    const wanted = [uid ?? null, states === undefined ? null : [...states], before ?? null, limit];
    const asked = call(listOperations, organizationId, ...wanted);
    return (await this.#database.run(requireOrganizationId(organizationId), asked)).map(viewOf);
  };

  findOperation: OperationReads["findOperation"] = async ({ organizationId, operationId }) => {
    const asked = call(findOperation, organizationId, operationId);
    const [row] = await this.#database.run(requireOrganizationId(organizationId), asked);
    return row === undefined ? undefined : { ...viewOf(row), journal: row.journal };
  };
}

function viewOf({ operation, ahead, hold_since_ms: holdSinceMs }: OperationViewRow): OperationView {
  return { ...recordOf(operation), ahead: ahead ?? undefined, holdSinceMs: holdSinceMs ?? undefined };
}
