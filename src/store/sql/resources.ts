import type { Mode, ResourceDeletion } from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { tellRemoved } from "./log.ts";
import { type WokenRow, wokenByShard } from "./wake.ts";
import type { ResourceRow } from "../resource-row.ts";

/**
 * A name is locked alone by who declares it and shared by who declares something that links to it. Otherwise a subject
 * made by one transaction and an input declared by another, both under way, would not see each other, and nobody would
 * wake the subject. Keys are locked in order; two names with one hash only wait for each other.
 */
export const lockNames = statement<unknown>(
  "lock names",
  "platform",
  `select case when alone then pg_advisory_xact_lock(7302, key) else pg_advisory_xact_lock_shared(7302, key) end
   from (
     select hashtext(concat_ws(' ', $1::uuid, named.scope, named.kind, named.name)) as key, bool_or(named.place = 1) as alone
     from unnest($2::text[], $3::text[], $4::text[]) with ordinality as named (scope, kind, name, place)
     group by key order by key
   ) as ordered`,
);

/** The same for the link targets of a resource that is known by its uid. */
export const lockLinkNames = statement<unknown>(
  "lock link names",
  "tenants",
  `select pg_advisory_xact_lock_shared(7302, key)
   from (
     select distinct hashtext(concat_ws(' ', k.organization_id, k.scope, k.kind, k.name)) as key from setpoint.link as k
     where k.organization_id = $1 and k.source_uid = $2 order by key
   ) as ordered`,
);

export const lockNamedResource = statement<unknown>(
  "lock named resource",
  "tenants",
  `select from setpoint.resource
   where scope = $2 and kind = $3 and name = $4 and organization_id is not distinct from $1 for no key update`,
);
export const lockResource = statement<unknown>(
  "lock resource",
  "tenants",
  "select from setpoint.resource where organization_id = $1 and uid = $2 for no key update",
);

export interface DeclaredRow extends ResourceRow {
  readonly revision: number;
  readonly mode: Mode | null;
  readonly protect: boolean | null;
  readonly links: readonly { readonly scope: string; readonly kind: string; readonly name: string }[] | null;
  readonly subjects:
    | readonly { readonly id: number; readonly accountId: string | null; readonly detached: ResourceDeletion | null }[]
    | null;
}

const declaredColumns = `r.uid, r.kind, r.name, r.scope, r.generation, r.spec, r.labels, r.author_name, r.author_type,
  r.declared_at_ms, r.deletion, r.revision, r.mode, r.protect,
  (select json_agg(json_build_object('scope', k.scope, 'kind', k.kind, 'name', k.name)) from setpoint.link as k
   where k.organization_id = r.organization_id and k.source_uid = r.uid) as links,
  (select json_agg(json_build_object('id', s.id, 'accountId', s.account_id, 'detached', s.detached)) from setpoint.subject as s
   where s.organization_id = r.organization_id and s.resource_uid = r.uid) as subjects`;

export const readNamedResource = statement<DeclaredRow>(
  "read named resource",
  "tenants",
  `select ${declaredColumns} from setpoint.resource as r
   where r.scope = $2 and r.kind = $3 and r.name = $4 and r.organization_id is not distinct from $1`,
);
export const readResource = statement<DeclaredRow>(
  "read resource",
  "tenants",
  `select ${declaredColumns} from setpoint.resource as r where r.organization_id = $1 and r.uid = $2`,
);

/** Where the resource is to live, and which of the accounts exist. */
export const readPlace = statement<{ path: readonly string[] | null; accounts: readonly string[] | null }>(
  "read place",
  "tenants",
  `select
     (select c.path from setpoint.scope as c where c.organization_id = $1 and c.scope = $2) as path,
     (select json_agg(a.id) from setpoint.account as a where a.organization_id = $1 and a.id = any ($3::text[])) as accounts`,
);

/** The same three for several names of one organization at once; none of them links to anything. */
export const lockSeveralNames = statement<unknown>(
  "lock several names",
  "platform",
  `select pg_advisory_xact_lock(7302, key)
   from (
     select distinct hashtext(concat_ws(' ', $1::uuid, named.scope, named.kind, named.name)) as key
     from unnest($2::text[], $3::text[], $4::text[]) as named (scope, kind, name) order by key
   ) as ordered`,
);
const severalNamed = `unnest($2::text[], $3::text[], $4::text[]) with ordinality as named (scope, kind, name, place)
   cross join lateral (
     select r.* from setpoint.resource as r
     where r.scope = named.scope and r.kind = named.kind and r.name = named.name
       and r.organization_id is not distinct from $1 offset 0
   ) as r`;
export const lockSeveralResources = statement<unknown>(
  "lock several resources",
  "tenants",
  `select from setpoint.resource where organization_id = $1 and uid = any (array(select r.uid from ${severalNamed}))
   order by uid for no key update`,
);
export const readSeveralResources = statement<DeclaredRow & { readonly place: number }>(
  "read several resources",
  "tenants",
  `select named.place, ${declaredColumns} from ${severalNamed}`,
);

