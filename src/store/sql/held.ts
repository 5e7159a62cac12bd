import type { GuardName, Verdict } from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";

/** One change of what waits at a time and tenant, so that two processes never open the same held change twice. */
export const lockHeld = statement<unknown>(
  "lock held changes",
  "platform",
  `select pg_advisory_xact_lock(7303, key)
   from (select distinct hashtext(id) as key from unnest($1::text[]) as asked (id) order by key) as ordered`,
);

export interface CurrentHeldRow {
  readonly organization_id: string;
  readonly id: string;
  readonly level: string;
  readonly scope_key: string;
  readonly guard: GuardName;
  readonly digest: string;
}

/** Current held changes that these subjects have items in, or that items under these limits belong to. */
export const currentHeld = statement<CurrentHeldRow>(
  "current held changes",
  "tenants",
  `with named as (
     select i.organization_id, i.held_change_id as id from setpoint.subject as s
     join setpoint.held_item as i on i.subject_id = s.id
     where s.id = any ($1::bigint[])
     union
     select h.organization_id, h.id
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) as wanted (organization_id, level, scope_key, guard)
     join setpoint.held_change as h
       on h.scope_key = wanted.scope_key and h.level = wanted.level and h.guard = wanted.guard
       and h.organization_id is not distinct from wanted.organization_id
     where h.state in ('open', 'rejected')
   )
   select h.organization_id, h.id, h.level, h.scope_key, h.guard, h.digest from named
   join setpoint.held_change as h on h.organization_id = named.organization_id and h.id = named.id
   where h.state in ('open', 'rejected')`,
);

export const openHeld = statement<never>(
  "open held changes",
  "tenants",
  `with ${clock}
   insert into setpoint.held_change
     (organization_id, id, level, scope_key, state, digest, guard, verdict, authors, opened_at_ms)
   select h.organization_id, h.id, h.level, h.scope_key, 'open', '', h.guard, h.verdict, '{}', clock.now_ms
   from json_to_recordset($1::json) as h
     (organization_id uuid, id text, level text, scope_key text, guard text, verdict json), clock`,
);

/** Takes the subjects' items out of the held changes named, and puts the new ones in. */
export const dropHeldItems = statement<never>(
  "drop held items",
  "tenants",
  `delete from setpoint.held_item as i using unnest($1::uuid[], $2::text[]) as h (organization_id, id)
   where i.subject_id = any ($3::bigint[]) and i.held_change_id is not distinct from h.id
     and i.organization_id is not distinct from h.organization_id`,
);
export const addHeldItems = statement<never>(
  "add held items",
  "tenants",
  `insert into setpoint.held_item (organization_id, held_change_id, subject_id, subject_kind, subject_name, key, action,
     external_id, digest, differences, reason)
   select i.organization_id, i.held_change_id, i.subject_id, i.subject_kind, i.subject_name, i.key, i.action,
     i.external_id, i.digest, i.differences, i.reason
   from json_to_recordset($1::json) as i (place integer, organization_id uuid, held_change_id text, subject_id bigint,
     subject_kind text, subject_name text, key text, action text, external_id text, digest text, differences json,
     reason text)
   order by i.place`,
);

export interface HeldContentRow {
  readonly organization_id: string;
  readonly id: string;
  readonly items: readonly { readonly subjectId: number; readonly digest: string }[] | null;
  readonly authors: readonly string[] | null;
}

/** What is in the held changes now, and who declared or deleted it. */
export const heldContent = statement<HeldContentRow>(
  "held content",
  "tenants",
  `select h.organization_id, h.id,
     (select json_agg(json_build_object('subjectId', i.subject_id, 'digest', i.digest)) from setpoint.held_item as i
      where i.organization_id = h.organization_id and i.held_change_id = h.id) as items,
     (select json_agg(distinct author.name)
      from (select distinct i.subject_id from setpoint.held_item as i
            where i.organization_id = h.organization_id and i.held_change_id = h.id) as i
      join setpoint.subject as s on s.id = i.subject_id
      join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
      cross join lateral (values (r.author_name), (coalesce(r.deletion, s.detached) #>> '{author,name}')) as author (name)
      where author.name is not null) as authors
   from unnest($1::uuid[], $2::text[]) as h (organization_id, id)`,
);

