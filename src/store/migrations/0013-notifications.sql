-- Plans that are not carried out yet, what people decide about the rules themselves, and whom to tell.

-- What a cycle wanted and did not do. There is a row only while something is left to do, so that a heal never touches it
-- and what differs is found without looking at what does not.
create table setpoint.subject_plan (
  organization_id uuid not null,
  subject_id bigint not null,
  -- Since when something differs; the plan itself may be younger.
  since_ms bigint not null,
  at_ms bigint not null,
  -- Counts, guards and the fields that differ: what lists and groups need of it.
  summary json not null,
  plan json not null,
  primary key (organization_id, subject_id)
) with (fillfactor = 70);
create index subject_plan_age on setpoint.subject_plan (organization_id, since_ms, subject_id);

-- Each policy that was ever set, with who set it.
alter table setpoint.policy add column version bigint not null default 1;
create table setpoint.policy_version (
  organization_id uuid,
  scope text collate "C" not null,
  version bigint not null,
  body json not null,
  author text not null,
  reason text,
  at_ms bigint not null
);
create unique index policy_version_scope on setpoint.policy_version (scope, organization_id, version) nulls not distinct;

-- What was said when it was decided.
alter table setpoint.held_change add column comment text;

-- A looser policy or the end of a pause that waits for a person. The same inbox as held changes of plans.
create table setpoint.governance_change (
  id text collate "C" primary key,
  -- None: it concerns the platform.
  organization_id uuid,
  scope text collate "C" not null,
  type text not null check (type in ('policy', 'pause-end')),
  state text not null check (state in ('open', 'approved', 'rejected', 'withdrawn')),
  digest text not null,
  verdict json not null,
  differences json not null,
  -- The policy that is asked for, or the pause.
  body json not null,
  base_version bigint not null,
  author text not null,
  author_type text not null,
  reason text,
  opened_at_ms bigint not null,
  expires_at_ms bigint not null,
  decided_by text,
  decided_at_ms bigint,
  comment text
);
create unique index governance_change_current on setpoint.governance_change (digest) where state = 'open';
create index governance_change_place on setpoint.governance_change (organization_id, opened_at_ms);

-- Where an organization is told.
create table setpoint.webhook_endpoint (
  organization_id uuid not null,
  id text collate "C" not null,
  url text not null,
  description text not null,
  events text[] not null,
  state text not null check (state in ('enabled', 'disabled')),
  -- Sealed; both sign for a day after a new one was made.
  secret text not null,
  previous_secret text,
  previous_until_ms bigint,
  created_by text not null,
  created_at_ms bigint not null,
  -- Since when nothing arrived; none while it works.
  failing_since_ms bigint,
  disabled_reason text,
  primary key (organization_id, id)
);
create table setpoint.notification_email (
  organization_id uuid not null,
  address text collate "C" not null,
  added_by text not null,
  added_at_ms bigint not null,
  primary key (organization_id, address)
);

-- One cause within one window, counted. Without an organization it concerns all of them.
create table setpoint.notification (
  id text collate "C" primary key,
  organization_id uuid,
  type text not null,
  cause text not null,
  count bigint not null,
  data json not null,
  opened_at_ms bigint not null,
  tell_at_ms bigint not null,
  told_at_ms bigint
);
create unique index notification_gathering on setpoint.notification (cause, organization_id) nulls not distinct
  where told_at_ms is null;
create index notification_organization on setpoint.notification (organization_id, opened_at_ms);

-- One message to one place, until it arrived or was given up.
create table setpoint.notification_delivery (
  organization_id uuid not null,
  id text collate "C" not null,
  notification_id text collate "C",
  channel text not null check (channel in ('webhook', 'email')),
  -- The endpoint's id, or the address.
  target text collate "C" not null,
  type text not null,
  body text not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_try_at_ms bigint,
  created_at_ms bigint not null,
  ended_at_ms bigint,
  answers json not null default '[]',
  primary key (organization_id, id)
);
create index notification_delivery_due on setpoint.notification_delivery (next_try_at_ms) where state = 'pending';
create index notification_delivery_target on setpoint.notification_delivery (organization_id, target, created_at_ms);

-- How far the log has been read for people.
create table setpoint.notification_cursor (
  only_row boolean primary key default true check (only_row),
  incarnation bigint not null,
  position bigint not null
) with (fillfactor = 25);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array[
    'subject_plan', 'policy_version', 'governance_change', 'webhook_endpoint', 'notification_email', 'notification',
    'notification_delivery'
  ] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', tenant_table);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', tenant_table);
    execute format(
      'create policy tenant on setpoint.%I to setpoint_api, setpoint_engine '
      'using (array_position((select setpoint.tenants()), organization_id) is not null)',
      tenant_table
    );
    execute format('grant select, insert, update, delete on setpoint.%I to setpoint_api', tenant_table);
  end loop;
end
$$;
grant select, insert, update, delete on setpoint.subject_plan to setpoint_engine;
-- Stalls, recoveries and what began to wait are told in the transaction that records them.
grant insert on setpoint.log_entry to setpoint_engine;
