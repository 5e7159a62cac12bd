import { statement } from "../statement.ts";

/**
 * Held from the lease check of an engine write to its commit. Whoever takes a shard takes this lock alone, so that no
 * write of the last holder commits after the next one has read. (Locks of the server's memory: nothing is written.)
 * $1: shards of subjects. $2: shards of operations.
 */
export const lockShards = statement<unknown>(
  "lock shards",
  "platform",
  `select pg_advisory_xact_lock_shared(class, shard)
   from (
     select 7301 as class, shard from unnest($1::integer[]) as asked (shard)
     union
     select 7302 as class, shard from unnest($2::integer[]) as asked (shard)
     order by class, shard
   ) as ordered`,
);

/**
 * Everything that changes a subject has its row first, in the order of ids. The statement behind this one sees what
 * committed while it waited; a lock inside that same statement would leave it with the snapshot of before.
 */
export const lockSubjects = statement<unknown>(
  "lock subjects",
  "platform",
  "select from setpoint.subject where id = any ($1::bigint[]) order by id for no key update",
);

/**
 * SQL condition: the actor in `q` has the lease it acts under. A scheduler's is that of the shard of the subject `s`; a
 * worker's is that of the shard of its operation, which is about this subject and has something to do.
 */
export const leaseIsCurrent = `(
  case when q.operation_id is null then exists (
    select from setpoint.shard as l
    where l.shard = q.shard and l.holder = q.holder and l.epoch = q.epoch and l.until_ms > clock.now_ms and s.shard = q.shard
  ) else exists (
    select from setpoint.worker_shard as l
    join setpoint.operation_due as d on d.operation_id = q.operation_id and d.subject_id = s.id and d.shard = l.shard
    where l.shard = q.shard and l.holder = q.holder and l.epoch = q.epoch and l.until_ms > clock.now_ms
  ) end)`;

/** The store's time, read once per statement. */
export const clock = "clock as materialized (select setpoint.now_ms() as now_ms)";

export const takeShards = statement<{ shard: number; epoch: number; quiet: boolean }>(
  "take shards",
  "platform",
  "select shard, epoch, quiet from setpoint.take_shards($1, $2, $3)",
);

export const renewShards = statement<{ shard: number }>(
  "renew shards",
  "platform",
  `with ${clock}
   update setpoint.shard as l set until_ms = clock.now_ms + $2
   from clock, unnest($3::smallint[], $4::bigint[]) as claim (shard, epoch)
   where l.shard = claim.shard and l.epoch = claim.epoch and l.holder = $1 and l.until_ms > clock.now_ms
   returning l.shard`,
);

/**
 * $1 holder, $2 shards, $3 their epochs. Whoever gives up its last shard is no longer counted among those who share: else the
 * next one would leave it its half until the lease that nobody has any more would have run out.
 */
export const releasing = (shards: "shard" | "worker_shard", holders: "shard_holder" | "worker_holder") => `
  with claim as (select * from unnest($2::smallint[], $3::bigint[]) as claim (shard, epoch)),
  gone as (
    delete from setpoint.${holders} as h where h.holder = $1 and not exists (
      select from setpoint.${shards} as l where l.holder = $1
        and not exists (select from claim where claim.shard = l.shard and claim.epoch = l.epoch))
  )
  update setpoint.${shards} as l set holder = null, until_ms = 0, quiet_next = false
  from claim where l.shard = claim.shard and l.epoch = claim.epoch and l.holder = $1`;

export const releaseShards = statement<never>("release shards", "platform", releasing("shard", "shard_holder"));

/** Holders of leases, and those who asked for some and got none yet. */
export const shardHolders = statement<{ holder: string; shards: number }>(
  "shard holders",
  "platform",
  `with ${clock}, live as (
     select l.holder from setpoint.shard as l, clock where l.holder is not null and l.until_ms > clock.now_ms
     union
     select h.holder from setpoint.shard_holder as h, clock where h.until_ms > clock.now_ms
   )
   select live.holder,
     (select count(*) from setpoint.shard as l, clock where l.holder = live.holder and l.until_ms > clock.now_ms) as shards
   from live`,
);

export const storeNow = statement<{ now_ms: number }>("store now", "platform", "select setpoint.now_ms() as now_ms");
