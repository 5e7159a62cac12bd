-- When people were told that nobody has decided in time; once.
alter table setpoint.held_change add column overdue_told_at_ms bigint;
create index held_change_waiting on setpoint.held_change (opened_at_ms) where state = 'open' and overdue_told_at_ms is null;
