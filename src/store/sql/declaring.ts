import type { ResourceDeletion, StoredObservation } from "../../ports/records.ts";
import { statement } from "../statement.ts";

/**
 * Names that are to be changed are locked alone, names that are referred to are shared: whoever refers to something and
 * whoever deletes it wait for each other. The keys are those of the declarations; all are locked in order.
 */
export const lockChangedNames = statement<unknown>(
  "lock changed names",
  "platform",
  `select case when alone then pg_advisory_xact_lock(7302, key) else pg_advisory_xact_lock_shared(7302, key) end
   from (
     select hashtext(concat_ws(' ', $1::uuid, named.scope, named.kind, named.name)) as key, bool_or(named.alone) as alone
     from unnest($2::text[], $3::text[], $4::text[], $5::boolean[]) as named (scope, kind, name, alone)
     group by key order by key
   ) as ordered`,
);

export interface ReferredRow {
  readonly place: number;
  readonly deleting: boolean;
}
/** Those of the named resources that there are. */
export const referredResources = statement<ReferredRow>(
  "referred resources",
  "tenants",
  `select named.place, found.deleting
   from unnest($2::text[], $3::text[], $4::text[]) with ordinality as named (scope, kind, name, place)
   cross join lateral (
     select r.deletion is not null as deleting from setpoint.resource as r
     where r.scope = named.scope and r.kind = named.kind and r.name = named.name
       and r.organization_id is not distinct from $1 offset 0
   ) as found`,
);

export interface UserRow {
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
  readonly part: boolean;
}
const users = (table: string, part: boolean) => `
  select found.scope, found.kind, found.name, ${part} as part
  from setpoint.${table} as k
  cross join lateral (
    select r.scope, r.kind, r.name from setpoint.resource as r
    where r.organization_id = k.organization_id and r.uid = k.source_uid and r.deletion is null offset 0
  ) as found
  where k.scope = $2 and k.kind = $3 and k.name = $4 and k.organization_id is not distinct from $1`;
/** Who refers to a resource, or is a part of it, and is not on its way out itself. */
export const resourceUsers = statement<UserRow>(
  "resource users",
  "tenants",
  `select * from (${users("reference", false)} union all ${users("link", true)}) as used
   order by part, kind, name limit $5`,
);

export const addReferences = statement<never>(
  "add references",
  "tenants",
  `insert into setpoint.reference (organization_id, source_uid, scope, kind, name)
   select $1, $2, named.scope, named.kind, named.name
   from unnest($3::text[], $4::text[], $5::text[]) as named (scope, kind, name)
   on conflict do nothing`,
);
export const dropReferences = statement<never>(
  "drop references",
  "tenants",
  `delete from setpoint.reference as f where f.organization_id = $1 and f.source_uid = $2
     and (f.scope, f.kind, f.name) not in (select * from unnest($3::text[], $4::text[], $5::text[]))`,
);

/** For one more of a kind, unless there is such a resource already. No row or nulls: nothing to keep to. */
export const checkQuota = statement<{ most: number | null; used: number | null }>(
  "check quota",
  "tenants",
  `select checked.most, checked.used
   from (select not exists (
     select from setpoint.resource as r where r.scope = $2 and r.kind = $3 and r.name = $4
       and r.organization_id is not distinct from $1) as is_new) as asked
   cross join lateral setpoint.check_quota($1, $3, 1) as checked
   where asked.is_new`,
);

export interface StandingRow {
  readonly uid: string;
  readonly revision: number;
  readonly generation: number;
  readonly deletion: ResourceDeletion | null;
}
export const standingResource = statement<StandingRow>(
  "standing resource",
  "tenants",
  `select r.uid, r.revision, r.generation, r.deletion from setpoint.resource as r
   where r.scope = $2 and r.kind = $3 and r.name = $4 and r.organization_id is not distinct from $1`,
);

/** The subjects of resources, and of what they are computed into. */
export const affectedSubjects = statement<{ id: number }>(
  "affected subjects",
  "tenants",
  `select t.id from setpoint.subject as t where t.organization_id = $1 and t.resource_uid = any ($2::text[])
   union
   select t.id from setpoint.subject as t
   where t.organization_id = $1 and t.resource_uid = any (array(
     select found.uid from setpoint.link as k
     cross join lateral (
       select r.uid from setpoint.resource as r
       where r.scope = k.scope and r.kind = k.kind and r.name = k.name
         and r.organization_id is not distinct from k.organization_id
       offset 0
     ) as found
     where k.organization_id = $1 and k.source_uid = any ($2::text[])))
   order by id`,
);

export interface LastSeenRow {
  readonly subject_id: number;
  readonly observation: StoredObservation | null;
  readonly seen_since_ms: number | null;
}
export const lastSeen = statement<LastSeenRow>(
  "last seen",
  "tenants",
  `select s.id as subject_id, o.observation, greatest(v.since_ms, l.since_ms) as seen_since_ms from setpoint.subject as s
   left join setpoint.subject_observation as o on o.organization_id = s.organization_id and o.subject_id = s.id
   left join setpoint.shard_seen as v on v.shard = s.shard
   left join setpoint.loop_seen as l on l.shard = s.shard and l.kind = s.kind
   where s.id = any ($2::bigint[]) and s.organization_id = $1`,
);

export interface QuotaRow {
  readonly kind: string;
  readonly most: number;
  readonly own: boolean;
}
export const listQuotas = statement<QuotaRow>(
  "list quotas",
  "tenants",
  `select q.kind, q.most, q.organization_id is not null as own from setpoint.quota as q
   where q.organization_id = $1 or q.organization_id is null order by q.kind, own desc`,
);
export const listCounts = statement<{ kind: string; count: number }>(
  "list counts",
  "tenants",
  `select c.kind, sum(c.count)::bigint as count from setpoint.resource_count as c
   where c.organization_id = $1 group by c.kind order by c.kind`,
);
export const upsertQuota = statement<never>(
  "upsert quota",
  "tenants",
  `insert into setpoint.quota (organization_id, kind, most) values ($1, $2, $3)
   on conflict (kind, organization_id) do update set most = excluded.most`,
);
export const deleteQuota = statement<never>(
  "delete quota",
  "tenants",
  "delete from setpoint.quota where kind = $2 and organization_id is not distinct from $1::uuid",
);
