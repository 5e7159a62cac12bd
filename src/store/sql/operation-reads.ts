import type { JournalEntry } from "../../ports/operation-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";
import { journalOf, type OperationJson, operationJson } from "./operations.ts";

export interface OperationViewRow {
  readonly operation: OperationJson;
  readonly scope: string;
  readonly hold_since_ms: number | null;
}

const view = `${operationJson("o")} as operation, o.scope, s.hold_since_ms`;
const withHold = "left join setpoint.subject as s on s.id = o.subject_id and s.hold_operation_id = o.id";

/**
 * $1 organization, $2 resource, $3 states, $4 the id to go on behind, $5 how many, $6 only what needs somebody: what waits for a
 * person, or has held its resource for longer than this; $7 and $8 scopes and kinds to stay within, where no kind means all.
 */
export const listOperations = statement<OperationViewRow>(
  "list operations",
  "tenants",
  `with ${clock}
   select ${view} from setpoint.operation as o ${withHold} cross join clock
   where o.organization_id = $1 and ($2::text is null or o.resource_uid = $2) and ($3::text[] is null or o.state = any ($3))
     and ($4::text is null or o.id < $4)
     and ($6::bigint is null or (o.ended_at_ms is null and (o.state <> 'running' or s.hold_since_ms < clock.now_ms - $6)))
     and ($7::text[] is null or exists (
       select from unnest($7, $8::text[]) as l (scope, kind) where l.scope = o.scope and (l.kind is null or l.kind = o.kind)))
   order by o.id desc limit $5`,
);

export const findOperation = statement<OperationViewRow & { readonly journal: readonly JournalEntry[] }>(
  "find operation",
  "tenants",
  `select ${view}, ${journalOf} as journal from setpoint.operation as o ${withHold}
   where o.organization_id = $1 and o.id = $2`,
);

export interface QueuePlaceRow {
  readonly operation_id: string;
  readonly ahead: number;
  readonly ahead_own: number;
  readonly worked: boolean;
}
/**
 * Where operations stand among all that are due, in the order in which the worker that has their shard takes them. Figures
 * alone: whose the others are is not said.
 */
export const queuePlaces = statement<QueuePlaceRow>(
  "queue places",
  "tenants",
  `with ${clock},
   leased as (
     select l.shard, case when l.until_ms > clock.now_ms then l.holder end as holder from setpoint.worker_shard as l, clock
   ),
   asked as (
     select distinct l.holder from setpoint.operation_due as d join leased as l on l.shard = d.shard
     where d.operation_id = any ($1::text[])
   ),
   due as materialized (
     select d.operation_id, d.organization_id, d.priority, d.due_at_ms, l.holder, row_number() over (
         partition by l.holder, d.organization_id, d.priority, d.account_id order by d.due_at_ms, d.operation_id) as account_turn
     from clock cross join leased as l join asked on asked.holder is not distinct from l.holder
     join setpoint.operation_due as d on d.shard = l.shard and d.due_at_ms <= clock.now_ms
   ),
   queued as (
     select due.*, row_number() over (
         partition by holder, organization_id, priority order by account_turn, due_at_ms, operation_id) as turn
     from due
   ),
   placed as (
     select queued.*,
       row_number() over (partition by holder order by priority, turn, due_at_ms, operation_id) - 1 as ahead,
       row_number() over (
         partition by holder, organization_id order by priority, turn, due_at_ms, operation_id) - 1 as ahead_own
     from queued
   )
   select p.operation_id, p.ahead, p.ahead_own, p.holder is not null as worked
   from placed as p where p.operation_id = any ($1)`,
);
