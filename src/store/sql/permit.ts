import type { PermitRefusal } from "../../ports/engine-store.ts";
import { statement } from "../statement.ts";
import { clock, leaseIsCurrent } from "./lease.ts";

/** SQL condition: the pause `p` covers the subject `s` of resource `r` at this moment. */
export const pauseCovers = `
  (p.organization_id is null or p.organization_id = s.organization_id)
  and p.expires_at_ms > clock.now_ms
  and p.scope = any (r.path || ('resource/' || s.resource_uid) || ('account/' || s.account_id))`;

/**
 * The fence, for a batch of subjects whose rows are locked. The first failing condition answers. "again" is the
 * repeated request of a permit that is alive: granted, and nothing is done twice.
 */
export const permit = statement<{ index: number; answer: PermitRefusal | "granted" | "again"; detail: string | null }>(
  "permit",
  "tenants",
  `with ${clock},
   asked as materialized (
     select * from json_to_recordset($1::json) as asked (
       index integer, subject_id bigint, holder text, shard smallint, epoch bigint, permit_id text,
       input_version bigint, policy_version bigint, sources json, deletes boolean, operation_id text, for_ms bigint,
       changes json, memory json, grant_ids text[], fenced json)
   ),
   judged as materialized (
     select q.*, s.organization_id, s.resource_uid, clock.now_ms,
       (select p.scope || ' by pause ' || p.id from setpoint.pause as p
        where ${pauseCovers} and (p.level <> 'deletes' or q.deletes) order by p.id limit 1) as paused_by,
       case
         when s.id is null then 'gone'
         when not ${leaseIsCurrent} then 'lease'
         when q.sources is null and s.input_version is distinct from q.input_version then 'inputs'
         when q.sources is not null and s.policy_version is distinct from q.policy_version then 'inputs'
         when q.sources is not null and exists (
           select from json_to_recordset(q.sources) as source (uid text, generation bigint)
           left join setpoint.resource as i on i.organization_id = s.organization_id and i.uid = source.uid
           where i.generation is distinct from source.generation) then 'inputs'
       end as early_refusal,
       case
         when s.hold_operation_id is distinct from q.operation_id then 'held'
         when s.permit_until_ms > clock.now_ms and s.permit_id <> q.permit_id then 'busy'
         when s.permit_until_ms > clock.now_ms then 'again'
         when (select count(*) from setpoint.item_grant as g
               where g.organization_id = s.organization_id and g.id = any (q.grant_ids) and g.subject_id = s.id
                 and g.used_at_ms is null and g.expires_at_ms > clock.now_ms) < cardinality(q.grant_ids) then 'grant'
       end as late_refusal,
       coalesce(s.hold_operation_id, s.permit_id) as in_the_way
     from asked as q
     cross join clock
     left join setpoint.subject as s on s.id = q.subject_id
     left join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
   ),
   answered as materialized (
     select judged.*, coalesce(early_refusal, case when paused_by is not null then 'paused' end, late_refusal, 'granted')
       as answer
     from judged
   ),
   granted as materialized (select * from answered where answer = 'granted'),
   permitted as (
     update setpoint.subject as s set permit_id = g.permit_id, permit_until_ms = g.now_ms + g.for_ms
     from granted as g where s.id = g.subject_id
   ),
   -- An update is intended without anything new to remember, and the row is the largest that a subject has.
   remembered as (
     insert into setpoint.subject_state as t (organization_id, subject_id, memory)
     select organization_id, subject_id, memory from granted as g
     where g.memory::text is distinct from (
       select t.memory::text from setpoint.subject_state as t
       where t.organization_id = g.organization_id and t.subject_id = g.subject_id)
     on conflict (organization_id, subject_id) do update set memory = excluded.memory
   ),
   used as (
     update setpoint.item_grant as i set used_at_ms = g.now_ms
     from granted as g where i.organization_id = g.organization_id and i.id = any (g.grant_ids)
   ),
   fenced as (
     insert into setpoint.verdict (organization_id, subject_id, resource_uid, at_ms, verdict)
     select organization_id, subject_id, resource_uid, now_ms, fenced from answered where answer = 'lease' order by index
   ),
   intended as (
     insert into setpoint.change (organization_id, id, subject_id, resource_uid, permit_id, at_ms, record)
     select g.organization_id, change ->> 'id', g.subject_id, g.resource_uid, g.permit_id, g.now_ms, change
     from granted as g cross join lateral json_array_elements(g.changes) as change
   )
   select index, answer, case answer when 'paused' then paused_by when 'held' then in_the_way when 'busy' then in_the_way end
     as detail
   from answered`,
);
