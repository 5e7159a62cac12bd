import type { JournalEntry } from "../../ports/operation-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";
import { journalOf, type OperationJson, operationJson } from "./operations.ts";

export interface OperationViewRow {
  readonly operation: OperationJson;
  readonly ahead: number | null;
  readonly hold_since_ms: number | null;
}

/** Of its own tenant's: how many are due before it in its shard, while it is due and has not begun. */
const ahead = `(
  case when o.started_at_ms is null and o.due_at_ms <= clock.now_ms then (
    select count(*) from setpoint.operation_due as d
    where d.shard = o.shard and (d.priority, d.due_at_ms, d.operation_id) < (o.priority, o.due_at_ms, o.id)
  ) end)`;
const view = `${operationJson("o")} as operation, ${ahead} as ahead,
  (select s.hold_since_ms from setpoint.subject as s where s.id = o.subject_id and s.hold_operation_id = o.id) as hold_since_ms`;

/** $1 organization, $2 resource, $3 states, $4 the id to go on behind, $5 how many. */
export const listOperations = statement<OperationViewRow>(
  "list operations",
  "tenants",
  `with ${clock}
   select ${view} from setpoint.operation as o cross join clock
   where o.organization_id = $1 and ($2::text is null or o.resource_uid = $2) and ($3::text[] is null or o.state = any ($3))
     and ($4::text is null or o.id < $4)
   order by o.id desc limit $5`,
);

export const findOperation = statement<OperationViewRow & { readonly journal: readonly JournalEntry[] }>(
  "find operation",
  "tenants",
  `with ${clock}
   select ${view}, ${journalOf} as journal from setpoint.operation as o cross join clock
   where o.organization_id = $1 and o.id = $2`,
);
