-- Where the outside things of a subject are, where its kind says so: what goes bad there together is counted by itself.
alter table setpoint.subject add column site text;
create index subject_site on setpoint.subject (account_id, site) where site is not null;
