import { statement } from "../statement.ts";
import { tellRemoved } from "./log.ts";

/** Resource rows come before subject rows in every transaction that needs both. */
export const lockResources = statement<unknown>(
  "lock resources",
  "tenants",
  `select from setpoint.resource as r
   where (r.organization_id, r.uid) in (select * from unnest($1::uuid[], $2::text[]))
   order by r.organization_id, r.uid for update`,
);

/** The named sources are no longer inputs of the subject's resource. */
export const unlinkSources = statement<never>(
  "unlink sources",
  "tenants",
  `delete from setpoint.link as k
   using unnest($1::bigint[], $2::text[]) as forgotten (subject_id, source_uid), setpoint.subject as s, setpoint.resource as r
   where s.id = forgotten.subject_id and r.organization_id = s.organization_id and r.uid = s.resource_uid
     and k.organization_id = r.organization_id and k.source_uid = forgotten.source_uid
     and k.scope = r.scope and k.kind = r.kind and k.name = r.name`,
);

/** Removes those of the named sources that are deleted, without links and without subjects. */
export const removeSources = statement<never>(
  "remove sources",
  "tenants",
  `with gone as (
     delete from setpoint.resource as r
     where (r.organization_id, r.uid) in (select * from unnest($1::uuid[], $2::text[])) and r.deletion is not null
       and not exists (
         select from setpoint.link as k where k.organization_id = r.organization_id and k.source_uid = r.uid)
       and not exists (
         select from setpoint.subject as s where s.organization_id = r.organization_id and s.resource_uid = r.uid)
     returning *
   )
   ${tellRemoved}`,
);

/** Removes subjects with everything that is theirs alone. Their items in held changes went before. */
export const removeSubjects = statement<never>(
  "remove subjects",
  "tenants",
  `with gone as (
     delete from setpoint.subject as s where s.id = any ($1::bigint[]) returning s.id, s.organization_id
   ),
   due as (delete from setpoint.subject_due as d where d.subject_id = any (array(select gone.id from gone))),
   state as (
     delete from setpoint.subject_state as t using gone
     where t.organization_id = gone.organization_id and t.subject_id = gone.id
   ),
   observation as (
     delete from setpoint.subject_observation as o using gone
     where o.organization_id = gone.organization_id and o.subject_id = gone.id
   ),
   plan as (
     delete from setpoint.subject_plan as p using gone
     where p.organization_id = gone.organization_id and p.subject_id = gone.id
   ),
   claims as (
     delete from setpoint.claim as c using gone where c.subject_id = gone.id
   ),
   summaries as (
     delete from setpoint.subject_summary as m using gone where m.subject_id = gone.id
     returning m.subject_id, m.resource_uid, m.version
   ),
   -- Versions of a resource's status add up over its subjects; with one subject less the sum must still grow.
   siblings as (
     update setpoint.subject_summary as m
     set version = m.version + summaries.version + 1, changed_at_ms = setpoint.now_ms()
     from summaries
     where m.resource_uid = summaries.resource_uid and m.subject_id not in (select gone.id from gone)
   )
   delete from setpoint.item_grant as g using gone where g.subject_id = gone.id`,
);

/** Removes the named resources that are deleted and have no subject left, with their links. */
export const removeResources = statement<never>(
  "remove resources",
  "tenants",
  `with gone as (
     delete from setpoint.resource as r
     where (r.organization_id, r.uid) in (select * from unnest($1::uuid[], $2::text[])) and r.deletion is not null
       and not exists (
         select from setpoint.subject as s where s.organization_id = r.organization_id and s.resource_uid = r.uid)
     returning *
   ),
   links as (
     delete from setpoint.link as k using gone
     where k.organization_id = gone.organization_id and k.source_uid = gone.uid
   )
   ${tellRemoved}`,
);
