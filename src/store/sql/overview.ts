import { statement } from "../statement.ts";

export interface ListRow {
  readonly scope: string;
  readonly kind: string;
}
/** Which of some lists have anything in them: one look at the index for each. */
export const filledLists = statement<ListRow>(
  "filled lists",
  "tenants",
  `select l.scope, l.kind from unnest($2::text[], $3::text[]) with ordinality as l (scope, kind, place)
   where exists (
     select from setpoint.resource as r where r.scope = l.scope and r.kind = l.kind and r.organization_id = $1)
   order by l.place`,
);

export interface FiguresRow extends ListRow {
  readonly total: number;
  readonly deleting: number;
  readonly not_ready: number;
  readonly unknown: number;
  readonly drifted: number;
  readonly held: number;
}
/**
 * How many there are of each kind in each scope, and how many of them are not as they should be. Both are counted for themselves and
 * once: joined row by row, an organization of 100,000 resources is not counted in minutes.
 */
export const figures = statement<FiguresRow>(
  "figures",
  "tenants",
  `with status as materialized (
     select m.scope, m.kind, count(*) filter (where m.failed) as not_ready,
       count(*) filter (where m.unknown and not m.failed) as unknown, count(*) filter (where m.drifted) as drifted,
       count(*) filter (where m.held) as held
     from (
       select s.scope, s.kind, bool_or(s.ready = 'False') as failed, bool_or(s.ready = 'Unknown') as unknown,
         bool_or(s.drifted) as drifted, bool_or(s.held) as held
       from setpoint.subject_summary as s where s.organization_id = $1 group by s.scope, s.kind, s.resource_uid
     ) as m group by m.scope, m.kind
   ), declared as materialized (
     select r.scope, r.kind, count(*) as total, count(*) filter (where r.deletion is not null) as deleting
     from setpoint.resource as r where r.organization_id = $1 group by r.scope, r.kind
   )
   select d.scope, d.kind, d.total, d.deleting, coalesce(m.not_ready, 0) as not_ready, coalesce(m.unknown, 0) as unknown,
     coalesce(m.drifted, 0) as drifted, coalesce(m.held, 0) as held
   from declared as d left join status as m on m.scope = d.scope and m.kind = d.kind order by d.kind, d.scope`,
);

export interface ChangedRow extends ListRow {
  readonly name: string;
  readonly resource_uid: string;
  readonly subject_id: number;
  readonly version: number;
  readonly changed_at_ms: number;
}
/** The subjects of several lists whose status changed since a time, oldest first; each list is read along its own index. */
export const changedInLists = statement<ChangedRow>(
  "changed in lists",
  "tenants",
  `select found.* from unnest($2::text[], $3::text[]) as l (scope, kind)
   cross join lateral (
     select m.scope, m.kind, m.name, m.resource_uid, m.subject_id, m.version, m.changed_at_ms
     from setpoint.subject_summary as m
     where m.scope = l.scope and m.kind = l.kind and m.organization_id = $1
       and (m.changed_at_ms, m.subject_id) > ($4::bigint, $5::bigint)
     order by m.changed_at_ms, m.subject_id limit $6
   ) as found
   order by found.changed_at_ms, found.subject_id limit $6`,
);
