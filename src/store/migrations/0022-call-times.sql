-- How long the last calls of an account took, newest first, written when the next calls are taken: no commit of its own.
alter table setpoint.account_budget
  add column took_ms integer[] not null default '{}',
  add column took_at_ms bigint;

-- As before, and with what the calls since the last block took. Who runs the version before calls the function of three.
create function setpoint.take_calls(for_account text, wanted integer, for_person boolean, newer_took_ms integer[])
returns table (taken integer, retry_in_ms bigint)
language plpgsql as $$
begin
  select given.taken, given.retry_in_ms into taken, retry_in_ms
  from setpoint.take_calls(for_account, wanted, for_person) as given;
  if not found then
    return;
  end if;
  if taken > 0 and cardinality(newer_took_ms) > 0 then
    update setpoint.account_budget as b
    set took_ms = (
        array(select took from unnest(newer_took_ms) with ordinality as newer (took, place) order by place desc)
        || b.took_ms
      )[1:64],
      took_at_ms = setpoint.now_ms()
    where b.account_id = for_account;
  end if;
  return next;
end
$$;
grant execute on function setpoint.take_calls(text, integer, boolean, integer[]) to setpoint_engine;

-- When each list of an account was last read whole is for the organization whose account it is to see.
alter table setpoint.freshness enable row level security, force row level security;
create policy administration on setpoint.freshness to setpoint_admin using (true);
create policy engine on setpoint.freshness to setpoint_engine using (true);
create policy tenant on setpoint.freshness for select to setpoint_api using (
  exists (
    select from setpoint.account as a
    where a.id = freshness.account_id and array_position((select setpoint.tenants()), a.organization_id) is not null
  )
);
grant select on setpoint.freshness to setpoint_api;
