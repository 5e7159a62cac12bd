-- What the Control API keeps beside what is declared: indexes for lists, quotas, references, idempotency keys, proposals.

-- Lists in the order of declaration, and those of what is being deleted.
create index resource_declared on setpoint.resource (scope, kind, declared_at_ms, uid, organization_id);
create index resource_deleting on setpoint.resource (scope, kind, name, organization_id) where deletion is not null;

-- Each label twice, as `key=value` and as `key`, so that a list by a label reads only what has it, in the order of names.
create table setpoint.resource_label (
  organization_id uuid not null,
  scope text collate "C" not null,
  kind text collate "C" not null,
  term text collate "C" not null,
  name text collate "C" not null,
  primary key (scope, kind, term, name, organization_id)
);

-- How many resources of a kind an organization has. Each server process counts in a row of its own, so that creates do not
-- wait for each other; the count is the sum.
create table setpoint.resource_count (
  organization_id uuid not null,
  kind text collate "C" not null,
  slot smallint not null,
  count bigint not null,
  primary key (organization_id, kind, slot)
) with (fillfactor = 25);

-- Statement triggers, because whoever removes resources (a request, the last cycle of one that leaves) removes many at once.
create function setpoint.count_added() returns trigger language plpgsql as $$
begin
  insert into setpoint.resource_count as c (organization_id, kind, slot, count)
  select a.organization_id, a.kind, pg_backend_pid() % 64, count(*) from added as a group by 1, 2 order by 1, 2
  on conflict (organization_id, kind, slot) do update set count = c.count + excluded.count;
  insert into setpoint.resource_label (organization_id, scope, kind, term, name)
  select a.organization_id, a.scope, a.kind, term.text, a.name
  from added as a
  cross join lateral jsonb_each_text(a.labels) as label (key, value)
  cross join lateral (values (label.key), (label.key || '=' || label.value)) as term (text)
  where a.labels <> '{}';
  return null;
end
$$;
create function setpoint.count_removed() returns trigger language plpgsql as $$
begin
  insert into setpoint.resource_count as c (organization_id, kind, slot, count)
  select g.organization_id, g.kind, pg_backend_pid() % 64, -count(*) from gone as g group by 1, 2 order by 1, 2
  on conflict (organization_id, kind, slot) do update set count = c.count + excluded.count;
  delete from setpoint.resource_label as l
  using (
    select g.organization_id, g.scope, g.kind, g.name, term.text
    from gone as g
    cross join lateral jsonb_each_text(g.labels) as label (key, value)
    cross join lateral (values (label.key), (label.key || '=' || label.value)) as term (text)
    where g.labels <> '{}'
  ) as lost
  where l.scope = lost.scope and l.kind = lost.kind and l.term = lost.text and l.name = lost.name
    and l.organization_id = lost.organization_id;
  delete from setpoint.reference as f using gone as g
  where f.organization_id = g.organization_id and f.source_uid = g.uid;
  return null;
end
$$;
-- Per row: a statement that changes labels changes one resource, or a few.
create function setpoint.label_changed() returns trigger language plpgsql as $$
begin
  delete from setpoint.resource_label as l
  where l.scope = old.scope and l.kind = old.kind and l.name = old.name and l.organization_id = old.organization_id
    and l.term in (
      select term.text from jsonb_each_text(old.labels) as label (key, value)
      cross join lateral (values (label.key), (label.key || '=' || label.value)) as term (text));
  insert into setpoint.resource_label (organization_id, scope, kind, term, name)
  select new.organization_id, new.scope, new.kind, term.text, new.name
  from jsonb_each_text(new.labels) as label (key, value)
  cross join lateral (values (label.key), (label.key || '=' || label.value)) as term (text);
  return null;
end
$$;
insert into setpoint.resource_count (organization_id, kind, slot, count)
select r.organization_id, r.kind, 0, count(*) from setpoint.resource as r group by 1, 2;
insert into setpoint.resource_label (organization_id, scope, kind, term, name)
select r.organization_id, r.scope, r.kind, term.text, r.name
from setpoint.resource as r
cross join lateral jsonb_each_text(r.labels) as label (key, value)
cross join lateral (values (label.key), (label.key || '=' || label.value)) as term (text);
create trigger resource_added after insert on setpoint.resource
  referencing new table as added for each statement execute function setpoint.count_added();
create trigger resource_removed after delete on setpoint.resource
  referencing old table as gone for each statement execute function setpoint.count_removed();
create trigger resource_labelled after update of labels on setpoint.resource
  for each row when (old.labels is distinct from new.labels) execute function setpoint.label_changed();

-- "The source needs the resource that is named here." What a resource is part of is a link; everything else it needs is here.
create table setpoint.reference (
  organization_id uuid not null,
  source_uid text collate "C" not null,
  scope text collate "C" not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  primary key (organization_id, source_uid, scope, kind, name)
);
create index reference_target on setpoint.reference (scope, kind, name, organization_id);

-- How many resources of a kind an organization may have. `*` stands for every kind without a limit of its own. A row without
-- an organization is the default.
create table setpoint.quota (
  organization_id uuid,
  kind text collate "C" not null,
  most bigint not null check (most >= 0)
);
create unique index quota_kind on setpoint.quota (kind, organization_id) nulls not distinct;
insert into setpoint.quota (organization_id, kind, most) values (null, '*', 100000);

create function setpoint.quota_of(for_organization uuid, for_kind text) returns bigint
language sql stable
return (
  select q.most from setpoint.quota as q
  where q.kind in (for_kind, '*') and (q.organization_id = for_organization or q.organization_id is null)
  order by (q.organization_id is null), (q.kind = '*') limit 1
);