/** Items that moved open a rejected change again; none left withdraws it. What people have to know of it is told. */
export const rewriteHeld = statement<never>(
  "rewrite held changes",
  "tenants",
  `with rewritten as (
     update setpoint.held_change as h
     set digest = n.digest, authors = n.authors,
       state = case when n.empty then 'withdrawn' when n.moved then 'open' else h.state end,
       closed_at_ms = case when n.empty then setpoint.now_ms() end,
       decided_by = case when n.moved and not n.empty then null else h.decided_by end,
       decided_at_ms = case when n.moved and not n.empty then null else h.decided_at_ms end,
       verdict = case when n.moved and not n.empty then coalesce(n.verdict, h.verdict) else h.verdict end
     from json_to_recordset($1::json) as n (organization_id uuid, id text, digest text, authors text[], empty boolean,
       moved boolean, opened boolean, items integer, verdict json)
     where h.organization_id = n.organization_id and h.id = n.id
     returning h.organization_id, h.id, h.level, h.guard, h.verdict, n.empty, n.moved, n.opened, n.items
   )
   insert into setpoint.log_entry (organization_id, type, uid, actor, data, at_ms)
   select organization_id,
     'held-change.' || case when empty then 'withdrawn' when opened then 'opened' else 'moved' end, id, 'setpoint',
     json_build_object('guard', guard, 'level', level, 'items', items, 'reason', left(verdict ->> 'reason', 500)),
     setpoint.now_ms()
   from rewritten where moved`,
);

/** What nobody decided within $1 milliseconds is written into the log, once, at most $2 at a time. */
export const noteOverdueHeld = statement<{ id: number }>(
  "note overdue held changes",
  "tenants",
  `with ${clock},
   overdue as materialized (
     select h.organization_id, h.id from setpoint.held_change as h, clock
     where h.state = 'open' and h.overdue_told_at_ms is null and h.opened_at_ms <= clock.now_ms - $1::bigint
     order by h.opened_at_ms limit $2 for no key update of h skip locked
   ),
   noted as (
     update setpoint.held_change as h set overdue_told_at_ms = clock.now_ms
     from overdue, clock where h.organization_id = overdue.organization_id and h.id = overdue.id
     returning h.organization_id, h.id, h.level, h.guard, h.verdict, h.opened_at_ms, clock.now_ms
   )
   insert into setpoint.log_entry (organization_id, type, uid, actor, data, at_ms)
   select n.organization_id, 'held-change.overdue', n.id, 'setpoint',
     json_build_object('guard', n.guard, 'level', n.level, 'reason', left(n.verdict ->> 'reason', 500),
       'deadlineMs', n.opened_at_ms + $1::bigint, 'items', (
         select count(*) from setpoint.held_item as i
         where i.organization_id = n.organization_id and i.held_change_id = n.id)),
     n.now_ms
   from noted as n returning id`,
);

export const setHeldDigests = statement<never>(
  "set held digests",
  "tenants",
  `insert into setpoint.subject_state as t (organization_id, subject_id, held_digest)
   select s.organization_id, s.id, n.digest
   from unnest($1::bigint[], $2::text[]) as n (subject_id, digest) join setpoint.subject as s on s.id = n.subject_id
   on conflict (organization_id, subject_id) do update set held_digest = excluded.held_digest`,
);

/** How `rewriteHeld` is told about one held change. */
export interface HeldRewrite {
  readonly organization_id: string;
  readonly id: string;
  readonly digest: string;
  readonly authors: readonly string[];
  readonly empty: boolean;
  readonly moved: boolean;
  readonly opened: boolean;
  readonly items: number;
  readonly verdict: Verdict | undefined;
}
