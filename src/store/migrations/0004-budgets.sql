-- Budgets of calls and of deletes. The engine charges them across tenants.

create table setpoint.account_budget (
  account_id text collate "C" primary key,
  organization_id uuid not null,
  calls_per_second double precision not null check (calls_per_second > 0),
  tokens double precision not null,
  tokens_at_ms bigint not null,
  blocked_until_ms bigint not null default 0
) with (fillfactor = 50);

-- Refills the bucket by the time that passed and takes what may be taken. No row: there is no such account.
create function setpoint.take_calls(for_account text, wanted integer, for_person boolean)
returns table (taken integer, retry_in_ms bigint)
language plpgsql as $$
declare
  budget setpoint.account_budget;
  at_ms bigint;
  capacity double precision;
  reserve double precision;
  have double precision;
begin
  select * into budget from setpoint.account_budget as b where b.account_id = for_account for no key update;
  if not found then
    return;
  end if;
  at_ms := setpoint.now_ms();
  if budget.blocked_until_ms > at_ms then
    return query select 0, budget.blocked_until_ms - at_ms;
    return;
  end if;
  capacity := greatest(1, 2 * budget.calls_per_second);
  have := least(
    capacity,
    budget.tokens + (greatest(0, at_ms - budget.tokens_at_ms)::double precision * budget.calls_per_second) / 1000
  );
  -- A bucket that holds barely one call would never give it away if a fifth of it stayed reserved.
  reserve := case when for_person then 0 else least(capacity / 5, capacity - 1) end;
  taken := greatest(0, least(wanted, floor(have - reserve)::integer));
  have := have - taken;
  retry_in_ms := case when taken > 0 then 0 else ceil(((1 + reserve - have) * 1000) / budget.calls_per_second)::bigint end;
  update setpoint.account_budget as b set tokens = have, tokens_at_ms = at_ms where b.account_id = for_account;
  return next;
end
$$;

create table setpoint.delete_budget (
  level text not null check (level in ('account', 'organization', 'platform')),
  scope_key text collate "C" not null,
  -- Things of ours in this scope, counted at most once a minute; no time means not counted yet.
  owned bigint not null default 0,
  owned_at_ms bigint,
  primary key (level, scope_key)
) with (fillfactor = 50);

create table setpoint.delete_charge (
  level text not null,
  scope_key text collate "C" not null,
  minute bigint not null,
  count bigint not null,
  primary key (level, scope_key, minute)
) with (fillfactor = 50);

create function setpoint.owned_in(in_level text, in_scope_key text) returns bigint
language plpgsql as $$
begin
  return case in_level
    when 'account' then (select coalesce(sum(s.now_owned), 0) from setpoint.subject as s where s.account_id = in_scope_key)
    when 'organization' then
      (select coalesce(sum(s.now_owned), 0) from setpoint.subject as s where s.organization_id = in_scope_key::uuid)
    else (select coalesce(sum(s.now_owned), 0) from setpoint.subject as s)
  end;
end
$$;

-- All levels or none. The rows are locked in the order account, organization, platform, by everyone. Each command in
-- here has a snapshot of its own, taken after the lock was had: one statement with a locking subquery would add up the
-- charges as they were before it waited.
create function setpoint.reserve_deletes(
  for_subject bigint, for_holder text, for_shard integer, for_epoch bigint, ungranted bigint, granted bigint, limits json
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
  perform pg_advisory_xact_lock_shared(7301, for_shard);
  select * into acting from setpoint.subject as s where s.id = for_subject;
  perform 1 from setpoint.shard as l
  where l.shard = for_shard and l.holder = for_holder and l.epoch = for_epoch and l.until_ms > setpoint.now_ms()
    and l.shard = acting.shard;
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

create function setpoint.budget_key(acting setpoint.subject, level_name text) returns text
language sql immutable
return case level_name
  when 'account' then acting.account_id
  when 'organization' then acting.organization_id::text
  else 'platform'
end;

-- The same formula as the engine's: min(count, max(atLeast, floor(percent of owned))).
create function setpoint.allowed_deletes(limits json, owned bigint) returns bigint
language sql immutable
return least(
  (limits ->> 'count')::double precision,
  greatest(
    (limits ->> 'atLeast')::double precision,
    floor(((limits ->> 'percent')::double precision * owned) / 100)
  )
)::bigint;
