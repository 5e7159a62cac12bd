-- After a restore nobody is a member before an operator says so: whoever was removed since the backup would be back.
alter table setpoint.membership add column confirmed boolean not null default true;
