-- The operator's pool: accounts that organizations claim when they first make something there.
create table setpoint.pool_account (
  name text collate "C" primary key,
  provider text collate "C" not null,
  settings json not null,
  -- Where the credential is, at the machine that the engine runs on.
  credential_ref text not null,
  -- Where things may be made, in the provider's own names; empty: wherever the provider is.
  locations text[] collate "C" not null,
  calls_per_second double precision not null check (calls_per_second > 0),
  -- What the account is known by, kept from one claim to the next.
  fingerprint text,
  claimed_incarnation bigint,
  -- returned: it may be that something of somebody's is still there. It is free again when an operator says that it is empty.
  state text not null default 'free' check (state in ('free', 'claimed', 'returned')),
  -- Whose it is, or was last.
  organization_id uuid,
  account_id text collate "C",
  since_ms bigint not null,
  check ((state = 'claimed') = (account_id is not null)),
  check (state <> 'claimed' or organization_id is not null),
  check (state <> 'free' or organization_id is null)
);
create unique index pool_account_claim on setpoint.pool_account (organization_id, account_id) where account_id is not null;

-- Of an account that comes from the pool: which one it has, and where things may be made there. Without one: it waits for its claim.
alter table setpoint.account add column pool json;

alter table setpoint.pool_account enable row level security, force row level security;
create policy administration on setpoint.pool_account to setpoint_admin using (true);
-- The engine claims for the tenant that it acts for, whichever account is free.
create policy engine on setpoint.pool_account to setpoint_engine using ((select setpoint.tenants()) is not null);
grant select, update on setpoint.pool_account to setpoint_engine;
-- An organization can give back what it has, and sees nothing of its credential.
create policy tenant on setpoint.pool_account to setpoint_api
  using (array_position((select setpoint.tenants()), organization_id) is not null);
grant select (name, organization_id, account_id),
  update (state, account_id, since_ms, fingerprint, claimed_incarnation) on setpoint.pool_account to setpoint_api;

-- What happens in the pool is for whoever runs the platform, and no tenant's to read.
create or replace function setpoint.told_to_tenants(entry_type text) returns boolean
language sql immutable parallel safe
return split_part(entry_type, '.', 1) <> all (array['person', 'session', 'link', 'credential', 'pool']);
