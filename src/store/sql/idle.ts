import { statement } from "../statement.ts";

export const countIdleCycles = statement<never>(
  "count idle cycles",
  "platform",
  `insert into setpoint.idle_cycle as i (kind, minute_ms, count)
   select kind, minute_ms, sum(count) from unnest($1::text[], $2::bigint[], $3::bigint[]) as n (kind, minute_ms, count)
   group by kind, minute_ms order by kind, minute_ms
   on conflict (kind, minute_ms) do update set count = i.count + excluded.count`,
);

export const recordFreshness = statement<never>(
  "record freshness",
  "platform",
  `insert into setpoint.freshness as f (account_id, collection, complete_at_ms)
   select account_id, collection, max(complete_at_ms)
   from unnest($1::text[], $2::text[], $3::bigint[]) as n (account_id, collection, complete_at_ms)
   group by account_id, collection order by account_id, collection
   on conflict (account_id, collection) do update
   set complete_at_ms = greatest(f.complete_at_ms, excluded.complete_at_ms)`,
);

export const recordSeen = statement<never>(
  "record seen",
  "platform",
  `insert into setpoint.shard_seen as v (shard, since_ms)
   select shard, max(since_ms) from unnest($1::smallint[], $2::bigint[]) as n (shard, since_ms) group by shard order by shard
   on conflict (shard) do update set since_ms = greatest(v.since_ms, excluded.since_ms)`,
);

export const recordLoopsSeen = statement<never>(
  "record loops seen",
  "platform",
  `insert into setpoint.loop_seen as v (shard, kind, since_ms)
   select shard, kind, max(since_ms) from unnest($1::smallint[], $2::text[], $3::bigint[]) as n (shard, kind, since_ms)
   group by shard, kind order by shard, kind
   on conflict (shard, kind) do update set since_ms = greatest(v.since_ms, excluded.since_ms)`,
);
