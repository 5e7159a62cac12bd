import type { JournalEntry } from "../../ports/operation-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";
import { type OperationJson, operationJson, throughOperation } from "./operations.ts";

export interface SubjectToStart {
  readonly id: number;
  readonly resource_uid: string;
  readonly kind: string;
  readonly name: string;
  readonly account_id: string | null;
  readonly shard: number;
  readonly hold_operation_id: string | null;
  readonly scope: string;
  readonly leaving: boolean;
}
/** $1 organization, $2 uids. The subjects of these resources, locked, with what an operation on one must know. */
export const subjectsToStart = statement<SubjectToStart>(
  "subjects to start",
  "tenants",
  `select s.id, s.resource_uid, s.kind, s.name, s.account_id, s.shard, s.hold_operation_id, r.scope,
     (r.deletion is not null or s.detached is not null) as leaving
   from setpoint.subject as s
   join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
   where s.organization_id = $1 and s.resource_uid = any ($2::text[]) order by s.id for no key update of s`,
);

/** $1 organization, $2 uids. Behind the lock on their subjects: whoever ended one has committed. */
export const liveOperations = statement<{ operation: OperationJson }>(
  "live operations",
  "tenants",
  `select ${operationJson("o")} as operation from setpoint.operation as o
   where o.organization_id = $1 and o.resource_uid = any ($2::text[]) and o.ended_at_ms is null`,
);

/** $1 organization, $2 operations of subjects that are locked. */
export const insertOperations = statement<{ operation: OperationJson }>(
  "insert operations",
  "tenants",
  `with ${clock},
   made as (
     insert into setpoint.operation as o (organization_id, id, pipeline, version, subject_id, resource_uid, kind, name, account_id,
       shard, priority, input, author_name, author_type, scope, created_at_ms, state, direction, message, due_at_ms)
     select $1, q.id, q.pipeline, q.version, q.subject_id, q.resource_uid, q.kind, q.name, q.account_id, q.shard, q.priority,
       coalesce(q.input, 'null'), q.author_name, q.author_type, q.scope, clock.now_ms, 'running', 'forward',
       'waits for its turn', clock.now_ms
     from clock cross join json_to_recordset($2::json) as q (
       id text, pipeline text, version integer, subject_id bigint, resource_uid text, kind text, name text, account_id text,
       shard smallint, priority smallint, input json, author_name text, author_type text, scope text)
     returning o.*
   ),
   queued as (
     insert into setpoint.operation_due (operation_id, organization_id, subject_id, shard, account_id, priority, due_at_ms)
     select id, organization_id, subject_id, shard, account_id, priority, due_at_ms from made
   ),
   held as (
     update setpoint.subject as s set hold_operation_id = m.id, hold_since_ms = m.created_at_ms, hold_reason = m.pipeline,
       undone = case when s.undone ->> 'pipeline' = m.pipeline then null else s.undone end
     from made as m where s.id = m.subject_id
   )
   select ${operationJson("m")} as operation from made as m`,
);

/**
 * $1 organization, $2 uid. Of a resource that is about to be deleted: its operation is to stop at its next step, so it has its turn
 * now, whatever it waited for.
 */
export const stopOperation = statement<never>(
  "stop operation",
  "tenants",
  `with ${clock},
   stopped as (
     update setpoint.operation as o set due_at_ms = clock.now_ms, revision = o.revision + 1, attempts = 0,
       state = case when o.state = 'attention' then 'running' else o.state end
     from clock, setpoint.resource as r
     where o.organization_id = $1 and o.resource_uid = $2 and o.ended_at_ms is null
       and r.organization_id = o.organization_id and r.uid = o.resource_uid and r.deletion is null
     returning o.*
   )
   insert into setpoint.operation_due as q (operation_id, organization_id, subject_id, shard, account_id, priority, due_at_ms)
   select s.id, s.organization_id, s.subject_id, s.shard, s.account_id, s.priority, s.due_at_ms from stopped as s
   on conflict (operation_id) do update set due_at_ms = excluded.due_at_ms`,
);

