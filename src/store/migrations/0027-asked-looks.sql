-- When somebody last asked for a look: no listing that was begun before it will do.
alter table setpoint.subject add column asked_at_ms bigint;
