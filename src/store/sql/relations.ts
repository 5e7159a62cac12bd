import { statement } from "../statement.ts";

export interface RelationRow {
  readonly uid: string;
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
  readonly to_scope: string;
  readonly to_kind: string;
  readonly to_name: string;
}

const columns = "r.uid, r.scope, r.kind, r.name";

/** What some resources refer to or are a part of: $2 uids, $3 at most of each. */
export const relationsFrom = statement<RelationRow>(
  "relations from",
  "tenants",
  `select ${columns}, t.scope as to_scope, t.kind as to_kind, t.name as to_name
   from setpoint.resource as r
   cross join lateral (
     (select f.scope, f.kind, f.name from setpoint.reference as f
      where f.organization_id = $1 and f.source_uid = r.uid order by f.scope, f.kind, f.name limit $3)
     union
     (select k.scope, k.kind, k.name from setpoint.link as k
      where k.organization_id = $1 and k.source_uid = r.uid order by k.scope, k.kind, k.name limit $3)
   ) as t
   where r.organization_id = $1 and r.uid = any ($2::text[])
   order by r.kind, r.name, r.uid, t.kind, t.name, t.scope`,
);

/** What refers to some resources or is a part of them: $2 to $4 their names, $5 at most of each. */
export const relationsTo = statement<RelationRow>(
  "relations to",
  "tenants",
  `select ${columns}, named.scope as to_scope, named.kind as to_kind, named.name as to_name
   from unnest($2::text[], $3::text[], $4::text[]) as named (scope, kind, name)
   cross join lateral (
     (select f.source_uid from setpoint.reference as f
      where f.scope = named.scope and f.kind = named.kind and f.name = named.name and f.organization_id = $1 limit $5)
     union
     (select k.source_uid from setpoint.link as k
      where k.scope = named.scope and k.kind = named.kind and k.name = named.name and k.organization_id = $1 limit $5)
   ) as t
   join setpoint.resource as r on r.organization_id = $1 and r.uid = t.source_uid
   order by r.kind, r.name, r.uid`,
);

/** What the first resources of some lists refer to or are a part of: $2 and $3 the lists, $4 how many of each are looked at. */
export const relationsOfLists = statement<Omit<RelationRow, "uid" | "name">>(
  "relations of lists",
  "tenants",
  `select distinct l.scope, l.kind, t.scope as to_scope, t.kind as to_kind, t.name as to_name
   from unnest($2::text[], $3::text[]) as l (scope, kind)
   cross join lateral (
     select r.uid from setpoint.resource as r
     where r.scope = l.scope and r.kind = l.kind and r.organization_id = $1 order by r.name limit $4
   ) as first
   cross join lateral (
     (select f.scope, f.kind, f.name from setpoint.reference as f
      where f.organization_id = $1 and f.source_uid = first.uid limit $4)
     union
     (select k.scope, k.kind, k.name from setpoint.link as k
      where k.organization_id = $1 and k.source_uid = first.uid limit $4)
   ) as t`,
);
