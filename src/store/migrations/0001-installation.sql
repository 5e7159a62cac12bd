-- What an installation is, and the store's own clock.

-- Every deadline is kept and judged by this clock, so that skewed processes cannot disagree on a lease. Tests set the
-- time; the setting lasts for their transaction only.
create function setpoint.now_ms() returns bigint
language sql volatile parallel safe
return coalesce(
  nullif(current_setting('setpoint.now_ms', true), '')::bigint,
  floor(extract(epoch from clock_timestamp()) * 1000)::bigint
);

-- Ends a transaction with an error the store understands by its code.
create function setpoint.refuse(code text, message text) returns void
language plpgsql as $$
begin
  raise exception using errcode = code, message = message;
end
$$;

create table setpoint.installation (
  only_row boolean primary key default true check (only_row),
  id text not null default gen_random_uuid()::text,
  -- Raised by a restore: a copy of the database cannot act on the original's accounts.
  incarnation bigint not null default 1 check (incarnation >= 1)
);
insert into setpoint.installation default values;
