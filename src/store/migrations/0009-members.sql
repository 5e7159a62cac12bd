-- Who belongs to which organization, and what they may do there.

-- Two axes that have nothing to do with each other: what the platform thinks of an organization, and whether it is in
-- use. Organizations that were there before this are in order.
alter table setpoint.organization
  add column verification text not null default 'verified'
    check (verification in ('in_setup', 'verified', 'pending', 'blocked', 'waitlist')),
  add column state text not null default 'active' check (state in ('active', 'inactive', 'deleted')),
  -- What whoever set the status last said about it.
  add column status_reason text not null default '',
  add column created_by text not null default 'setpoint',
  add column created_at_ms bigint;

-- Roles that an organization made itself. Those that Setpoint brings are in the code.
create table setpoint.role (
  organization_id uuid not null,
  name text collate "C" not null,
  description text not null,
  rules json not null,
  revision bigint not null,
  changed_by text not null,
  changed_at_ms bigint not null,
  primary key (organization_id, name)
);

-- Losing the last role does not end a membership.
create table setpoint.membership (
  organization_id uuid not null,
  person_id text collate "C" not null,
  added_by text not null,
  added_at_ms bigint not null,
  primary key (organization_id, person_id)
);
create index membership_person on setpoint.membership (person_id);

create table setpoint.role_binding (
  organization_id uuid not null,
  id text collate "C" not null,
  person_id text collate "C" not null,
  scope text collate "C" not null,
  role text collate "C" not null,
  made_by text not null,
  made_at_ms bigint not null,
  primary key (organization_id, id)
);
create unique index role_binding_person on setpoint.role_binding (person_id, scope, role, organization_id);
create index role_binding_role on setpoint.role_binding (role, organization_id);
create index role_binding_scope on setpoint.role_binding (scope, organization_id);

-- A membership that waits for its person. The secret itself is nowhere.
create table setpoint.invite (
  organization_id uuid not null,
  id text collate "C" not null,
  email text collate "C" not null,
  secret_hash text collate "C" not null,
  -- Role and scope of each binding that comes with it.
  bindings json not null,
  invited_by text not null,
  -- Null: made with the operator's file. Otherwise it gives no more than this person has when it is accepted.
  inviter_id text collate "C",
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  accepted_at_ms bigint,
  accepted_by text,
  revoked_at_ms bigint,
  primary key (organization_id, id)
);
create unique index invite_secret on setpoint.invite (secret_hash);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['role', 'membership', 'role_binding', 'invite'] loop
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

-- Whoever puts a resource into a scope keeps it from being deleted until the commit, and whoever deletes it first keeps
-- resources out: otherwise one could end up where nobody can see it. (A lock of the server's memory: nothing is written.)
create function setpoint.require_scopes() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7303, ordered.key)
  from (select distinct hashtext(m.organization_id || ' ' || m.scope) as key from made as m order by key) as ordered;
  if exists (
    select from made as m where not exists (
      select from setpoint.scope as s where s.organization_id = m.organization_id and s.scope = m.scope)
  ) then
    perform setpoint.refuse('SP003', 'the scope was deleted at the same moment');
  end if;
  return null;
end
$$;
create trigger resource_scope after insert on setpoint.resource referencing new table as made
  for each statement execute function setpoint.require_scopes();
grant execute on function setpoint.require_scopes() to setpoint_api, setpoint_engine;
