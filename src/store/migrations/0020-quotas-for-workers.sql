-- An operation is admitted within the quota of its organization.
create policy tenant_engine on setpoint.quota for select to setpoint_engine
  using (array_position((select setpoint.tenants()), organization_id) is not null);
create policy platform_engine on setpoint.quota for select to setpoint_engine
  using ((select setpoint.tenants()) is not null and organization_id is null);
grant select on setpoint.quota to setpoint_engine;
