-- What people and programs declare. Ids other than the organization's are text: whoever makes them decides their form.
--
-- Keys lead with the tenant. Further indexes lead with what they are for, and statements that use them compare the
-- tenant by `is not distinct from`, which no index serves: so there is one index for each lookup. With two to choose
-- from, a plan made while a table was small would as likely read all rows of a tenant, for as long as it is kept.

create table setpoint.organization (
  id uuid primary key,
  name text not null
);

create table setpoint.scope (
  organization_id uuid not null,
  scope text collate "C" not null,
  parent text collate "C" not null,
  -- From the platform down to the scope itself. A scope never moves, so resources keep a copy.
  path text[] collate "C" not null,
  primary key (organization_id, scope)
);

create table setpoint.account (
  organization_id uuid not null,
  id text collate "C" not null,
  name text not null,
  provider text not null,
  settings json not null,
  -- Where the credential is; its value never passes through the database.
  credential_ref text,
  fingerprint text,
  claimed_incarnation bigint,
  primary key (organization_id, id)
);

create table setpoint.resource (
  organization_id uuid not null,
  uid text collate "C" not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  scope text collate "C" not null,
  path text[] collate "C" not null,
  spec json not null,
  labels jsonb not null,
  author_name text not null,
  author_type text not null check (author_type in ('person', 'machine', 'assistant')),
  mode text check (mode in ('observe', 'propose', 'enforce')),
  protect boolean,
  generation bigint not null,
  revision bigint not null,
  declared_at_ms bigint not null,
  -- The tombstone: who asked for the deletion, when, and how.
  deletion json,
  -- JSON pointer of each top-level field of the spec, to who owns it.
  field_owners jsonb not null,
  primary key (organization_id, uid)
) with (fillfactor = 80);
create unique index resource_name on setpoint.resource (scope, kind, name, organization_id);

-- "The resource that is named here is computed from the source."
create table setpoint.link (
  organization_id uuid not null,
  source_uid text collate "C" not null,
  scope text collate "C" not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  primary key (organization_id, source_uid, scope, kind, name)
);
create index link_target on setpoint.link (scope, kind, name, organization_id);

-- A row without an organization is the platform's and speaks for every tenant.
create table setpoint.policy (
  organization_id uuid,
  scope text collate "C" not null,
  body json not null,
  four_eyes boolean not null
);
create unique index policy_scope on setpoint.policy (scope, organization_id) nulls not distinct;

create table setpoint.pause (
  id text collate "C" primary key,
  organization_id uuid,
  scope text collate "C" not null,
  level text not null check (level in ('deletes', 'writes', 'all')),
  author text not null,
  reason text not null,
  expires_at_ms bigint not null
);
create index pause_scope on setpoint.pause (scope);
