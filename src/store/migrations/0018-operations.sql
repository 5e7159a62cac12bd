-- Long work: operations, the journal of their steps, and who among the workers runs them.

-- One run of a pipeline. Of one resource at most one is live.
create table setpoint.operation (
  organization_id uuid not null,
  id text collate "C" not null,
  pipeline text not null,
  version integer not null,
  subject_id bigint not null,
  resource_uid text collate "C" not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  account_id text collate "C",
  shard smallint not null,
  -- 0 person, 1 event, 2 first look, 3 resync.
  priority smallint not null,
  input json not null,
  author_name text not null,
  author_type text not null,
  created_at_ms bigint not null,
  started_at_ms bigint,
  ended_at_ms bigint,
  state text not null check (state in ('running', 'held', 'attention', 'succeeded', 'not-run', 'cancelled')),
  direction text not null check (direction in ('forward', 'back')),
  step text,
  attempts integer not null default 0,
  message text not null,
  cancel json,
  due_at_ms bigint,
  revision bigint not null default 1,
  -- Entries of the journal.
  journal_length integer not null default 0,
  primary key (organization_id, id)
) with (fillfactor = 60);
create unique index operation_live on setpoint.operation (organization_id, resource_uid) where ended_at_ms is null;
create index operation_resource on setpoint.operation (organization_id, resource_uid, id);
create index operation_ended on setpoint.operation using brin (ended_at_ms);

-- The journal: only ever appended to. Ids and hashes, never secrets.
create table setpoint.step (
  organization_id uuid not null,
  operation_id text collate "C" not null,
  place integer not null,
  step text not null,
  version integer not null,
  direction text not null,
  result text not null check (result in ('done', 'skipped', 'begun', 'failed', 'noted', 'again', 'moved')),
  at_ms bigint not null,
  -- Attempt, input, output, message, code and how long it took, as far as there are any.
  body json not null,
  primary key (organization_id, operation_id, place)
);

