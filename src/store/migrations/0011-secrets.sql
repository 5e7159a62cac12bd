-- Secrets, sealed three times over: a value with a key of its own, that one with its tenant's, and that one with the root
-- key, which is not in here. So a copy of the database opens nothing, and a change of the root key moves few rows.

create table setpoint.tenant_key (
  organization_id uuid not null,
  version bigint not null,
  sealed_key text not null,
  made_at_ms bigint not null,
  primary key (organization_id, version)
);

create table setpoint.secret (
  organization_id uuid not null,
  -- What it belongs to: `secret/NAME`, `channel/ID`; and which field of it.
  owner text collate "C" not null,
  field text collate "C" not null,
  -- Part of what the seal binds to: an earlier value cannot be put back in its place.
  version bigint not null,
  key_version bigint not null,
  sealed_key text not null,
  sealed_value text not null,
  changed_at_ms bigint not null,
  changed_by text not null,
  primary key (organization_id, owner, field)
);
create index secret_key on setpoint.secret (key_version, organization_id);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['tenant_key', 'secret'] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', tenant_table);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', tenant_table);
    execute format(
      'create policy tenant on setpoint.%I to setpoint_api '
      'using (array_position((select setpoint.tenants()), organization_id) is not null)',
      tenant_table
    );
    execute format('grant select, insert, update, delete on setpoint.%I to setpoint_api', tenant_table);
  end loop;
end
$$;

-- The public halves of the keys that credentials of accounts are sealed to. The other half is a file of the scheduler's.
create table setpoint.engine_key (
  id text collate "C" primary key,
  public_key text not null,
  made_at_ms bigint not null,
  is_current boolean not null
);
create unique index engine_key_current on setpoint.engine_key (is_current) where is_current;
alter table setpoint.engine_key enable row level security, force row level security;
create policy administration on setpoint.engine_key to setpoint_admin using (true);
create policy anybody on setpoint.engine_key for select to setpoint_api using (true);
grant select on setpoint.engine_key to setpoint_api;

-- `credential_ref` says where the credential is, or is the credential itself, sealed to the engine. The optional second one
-- can only look; where it is there, acting alone uses the first.
alter table setpoint.account add column read_credential_ref text;

-- Each entry names the entry before it of the same tenant, under its seal: so a tenant can check its own part of the log
-- without the others'. The hash of the entry before, whosesoever, is kept for the same reason.
alter table setpoint.sealed_entry
  add column previous_hash text not null default '',
  add column tenant_previous_position bigint,
  add column tenant_previous_hash text;
