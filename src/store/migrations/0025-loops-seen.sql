-- Since when every subject of a kind in a shard that does not fail was looked at: a loop of a minute must not read as old as a loop
-- of half an hour that happens to share its shard. What is known of whole shards stays for what runs beside this version.
create table setpoint.loop_seen (
  shard smallint not null,
  kind text collate "C" not null,
  since_ms bigint not null,
  primary key (shard, kind)
) with (fillfactor = 25);
grant select, insert, update, delete on setpoint.loop_seen to setpoint_engine;
grant select on setpoint.loop_seen to setpoint_api;
