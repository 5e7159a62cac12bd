-- What machines prove themselves with. The value is never here: a token has 256 random bits, so its plain hash is enough.

create table setpoint.credential (
  id text collate "C" primary key,
  -- Null for a personal token: it is its maker's, wherever they are a member.
  organization_id uuid,
  type text not null check (type in (
    'personal-token', 'service-token', 'workspace-key', 'agent-enrolment', 'assistant-token')),
  name text not null,
  hash text collate "C" not null unique,
  -- Where it was made: `platform` for a personal one, else the organization, or the workspace it is for.
  scope text collate "C" not null,
  -- What it may do: bindings as in the access port. Null: whatever its maker may do.
  bindings json,
  -- Null where the operator of this machine made it.
  person_id text collate "C",
  maker text not null,
  made_at_ms bigint not null,
  expires_at_ms bigint not null check (expires_at_ms > made_at_ms),
  last_used_at_ms bigint,
  -- Only enrolment: it works once.
  redeemed_at_ms bigint,
  revoked_at_ms bigint,
  revoked_by text,
  check ((organization_id is null) = (type = 'personal-token'))
);
create index credential_scope on setpoint.credential (scope, organization_id);
create index credential_person on setpoint.credential (person_id);

alter table setpoint.credential enable row level security, force row level security;
create policy administration on setpoint.credential to setpoint_admin using (true);
create policy tenant on setpoint.credential to setpoint_api
  using (array_position((select setpoint.tenants()), organization_id) is not null);
grant select, insert, update on setpoint.credential to setpoint_api;

-- By what, from where and why an entry came about, and the digests of what was before and after.
alter table setpoint.log_entry add column trail json;
alter table setpoint.sealed_entry add column trail json;
