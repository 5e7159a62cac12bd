import { statement } from "../statement.ts";
import { type WokenRow, wokenByShard } from "./wake.ts";

const named = "unnest($2::text[], $3::text[], $4::text[]) with ordinality as named (scope, kind, name, place)";

/** Those of the names that are taken. */
export const takenNames = statement<{ place: number }>(
  "taken names",
  "tenants",
  `select named.place from ${named}
   cross join lateral (
     select r.uid from setpoint.resource as r
     where r.scope = named.scope and r.kind = named.kind and r.name = named.name
       and r.organization_id is not distinct from $1 offset 0
   ) as found`,
);

export interface PlacesRow {
  readonly scopes: Readonly<Record<string, readonly string[]>> | null;
  readonly accounts: readonly string[] | null;
}
/** The paths of scopes, and which accounts there are. */
export const readPlaces = statement<PlacesRow>(
  "read places",
  "tenants",
  `select
     (select json_object_agg(c.scope, c.path) from setpoint.scope as c
      where c.organization_id = $1 and c.scope = any ($2::text[])) as scopes,
     (select json_agg(a.id) from setpoint.account as a
      where a.organization_id = $1 and a.id = any ($3::text[])) as accounts`,
);

/** Room for so many more of each kind. */
export const checkQuotas = statement<{ kind: string; most: number | null; used: number | null }>(
  "check quotas",
  "tenants",
  `select wanted.kind, checked.most, checked.used
   from unnest($2::text[], $3::bigint[]) as wanted (kind, more)
   cross join lateral setpoint.check_quota($1, wanted.kind, wanted.more) as checked
   order by wanted.kind`,
);

export const insertResources = statement<{ uid: string; declared_at_ms: number }>(
  "insert resources",
  "tenants",
  `insert into setpoint.resource (organization_id, uid, kind, name, scope, path, spec, labels, author_name, author_type,
     mode, protect, generation, revision, declared_at_ms, field_owners)
   select $1, made.uid, made.kind, made.name, made.scope, array(select json_array_elements_text(made.path)), made.spec,
     made.labels, made.author_name, made.author_type, made.mode, made.protect, 1, 1, setpoint.now_ms(), made.field_owners
   from json_to_recordset($2::json) as made (uid text, kind text, name text, scope text, path json, spec json, labels jsonb,
     author_name text, author_type text, mode text, protect boolean, field_owners jsonb)
   returning uid, declared_at_ms`,
);

const pairs = "unnest($2::text[], $3::text[], $4::text[], $5::text[]) as pair (uid, scope, kind, name)";
export const addSeveralLinks = statement<never>(
  "add several links",
  "tenants",
  `insert into setpoint.link (organization_id, source_uid, scope, kind, name)
   select $1, pair.uid, pair.scope, pair.kind, pair.name from ${pairs} on conflict do nothing`,
);
export const addSeveralReferences = statement<never>(
  "add several references",
  "tenants",
  `insert into setpoint.reference (organization_id, source_uid, scope, kind, name)
   select $1, pair.uid, pair.scope, pair.kind, pair.name from ${pairs} on conflict do nothing`,
);

/** New subjects of several resources; due at once. */
export const addSeveralSubjects = statement<WokenRow>(
  "add several subjects",
  "tenants",
  `with asked as materialized (
     select * from json_to_recordset($2::json) as asked (
       place integer, uid text, scope text, kind text, name text, account_id text, shard smallint, priority smallint)
   ),
   made as (
     insert into setpoint.subject (organization_id, resource_uid, kind, name, account_id, shard)
     select $1, asked.uid, asked.kind, asked.name, asked.account_id, asked.shard from asked order by asked.place
     returning id, resource_uid, account_id, shard
   ),
   known as (
     select made.id, made.shard, asked.uid, asked.scope, asked.kind, asked.name, asked.priority
     from made join asked on asked.uid = made.resource_uid and asked.account_id is not distinct from made.account_id
   ),
   due as (
     insert into setpoint.subject_due (subject_id, organization_id, shard, priority, due_at_ms)
     select known.id, $1, known.shard, known.priority, setpoint.now_ms() from known
     returning subject_id, shard, priority, due_at_ms
   ),
   summed as (
     insert into setpoint.subject_summary (subject_id, organization_id, resource_uid, scope, kind, name, changed_at_ms)
     select known.id, $1, known.uid, known.scope, known.kind, known.name, setpoint.now_ms() from known
   )
   ${wokenByShard}`,
);