-- The queue. Ids only: workers read it across tenants. A row as long as there is something to do at some time.
create table setpoint.operation_due (
  operation_id text collate "C" primary key,
  organization_id uuid not null,
  subject_id bigint not null,
  shard smallint not null,
  account_id text collate "C",
  priority smallint not null,
  due_at_ms bigint not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index operation_due_order on setpoint.operation_due (shard, due_at_ms);

-- Leases of the shards of operations among workers, as schedulers have them of the shards of subjects.
create table setpoint.worker_shard (
  shard smallint primary key,
  holder text,
  epoch bigint not null default 0,
  until_ms bigint not null default 0,
  quiet boolean not null default true,
  quiet_next boolean not null default true
) with (fillfactor = 25);
insert into setpoint.worker_shard (shard) select generate_series(0, 63);

create table setpoint.worker_holder (
  holder text collate "C" primary key,
  until_ms bigint not null,
  -- The advisory lock (7310, presence) that its connection holds while its process lives; none: only time tells.
  presence integer
) with (fillfactor = 50);
create sequence setpoint.worker_presence as integer cycle;

-- Whether a holder's connection is gone. Then its process died, or can no longer reach the database, and cannot take a
-- permit: what it leased need not wait until that has run out.
create function setpoint.worker_is_gone(of_holder text) returns boolean
language plpgsql as $$
declare
  number integer;
begin
  select h.presence into number from setpoint.worker_holder as h where h.holder = of_holder;
  if number is null then
    return false;
  end if;
  return pg_try_advisory_xact_lock_shared(7310, number);
end
$$;

-- Takes free and expired shards, and those of workers that are gone, lowest first; answers with all that this holder has.
create function setpoint.take_worker_shards(for_holder text, wanted integer, lease_ms bigint, for_presence integer)
returns table (shard smallint, epoch bigint, quiet boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  candidate record;
  have bigint;
begin
  perform pg_advisory_xact_lock(7300, 1);
  insert into setpoint.worker_holder as h (holder, until_ms, presence)
  values (for_holder, setpoint.now_ms() + lease_ms, for_presence)
  on conflict (holder) do update
  set until_ms = greatest(h.until_ms, excluded.until_ms), presence = excluded.presence;
  select count(*) into have from setpoint.worker_shard as l where l.holder = for_holder and l.until_ms > setpoint.now_ms();
  for candidate in
    select l.shard, l.holder from setpoint.worker_shard as l
    where l.holder is null or l.until_ms <= setpoint.now_ms()
      or (l.holder <> for_holder and setpoint.worker_is_gone(l.holder))
    order by l.shard
  loop
    exit when have >= wanted;
    -- Writes of operations hold this lock shared from their lease check to their commit.
    perform pg_advisory_xact_lock(7302, candidate.shard);
    update setpoint.worker_shard as l
    set holder = for_holder, epoch = l.epoch + 1, until_ms = setpoint.now_ms() + lease_ms,
        quiet = l.quiet_next, quiet_next = true
    where l.shard = candidate.shard and l.holder is not distinct from candidate.holder;
    if found then
      have := have + 1;
    end if;
  end loop;
  delete from setpoint.worker_holder as h
  where h.holder <> for_holder and (h.until_ms <= setpoint.now_ms() or setpoint.worker_is_gone(h.holder))
    and not exists (select from setpoint.worker_shard as l where l.holder = h.holder and l.until_ms > setpoint.now_ms());
  return query
    select l.shard, l.epoch, l.quiet from setpoint.worker_shard as l
    where l.holder = for_holder and l.until_ms > setpoint.now_ms() order by l.shard;
end
$$;

-- Deletes of operations are charged to the same budgets; only whose lease is asked differs.
create function setpoint.reserve_deletes(
  for_subject bigint, for_holder text, for_shard integer, for_epoch bigint, ungranted bigint, granted bigint, limits json,
  for_operation text
) returns json
language plpgsql as $$
declare
  acting setpoint.subject;
  at_ms bigint;
  at_minute bigint;
  level_name text;
  key text;
  budget setpoint.delete_budget;
  used bigint;
  allowed bigint;
  passes boolean := true;
  levels json[] := '{}';
  charge bigint;
begin
  perform pg_advisory_xact_lock_shared(case when for_operation is null then 7301 else 7302 end, for_shard);
  select * into acting from setpoint.subject as s where s.id = for_subject;
  if for_operation is null then
    perform 1 from setpoint.shard as l
    where l.shard = for_shard and l.holder = for_holder and l.epoch = for_epoch and l.until_ms > setpoint.now_ms()
      and l.shard = acting.shard;
  else
    perform 1 from setpoint.worker_shard as l
    join setpoint.operation_due as d on d.shard = l.shard
    where d.operation_id = for_operation and d.subject_id = acting.id
      and l.shard = for_shard and l.holder = for_holder and l.epoch = for_epoch and l.until_ms > setpoint.now_ms();
  end if;
  if not found then
    return json_build_object('current', false, 'ungrantedPass', false, 'levels', '[]'::json);
  end if;
  foreach level_name in array array['account', 'organization', 'platform'] loop
    key := setpoint.budget_key(acting, level_name);
    continue when key is null;
    insert into setpoint.delete_budget (level, scope_key) values (level_name, key) on conflict do nothing;
    select * into budget from setpoint.delete_budget as b where b.level = level_name and b.scope_key = key
    for no key update;
    at_ms := setpoint.now_ms();
    at_minute := at_ms / 60000;
    if budget.owned_at_ms is null or at_ms - budget.owned_at_ms > 60000 then
      update setpoint.delete_budget as b set owned = setpoint.owned_in(level_name, key), owned_at_ms = at_ms
      where b.level = level_name and b.scope_key = key returning b.owned into budget.owned;
    end if;
    select coalesce(sum(c.count), 0) into used from setpoint.delete_charge as c
    where c.level = level_name and c.scope_key = key and c.minute > at_minute - 60;
    allowed := setpoint.allowed_deletes(limits -> level_name, budget.owned);
    passes := passes and used + granted + ungranted <= allowed;
    levels := levels
      || json_build_object('level', level_name, 'used', used, 'owned', budget.owned, 'allowed', allowed);
  end loop;
  passes := passes or ungranted = 0;
  charge := granted + case when passes then ungranted else 0 end;
  if charge > 0 then
    foreach level_name in array array['account', 'organization', 'platform'] loop
      key := setpoint.budget_key(acting, level_name);
      continue when key is null;
      delete from setpoint.delete_charge as c
      where c.level = level_name and c.scope_key = key and c.minute <= at_minute - 60;
      insert into setpoint.delete_charge as c (level, scope_key, minute, count)
      values (level_name, key, at_minute, charge)
      on conflict (level, scope_key, minute) do update set count = c.count + excluded.count;
    end loop;
  end if;
  return json_build_object('current', true, 'ungrantedPass', passes, 'levels', array_to_json(levels));
end
$$;

create or replace function setpoint.reserve_deletes(
  for_subject bigint, for_holder text, for_shard integer, for_epoch bigint, ungranted bigint, granted bigint, limits json
) returns json
language sql
return setpoint.reserve_deletes(for_subject, for_holder, for_shard, for_epoch, ungranted, granted, limits, null);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['operation', 'step'] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', tenant_table);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', tenant_table);
    execute format(
      'create policy tenant on setpoint.%I to setpoint_api, setpoint_engine '
      'using (array_position((select setpoint.tenants()), organization_id) is not null)',
      tenant_table
    );
    execute format(
      'grant select, insert, update, delete on setpoint.%I to setpoint_api, setpoint_engine', tenant_table
    );
  end loop;
end
$$;
alter table setpoint.operation_due enable row level security, force row level security;
create policy administration on setpoint.operation_due to setpoint_admin using (true);
create policy engine on setpoint.operation_due to setpoint_engine using (true);
create policy tenant on setpoint.operation_due to setpoint_api
  using (array_position((select setpoint.tenants()), organization_id) is not null);
grant select, insert, update, delete on setpoint.operation_due to setpoint_api, setpoint_engine;
grant select, insert, update, delete on setpoint.worker_shard, setpoint.worker_holder to setpoint_engine;
grant usage on sequence setpoint.worker_presence to setpoint_engine;
grant execute on all functions in schema setpoint to setpoint_api, setpoint_engine;