/** Edits of several resources of one organization. */
export const updateSeveralResources = statement<{ uid: string; declared_at_ms: number }>(
  "update several resources",
  "tenants",
  `with asked as materialized (
     select * from json_to_recordset($2::json) as asked (
       uid text, more integer, spec json, labels jsonb, author_name text, author_type text, field_owners jsonb)
   )
   update setpoint.resource as r
   set generation = r.generation + asked.more, spec = asked.spec, labels = asked.labels,
     author_name = asked.author_name, author_type = asked.author_type, field_owners = asked.field_owners,
     revision = r.revision + 1, declared_at_ms = setpoint.now_ms()
   from asked where r.organization_id = $1 and r.uid = asked.uid
   returning r.uid, r.declared_at_ms`,
);

export const insertResource = statement<{ declared_at_ms: number }>(
  "insert resource",
  "tenants",
  `insert into setpoint.resource (organization_id, uid, kind, name, scope, path, spec, labels, author_name, author_type,
     mode, protect, generation, revision, declared_at_ms, field_owners)
   values ($1, $2, $3, $4, $5, $6, $7::json, $8::jsonb, $9, $10, $11, $12, 1, 1, setpoint.now_ms(), $13::jsonb)
   returning declared_at_ms`,
);

export const updateResource = statement<{ declared_at_ms: number }>(
  "update resource",
  "tenants",
  `update setpoint.resource set generation = generation + $3::integer, spec = $4::json, labels = $5::jsonb,
     author_name = $6, author_type = $7, mode = $8, protect = $9, field_owners = $10::jsonb, revision = revision + 1,
     declared_at_ms = setpoint.now_ms()
   where organization_id = $1 and uid = $2 returning declared_at_ms`,
);

export const addLinks = statement<never>(
  "add links",
  "tenants",
  `insert into setpoint.link (organization_id, source_uid, scope, kind, name)
   select $1, $2, named.scope, named.kind, named.name
   from unnest($3::text[], $4::text[], $5::text[]) as named (scope, kind, name)
   on conflict do nothing`,
);
export const dropLinks = statement<never>(
  "drop links",
  "tenants",
  `delete from setpoint.link as k where k.organization_id = $1 and k.source_uid = $2
     and (k.scope, k.kind, k.name) not in (select * from unnest($3::text[], $4::text[], $5::text[]))`,
);

/** New subjects are due at once. Each keeps the place of its account in the declaration. */
export const addSubjects = statement<WokenRow>(
  "add subjects",
  "tenants",
  `with made as (
     insert into setpoint.subject (organization_id, resource_uid, kind, name, account_id, shard)
     select $1, $2, $3, $4, wanted.account_id, wanted.shard
     from unnest($5::text[], $6::smallint[]) with ordinality as wanted (account_id, shard, place) order by wanted.place
     returning id, organization_id, shard
   ),
   due as (
     insert into setpoint.subject_due (subject_id, organization_id, shard, priority, due_at_ms)
     select made.id, made.organization_id, made.shard, $7::smallint, setpoint.now_ms() from made
     returning subject_id, shard, priority, due_at_ms
   ),
   summed as (
     insert into setpoint.subject_summary (subject_id, organization_id, resource_uid, scope, kind, name, changed_at_ms)
     select made.id, $1, $2, (select r.scope from setpoint.resource as r where r.organization_id = $1 and r.uid = $2),
       $3, $4, setpoint.now_ms()
     from made
   )
   ${wokenByShard}`,
);

/** Subjects whose account is no longer named leave by themselves; named again before they left, they stay. */
export const attachSubjects = statement<never>(
  "attach subjects",
  "tenants",
  `update setpoint.subject as s
   set detached = case when attached.yes then null else coalesce(s.detached, json_build_object(
     'author', json_build_object('name', $3::text, 'type', $4::text), 'atMs', setpoint.now_ms(), 'orphan', false)) end
   from unnest($2::bigint[], $5::boolean[]) as attached (id, yes)
   where s.id = attached.id and s.organization_id is not distinct from $1 and (s.detached is null) <> attached.yes`,
);

export const raisePolicyVersion = statement<never>(
  "raise policy version",
  "tenants",
  "update setpoint.subject set policy_version = policy_version + 1 where organization_id = $1 and resource_uid = $2",
);

/** The first request's author and time stay. */
export const markDeleted = statement<{ revision: number }>(
  "mark deleted",
  "tenants",
  `update setpoint.resource as r
   set deletion = json_strip_nulls(json_build_object(
       'author', coalesce(r.deletion -> 'author', json_build_object('name', $3::text, 'type', $4::text)),
       'atMs', coalesce((r.deletion ->> 'atMs')::bigint, setpoint.now_ms()),
       'orphan', $5::boolean,
       -- Only a person's word counts: a machine that repeats his deletion confirms nothing in his name.
       'confirmedCount', case when r.deletion is null or $4 = 'person' then $6::bigint
         else (r.deletion ->> 'confirmedCount')::bigint end)),
     generation = r.generation + case when r.deletion is null then 1 else 0 end,
     revision = r.revision + 1
   where r.organization_id = $1 and r.uid = $2 returning r.revision`,
);

export const removeResource = statement<never>(
  "remove resource",
  "tenants",
  `with links as (delete from setpoint.link where organization_id = $1 and source_uid = $2),
   gone as (delete from setpoint.resource where organization_id = $1 and uid = $2 returning *)
   ${tellRemoved}`,
);
