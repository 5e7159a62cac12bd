import { statement } from "../statement.ts";
import { clock, leaseIsCurrent } from "./lease.ts";

export interface SettledRow {
  readonly index: number;
  /** An input moved during the cycle: its edge stays due. */
  readonly moved: boolean;
  /** That, or somebody woke the subject since it was loaded. */
  readonly again: boolean;
  /** Nobody else holds the subject. */
  readonly own: boolean;
  /** What was left undone still is, and its time has come. */
  readonly starts: boolean;
}

/**
 * Ends cycles, for a batch of subjects whose rows are locked. Answers with those that still had their lease. Rows that
 * would not change are not written.
 */
export const settle = statement<SettledRow>(
  "settle",
  "tenants",
  `with ${clock},
   asked as materialized (
     select * from json_to_recordset($1::json) as asked (
       index integer, subject_id bigint, operation_id text, holder text, shard smallint, epoch bigint, input_version bigint,
       policy_version bigint, due_known boolean, due_seen_ms bigint,
       memory json, observation json, observation_hash text, status json, bad_since_ms bigint, failing boolean,
       looked_at_ms bigint, plan json, plan_gone boolean, events json, verdicts json, next_in_ms bigint, now_owned integer,
       ready text, drifted boolean, is_held boolean, instead text, site text)
   ),
   kept as materialized (
     select q.*, s.organization_id, s.resource_uid, s.kind, s.name, clock.now_ms, s.input_version > q.input_version as moved,
       s.input_version > q.input_version or exists (
         select from setpoint.subject_due as d
         where d.subject_id = q.subject_id and q.due_known and d.due_at_ms <= clock.now_ms
           and d.due_at_ms is distinct from q.due_seen_ms) as again,
       s.shard as subject_shard,
       -- What an operation holds, it alone remembers; and a memory that was read before a hold ended is not the latest.
       s.hold_operation_id is not distinct from q.operation_id as own,
       s.hold_operation_id is not distinct from q.operation_id
         and s.policy_version = coalesce(q.policy_version, s.policy_version) as remembers,
       coalesce(s.undone ->> 'operationId' = q.instead, false) and s.hold_operation_id is not distinct from q.operation_id
         and s.input_version <= q.input_version as starts
     from asked as q
     cross join clock
     join setpoint.subject as s on s.id = q.subject_id
     where ${leaseIsCurrent}
   ),
   ended as (
     update setpoint.subject as s
     set permit_id = case when kept.own then null else s.permit_id end,
       permit_until_ms = case when kept.own then null else s.permit_until_ms end, now_owned = coalesce(kept.now_owned, s.now_owned),
       bad_since_ms = case when kept.status is null then s.bad_since_ms else kept.bad_since_ms end,
       failing = case when kept.status is null then s.failing else kept.failing end,
       looked_at_ms = case when kept.status is null then s.looked_at_ms else kept.looked_at_ms end,
       site = case when kept.status is null then s.site else kept.site end,
       undone = case when kept.starts then null else s.undone end
     from kept
     where s.id = kept.subject_id and (
       kept.starts or (s.permit_id is not null and kept.own) or s.now_owned <> coalesce(kept.now_owned, s.now_owned)
       or (kept.status is not null and (
         s.bad_since_ms is distinct from kept.bad_since_ms or s.failing <> kept.failing
         or s.looked_at_ms is distinct from kept.looked_at_ms or s.site is distinct from kept.site)))
   ),
   remembered as (
     insert into setpoint.subject_state as t
       (organization_id, subject_id, memory, status, observation_hash)
     select organization_id, subject_id, case when remembers then memory end, status, observation_hash from kept
     where (memory is not null and remembers) or status is not null or observation_hash is not null
     on conflict (organization_id, subject_id) do update set
       memory = coalesce(excluded.memory, t.memory),
       status = coalesce(excluded.status, t.status),
       observation_hash = coalesce(excluded.observation_hash, t.observation_hash)
   ),
   seen as (
     insert into setpoint.subject_observation as o (organization_id, subject_id, observation)
     select organization_id, subject_id, observation from kept where observation is not null
     on conflict (organization_id, subject_id) do update set observation = excluded.observation
   ),
   planned as (
     insert into setpoint.subject_plan as p (organization_id, subject_id, since_ms, at_ms, summary, plan)
     select organization_id, subject_id, now_ms, now_ms, plan -> 'summary', plan from kept where plan is not null
     on conflict (organization_id, subject_id) do update set
       at_ms = excluded.at_ms, summary = excluded.summary, plan = excluded.plan
   ),
   -- Also where whoever says that nothing is left had looked before the plan was stored, as an operation beside its loop may have.
   carried_out as (
     delete from setpoint.subject_plan as p using kept
     where (kept.plan_gone or (kept.plan is null and kept.status is not null and kept.status ->> 'planHash' is null))
       and p.organization_id = kept.organization_id and p.subject_id = kept.subject_id
   ),
   announced as (
     insert into setpoint.log_entry (organization_id, type, uid, actor, data, at_ms)
     select kept.organization_id, event.value ->> 'type', kept.resource_uid, 'setpoint',
       (jsonb_build_object('kind', kept.kind, 'name', kept.name) || (event.value -> 'data')::jsonb)::json, kept.now_ms
     from kept cross join lateral json_array_elements(kept.events) as event (value)
   ),
   summed as (
     update setpoint.subject_summary as m
     set ready = kept.ready, drifted = kept.drifted, held = kept.is_held, version = m.version + 1,
       changed_at_ms = kept.now_ms
     from kept where kept.status is not null and m.subject_id = kept.subject_id
   ),
   told as (
     insert into setpoint.verdict (organization_id, subject_id, resource_uid, at_ms, verdict)
     select kept.organization_id, kept.subject_id, kept.resource_uid, kept.now_ms, line.value
     from kept cross join lateral json_array_elements(kept.verdicts) with ordinality as line (value, place)
     order by kept.index, line.place
   ),
   -- Not joined: a plan made while the queue was empty would read all of it for each that is kept.
   cleared as (
     delete from setpoint.subject_due as d
     where d.subject_id = any (array(select kept.subject_id from kept where not kept.again and kept.next_in_ms is null))
   ),
   scheduled as (
     insert into setpoint.subject_due as d (subject_id, organization_id, shard, priority, due_at_ms)
     select subject_id, organization_id, subject_shard, 3, now_ms + next_in_ms from kept
     where not again and next_in_ms is not null
     on conflict (subject_id) do update set priority = 3, due_at_ms = excluded.due_at_ms
   )
   select index, moved, again, own, starts from kept`,
);