-- Whether more resources of a kind fit. Exact, and yet creates far from the limit do not wait for each other: they share a
-- lock, and whoever comes near the limit takes it alone. `near` is more than there can be resources under way at once.
create function setpoint.check_quota(for_organization uuid, for_kind text, more bigint, out most bigint, out used bigint)
language plpgsql as $$
declare
  near constant bigint := 20000;
  key constant integer := hashtext(for_organization::text || ' ' || for_kind);
begin
  most := setpoint.quota_of(for_organization, for_kind);
  if most is null then
    return;
  end if;
  used := setpoint.used_of(for_organization, for_kind);
  if used + more > most - 2 * near then
    perform pg_advisory_xact_lock(7305, key);
    used := setpoint.used_of(for_organization, for_kind);
    return;
  end if;
  perform pg_advisory_xact_lock_shared(7305, key);
  used := setpoint.used_of(for_organization, for_kind);
  if used + more > most - near then
    raise exception using errcode = '40001', message = 'the quota came near meanwhile';
  end if;
end
$$;
create function setpoint.used_of(for_organization uuid, for_kind text) returns bigint
language plpgsql volatile as $$
begin
  return (
    select coalesce(sum(c.count), 0) from setpoint.resource_count as c
    where c.organization_id = for_organization and c.kind = for_kind
  );
end
$$;

-- What a subject's status comes to, for lists and for those who watch. A table of its own: the indexes change with every heal.
create table setpoint.subject_summary (
  subject_id bigint primary key,
  organization_id uuid not null,
  resource_uid text collate "C" not null,
  scope text collate "C" not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  ready text not null default 'Unknown' check (ready in ('True', 'False', 'Unknown')),
  drifted boolean not null default false,
  held boolean not null default false,
  -- Counts the changes of the status.
  version bigint not null default 0,
  changed_at_ms bigint not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index subject_summary_resource on setpoint.subject_summary (resource_uid);
create index subject_summary_changed on setpoint.subject_summary (scope, kind, changed_at_ms, subject_id);
create index subject_summary_unready on setpoint.subject_summary (scope, kind, ready, name) where ready <> 'True';
create index subject_summary_drifted on setpoint.subject_summary (scope, kind, name) where drifted;
create index subject_summary_held on setpoint.subject_summary (scope, kind, name) where held;

-- What is there already is summed up by its next change; until then nothing is known of it here.
insert into setpoint.subject_summary (subject_id, organization_id, resource_uid, scope, kind, name, changed_at_ms)
select s.id, s.organization_id, s.resource_uid, r.scope, s.kind, s.name, setpoint.now_ms()
from setpoint.subject as s
join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid;

create table setpoint.idempotency_key (
  organization_id uuid,
  principal text collate "C" not null,
  key text collate "C" not null,
  fingerprint text not null,
  begun_at_ms bigint not null,
  -- Whoever began it may have died: from then on somebody else may try.
  running_until_ms bigint,
  status integer,
  headers json,
  body json
);
create unique index idempotency_key_key on setpoint.idempotency_key (principal, key, organization_id) nulls not distinct;
create index idempotency_key_age on setpoint.idempotency_key using brin (begun_at_ms);

create table setpoint.proposal (
  organization_id uuid not null,
  id text collate "C" not null,
  state text not null check (state in ('open', 'approved', 'rejected', 'applied')),
  author_name text not null,
  author_type text not null,
  reason text not null,
  changes json not null,
  -- Per change the revision it was computed from, and the plan of all of them.
  revisions bigint[] not null,
  plan json not null,
  digest text not null,
  proposed_at_ms bigint not null,
  decided_by text,
  decided_at_ms bigint,
  comment text,
  applied_at_ms bigint,
  primary key (organization_id, id)
);
create index proposal_order on setpoint.proposal (organization_id, proposed_at_ms desc, id desc);

-- The declarations of one resource, for history, rollback and "what changed meanwhile".
create index sealed_entry_uid on setpoint.sealed_entry (uid, position);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['resource_label', 'resource_count', 'reference', 'subject_summary', 'proposal'] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', tenant_table);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', tenant_table);
    execute format(
      'create policy tenant on setpoint.%I to setpoint_api, setpoint_engine '
      'using (array_position((select setpoint.tenants()), organization_id) is not null)',
      tenant_table
    );
  end loop;
end
$$;
grant select, insert, update, delete on setpoint.resource_label, setpoint.resource_count, setpoint.reference,
  setpoint.subject_summary to setpoint_api, setpoint_engine;
grant select, insert, update, delete on setpoint.proposal to setpoint_api;

-- A row of nobody in particular is written by administration alone: a default, a request that names no organization.
do $$
declare
  shared_table text;
begin
  foreach shared_table in array array['quota', 'idempotency_key'] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', shared_table);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', shared_table);
    execute format(
      'create policy tenant on setpoint.%I to setpoint_api '
      'using (array_position((select setpoint.tenants()), organization_id) is not null)',
      shared_table
    );
  end loop;
end
$$;
create policy platform on setpoint.quota for select to setpoint_api
  using ((select setpoint.tenants()) is not null and organization_id is null);
grant select on setpoint.quota to setpoint_api;
grant select, insert, update, delete on setpoint.idempotency_key to setpoint_api;

-- The engine tells when a resource is gone for good.
grant insert on setpoint.log_entry to setpoint_engine;
grant execute on all functions in schema setpoint to setpoint_api, setpoint_engine;
