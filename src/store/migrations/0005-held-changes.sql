-- What waits for a person, and what a person allowed.

create table setpoint.held_change (
  organization_id uuid not null,
  id text collate "C" not null,
  level text not null check (level in ('subject', 'account', 'organization', 'platform')),
  scope_key text collate "C" not null,
  state text not null check (state in ('open', 'approved', 'rejected', 'withdrawn')),
  digest text not null,
  guard text not null,
  verdict json not null,
  -- Who declared or deleted what is in it; four eyes keeps them from approving it.
  authors text[] not null,
  opened_at_ms bigint not null,
  decided_by text,
  decided_at_ms bigint,
  -- Approved or withdrawn since then; retention counts from here.
  closed_at_ms bigint,
  primary key (organization_id, id)
);
-- One current held change per limit and tenant: tenants never see each other's items, not even under a platform limit.
create unique index held_change_current on setpoint.held_change (scope_key, level, organization_id)
  where state in ('open', 'rejected');

create table setpoint.held_item (
  organization_id uuid not null,
  held_change_id text collate "C" not null,
  position bigint generated always as identity,
  subject_id bigint not null,
  -- Kept here, so that a decided change still reads well when its subject is gone.
  subject_kind text not null,
  subject_name text not null,
  key text not null,
  action text not null,
  external_id text,
  digest text not null,
  differences json not null,
  reason text not null,
  primary key (organization_id, held_change_id, position)
);
create index held_item_subject on setpoint.held_item (subject_id);

create table setpoint.item_grant (
  organization_id uuid not null,
  id text collate "C" not null,
  held_change_id text collate "C" not null,
  subject_id bigint not null,
  item_digest text not null,
  approver text not null,
  expires_at_ms bigint not null,
  used_at_ms bigint,
  primary key (organization_id, id)
) with (fillfactor = 80);
create index item_grant_subject on setpoint.item_grant (subject_id);
