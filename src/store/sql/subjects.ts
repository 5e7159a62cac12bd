import { statement } from "../statement.ts";
import { clock } from "./lease.ts";

export interface SubjectEntryRow {
  readonly id: number;
  readonly kind: string;
  readonly organization_id: string;
  readonly account_id: string | null;
}
export interface DueSubjectRow extends SubjectEntryRow {
  readonly shard: number;
  readonly priority: number;
  readonly due_at_ms: number;
}

export const listSubjects = statement<SubjectEntryRow>(
  "list subjects",
  "platform",
  `select id, kind, organization_id, account_id from setpoint.subject
   where shard = $1 and id > $2 order by shard, id limit $3`,
);

/**
 * One short index scan per shard and priority. A single scan in order of urgency would first have to pass every
 * backoff that lies in the future, and one of due times everything that a noisy tenant has waiting.
 * A due time is stamped before its transaction commits: whoever leaves out what was due at a time leaves some room.
 */
export const dueSubjects = statement<DueSubjectRow>(
  "due subjects",
  "platform",
  `with ${clock},
   due as materialized (
     select found.* from unnest($1::smallint[]) as asked (shard)
     cross join (values (0::smallint), (1::smallint), (2::smallint), (3::smallint)) as urgency (priority)
     cross join clock
     cross join lateral (
       select d.subject_id, d.shard, d.priority, d.due_at_ms from setpoint.subject_due as d
       where d.shard = asked.shard and d.priority = urgency.priority and d.due_at_ms <= clock.now_ms
         and ($3::bigint is null or d.due_at_ms > $3)
         and (d.due_at_ms, d.subject_id + 0) > (
           case when urgency.priority = $4::smallint then $5::bigint else 0 end,
           case when urgency.priority = $4::smallint then $6::bigint else 0 end)
       order by d.due_at_ms, d.subject_id + 0 limit $2
     ) as found
     where urgency.priority >= $4::smallint
     order by found.priority, found.due_at_ms, found.subject_id limit $2
   )
   select s.id, s.kind, s.organization_id, s.account_id, due.shard, due.priority, due.due_at_ms
   from due join setpoint.subject as s on s.id = due.subject_id
   order by due.priority, due.due_at_ms, due.subject_id`,
);

export interface AccountCountsRow {
  readonly account_id: string;
  readonly subjects: number;
  /** Minutes in which subjects went bad that still are, with how many. */
  readonly bad: readonly (readonly [minute: number, subjects: number])[] | null;
  readonly sites: readonly (readonly [site: string, subjects: number])[] | null;
  readonly bad_at_sites: readonly (readonly [site: string, minute: number, subjects: number])[] | null;
}

export const accountCounts = statement<AccountCountsRow>(
  "account counts",
  "platform",
  `select asked.account_id,
     (select count(*) from setpoint.subject as s where s.account_id = asked.account_id) as subjects,
     (select json_agg(json_build_array(went.minute, went.subjects)) from (
        select s.bad_since_ms / 60000 as minute, count(*) as subjects from setpoint.subject as s
        where s.account_id = asked.account_id and s.bad_since_ms is not null group by 1) as went) as bad,
     (select json_agg(json_build_array(placed.site, placed.subjects)) from (
        select s.site, count(*) as subjects from setpoint.subject as s
        where s.account_id = asked.account_id and s.site is not null group by 1) as placed) as sites,
     (select json_agg(json_build_array(went.site, went.minute, went.subjects)) from (
        select s.site, s.bad_since_ms / 60000 as minute, count(*) as subjects from setpoint.subject as s
        where s.account_id = asked.account_id and s.site is not null and s.bad_since_ms is not null
        group by 1, 2) as went) as bad_at_sites
   from unnest($1::text[]) as asked (account_id)`,
);
