-- Who may touch what. Row-level security is the second wall behind a store whose every method takes a tenant.

-- The tenants this transaction acts for. Neither an unset nor an empty setting may pass for "no rows": a reconciler
-- would take that for "nothing is declared". On a pooled connection a setting that was once made reads as ''.
create function setpoint.tenants() returns uuid[]
language plpgsql stable parallel safe as $$
declare
  named text := current_setting('setpoint.organizations', true);
begin
  if named is null or named = '' then
    raise exception using errcode = 'SP002', message = 'this transaction names no tenant';
  end if;
  return named::uuid[];
end
$$;

grant usage on schema setpoint to setpoint_api, setpoint_engine;
grant execute on all functions in schema setpoint to setpoint_api, setpoint_engine;

-- Tables of one tenant each. The subselect is evaluated once per statement, at the latest for the first row of any
-- tenant that it comes across: a statement without a tenant fails, or there was nothing there to be hidden. It is not
-- written as `organization_id = any (...)`, because that would become a key of the index scans, and hundreds of tenants
-- in a batch would be sorted anew for each row that is looked up by its own key anyway.
do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array[
    'scope', 'account', 'resource', 'link', 'subject_state', 'subject_observation', 'claim', 'held_change', 'held_item',
    'item_grant', 'change', 'verdict'
  ] loop
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

alter table setpoint.organization enable row level security, force row level security;
create policy administration on setpoint.organization to setpoint_admin using (true);
create policy tenant on setpoint.organization to setpoint_api, setpoint_engine
  using (array_position((select setpoint.tenants()), id) is not null);
grant select, insert, update, delete on setpoint.organization to setpoint_api;

-- What the platform says of all tenants is visible to each of them; only administration writes it.
do $$
declare
  shared_table text;
begin
  foreach shared_table in array array['policy', 'pause', 'log_entry', 'sealed_entry'] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', shared_table);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', shared_table);
    execute format(
      'create policy tenant on setpoint.%I to setpoint_api, setpoint_engine '
      'using (array_position((select setpoint.tenants()), organization_id) is not null)',
      shared_table
    );
    execute format(
      'create policy platform on setpoint.%I for select to setpoint_api, setpoint_engine '
      'using ((select setpoint.tenants()) is not null and organization_id is null)',
      shared_table
    );
  end loop;
end
$$;
grant select on setpoint.policy, setpoint.pause to setpoint_engine;
grant select, insert, update, delete on setpoint.policy, setpoint.pause to setpoint_api;
grant insert on setpoint.log_entry to setpoint_api;
grant select on setpoint.sealed_entry to setpoint_api;

-- Scheduling and budgets: the engine sees all tenants, the API one.
do $$
declare
  engine_table text;
begin
  foreach engine_table in array array['subject', 'subject_due', 'account_budget'] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', engine_table);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', engine_table);
    execute format('create policy engine on setpoint.%I to setpoint_engine using (true)', engine_table);
    execute format(
      'create policy tenant on setpoint.%I to setpoint_api '
      'using (array_position((select setpoint.tenants()), organization_id) is not null)',
      engine_table
    );
    execute format(
      'grant select, insert, update, delete on setpoint.%I to setpoint_api, setpoint_engine', engine_table
    );
  end loop;
end
$$;

-- Of nobody in particular.
grant select, insert, update, delete on setpoint.shard, setpoint.shard_holder, setpoint.delete_budget, setpoint.delete_charge,
  setpoint.idle_cycle, setpoint.freshness, setpoint.shard_seen to setpoint_engine;
grant select on setpoint.installation, setpoint.migration to setpoint_api, setpoint_engine;
grant select on setpoint.shard_seen, setpoint.log_head to setpoint_api;