export interface LockedOperation {
  readonly operation: OperationJson;
  readonly scope: string;
  /** The last entry of its journal. */
  readonly last: Pick<JournalEntry, "step" | "result"> | null;
}
/** $1 organization, $2 id. */
export const lockOperation = statement<LockedOperation>(
  "lock operation",
  "tenants",
  `select ${operationJson("o")} as operation, o.scope,
     (select json_build_object('step', e.step, 'result', e.result) from setpoint.step as e
      where e.organization_id = o.organization_id and e.operation_id = o.id and e.place = o.journal_length) as last
   from setpoint.operation as o
   where o.organization_id = $1 and o.id = $2 for no key update`,
);

/** $3 state, $4 message, $5 who asked it to stop, $6 an entry for the journal. */
export const steerOperation = statement<{ operation: OperationJson }>(
  "steer operation",
  "tenants",
  `with ${clock},
   steered as (
     update setpoint.operation as o set state = $3, message = $4, attempts = 0, revision = o.revision + 1,
       cancel = coalesce(o.cancel, case when $5::json is not null then
         json_build_object('author', $5::json ->> 'author', 'atMs', clock.now_ms, 'reason', $5::json ->> 'reason') end),
       ended_at_ms = case when $3 <> 'running' then clock.now_ms end,
       due_at_ms = case when $3 = 'running' then clock.now_ms end,
       journal_length = o.journal_length + case when $6::json is null then 0 else 1 end
     from clock where o.organization_id = $1 and o.id = $2 returning o.*
   ),
   appended as (
     insert into setpoint.step (organization_id, operation_id, place, step, version, direction, result, at_ms, body)
     select m.organization_id, m.id, m.journal_length, $6::json ->> 'step', ($6::json ->> 'version')::integer, m.direction,
       $6::json ->> 'result', clock.now_ms, json_build_object('message', $6::json ->> 'message')
     from steered as m, clock where $6::json is not null
   ),
   queued as (
     insert into setpoint.operation_due as q (operation_id, organization_id, subject_id, shard, account_id, priority, due_at_ms)
     select m.id, m.organization_id, m.subject_id, m.shard, m.account_id, m.priority, m.due_at_ms from steered as m
     where m.due_at_ms is not null
     on conflict (operation_id) do update set due_at_ms = excluded.due_at_ms
   ),
   dequeued as (
     delete from setpoint.operation_due as q
     where q.operation_id = any (array(select m.id from steered as m where m.due_at_ms is null))
   )
   select ${operationJson("m")} as operation from steered as m`,
);

/** What has held its resource for longer than $1 milliseconds is written into the log, once, at most $2 at a time. */
export const noteOldHolds = statement<{ id: number }>(
  "note old holds",
  "tenants",
  `with ${clock},
   old as materialized (
     select o.organization_id, o.id from clock cross join setpoint.operation as o
     join setpoint.subject as s on s.id = o.subject_id and s.hold_operation_id = o.id
     where o.ended_at_ms is null and o.hold_told_at_ms is null and o.created_at_ms < clock.now_ms - $1::bigint
       and s.hold_since_ms < clock.now_ms - $1::bigint
     order by o.created_at_ms limit $2 for no key update of o skip locked
   ),
   noted as (
     update setpoint.operation as o set hold_told_at_ms = clock.now_ms
     from old, clock where o.organization_id = old.organization_id and o.id = old.id
     returning o.*, clock.now_ms
   )
   insert into setpoint.log_entry (organization_id, type, uid, actor, data, trail, at_ms)
   select n.organization_id, 'operation.overdue', n.resource_uid, n.author_name,
     json_build_object('operation', n.id, 'pipeline', n.pipeline, 'kind', n.kind, 'name', n.name, 'scope', n.scope,
       'step', n.step, 'message', n.message, 'startedBy', n.author_name, 'sinceMs', n.created_at_ms),
     ${throughOperation("n")}, n.now_ms
   from noted as n returning id`,
);

/** Answers with the subjects that the operation held. */
export const releaseHold = statement<{ id: number }>(
  "release hold",
  "tenants",
  `update setpoint.subject set hold_operation_id = null, hold_since_ms = null, hold_reason = null
   where organization_id = $1 and resource_uid = $2 and hold_operation_id = $3 returning id`,
);
