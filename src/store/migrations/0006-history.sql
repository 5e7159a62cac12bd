-- The record behind `setpoint why`, and the sealed log behind watch, audit and webhooks. Both are cut by retention.

create table setpoint.change (
  organization_id uuid not null,
  id text collate "C" not null,
  subject_id bigint not null,
  resource_uid text collate "C" not null,
  permit_id text collate "C" not null,
  at_ms bigint not null,
  record json not null,
  -- Not known yet while the call is under way, and after a crash until the next look.
  outcome json,
  primary key (organization_id, id)
) with (fillfactor = 70);
create index change_resource on setpoint.change (resource_uid, at_ms);
create index change_age on setpoint.change using brin (at_ms);

create table setpoint.verdict (
  organization_id uuid not null,
  id bigint generated always as identity,
  subject_id bigint not null,
  resource_uid text collate "C" not null,
  at_ms bigint not null,
  verdict json not null
);
create index verdict_resource on setpoint.verdict (resource_uid, at_ms);
create index verdict_age on setpoint.verdict using brin (at_ms);

-- Committed and not sealed yet. Rows wait here for milliseconds.
create table setpoint.log_entry (
  id bigint generated always as identity primary key,
  organization_id uuid,
  type text not null,
  uid text,
  revision bigint,
  actor text not null,
  data json not null,
  at_ms bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

create table setpoint.sealed_entry (
  position bigint primary key,
  incarnation bigint not null,
  organization_id uuid,
  type text not null,
  uid text,
  revision bigint,
  actor text not null,
  data json not null,
  at_ms bigint not null,
  hash text not null
);
create index sealed_entry_organization on setpoint.sealed_entry (organization_id, position);

-- The end of the chain, and the point where retention cut it.
create table setpoint.log_head (
  only_row boolean primary key default true check (only_row),
  position bigint not null default 0,
  hash text not null default '',
  checkpoint_position bigint not null default 0,
  checkpoint_hash text not null default ''
) with (fillfactor = 25);
insert into setpoint.log_head default values;
