-- Operations are read by whoever may read their resource, also when that is gone: its scope stays with them.
alter table setpoint.operation add column scope text collate "C";
alter table setpoint.operation no force row level security;
alter table setpoint.resource no force row level security;
update setpoint.operation as o set scope = coalesce(
  (select r.scope from setpoint.resource as r where r.organization_id = o.organization_id and r.uid = o.resource_uid),
  'organization/' || o.organization_id);
alter table setpoint.operation force row level security;
alter table setpoint.resource force row level security;
alter table setpoint.operation alter column scope set not null;

-- When people were told that it holds its resource for long; once.
alter table setpoint.operation add column hold_told_at_ms bigint;
create index operation_holding on setpoint.operation (created_at_ms) where ended_at_ms is null and hold_told_at_ms is null;
