import { statement } from "../statement.ts";
import { clock, leaseIsCurrent } from "./lease.ts";

/**
 * Ends permits with what became of their calls, for a batch of subjects whose rows are locked. Answers with those that
 * still had their lease and that very permit. A claim that is another subject's ends the whole statement; the batch is
 * then sent one by one, so that only the second claimant is refused.
 */
export const recordOutcome = statement<{ index: number; refused: unknown }>(
  "record outcome",
  "tenants",
  `with ${clock},
   asked as materialized (
     select * from json_to_recordset($1::json) as asked (
       index integer, subject_id bigint, operation_id text, holder text, shard smallint, epoch bigint, permit_id text,
       outcomes json, memory json, claims json, releases text[])
   ),
   kept as materialized (
     select q.*, s.organization_id, coalesce(s.account_id, 'organization/' || s.organization_id::text) as account_key
     from asked as q
     cross join clock
     join setpoint.subject as s on s.id = q.subject_id and s.permit_id = q.permit_id
     where ${leaseIsCurrent}
   ),
   ended as (
     update setpoint.subject as s set permit_id = null, permit_until_ms = null from kept where s.id = kept.subject_id
   ),
   remembered as (
     insert into setpoint.subject_state as t (organization_id, subject_id, memory)
     select organization_id, subject_id, memory from kept
     on conflict (organization_id, subject_id) do update set memory = excluded.memory
   ),
   -- Apart, so that a change is looked up by its whole key and not by its tenant first.
   told as materialized (
     select kept.organization_id, kept.subject_id, outcome.value, outcome.value ->> 'changeId' as change_id
     from kept cross join lateral json_array_elements(kept.outcomes) as outcome (value)
   ),
   answered as (
     update setpoint.change as c set outcome = told.value from told
     where c.organization_id = told.organization_id and c.id = told.change_id and c.subject_id = told.subject_id
   ),
   released as (
     delete from setpoint.claim as c using kept
     where c.subject_id = kept.subject_id and c.external_id = any (kept.releases)
       and c.account_key is not distinct from kept.account_key
       and c.organization_id is not distinct from kept.organization_id
   ),
   wanted as materialized (
     select kept.index, kept.organization_id, kept.account_key, kept.subject_id, claim.external_id, claim.key
     from kept cross join lateral json_to_recordset(kept.claims) as claim (external_id text, key text)
   ),
   claimed as (
     insert into setpoint.claim as c (organization_id, account_key, external_id, subject_id, key)
     select organization_id, account_key, external_id, subject_id, key from wanted
     order by organization_id, account_key, external_id
     on conflict (organization_id, account_key, external_id) do update set key = excluded.key
     where c.subject_id = excluded.subject_id
     returning c.organization_id, c.account_key, c.external_id, c.subject_id
   )
   select kept.index, (
     select setpoint.refuse('SP001', wanted.external_id || ' is claimed by another subject than ' || wanted.subject_id)
     from wanted where wanted.index = kept.index and not exists (
       select from claimed
       where claimed.organization_id = wanted.organization_id and claimed.account_key = wanted.account_key
         and claimed.external_id = wanted.external_id and claimed.subject_id = wanted.subject_id)
     limit 1) as refused
   from kept`,
);
