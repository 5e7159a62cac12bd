import { statement } from "../statement.ts";

export const insertOrganization = statement<never>(
  "insert organization",
  "tenants",
  "insert into setpoint.organization (id, name) values ($1, $2)",
);
export const insertRootScope = statement<never>(
  "insert root scope",
  "tenants",
  `insert into setpoint.scope (organization_id, scope, parent, path)
   values ($1, $2, 'platform', array['platform', $2])`,
);
/** No row: the parent does not exist. */
export const insertScope = statement<{ scope: string }>(
  "insert scope",
  "tenants",
  `insert into setpoint.scope (organization_id, scope, parent, path)
   select p.organization_id, $2, p.scope, p.path || $2::text from setpoint.scope as p
   where p.organization_id = $1 and p.scope = $3 for key share of p returning scope`,
);
export const findScope = statement<{ scope: string }>(
  "find scope",
  "tenants",
  "select scope from setpoint.scope where organization_id = $1 and scope = $2",
);

export const insertAccount = statement<never>(
  "insert account",
  "tenants",
  `insert into setpoint.account (organization_id, id, name, provider, settings, credential_ref,
     read_credential_ref, pool)
   values ($1, $2, $3, $4, $5::json, $6, $7, $8::json)`,
);
/** The bucket starts full. */
export const insertAccountBudget = statement<never>(
  "insert account budget",
  "tenants",
  `insert into setpoint.account_budget (organization_id, account_id, calls_per_second, tokens, tokens_at_ms)
   values ($1, $2, $3, greatest(1, 2 * $3::double precision), setpoint.now_ms())`,
);

export const insertPause = statement<never>(
  "insert pause",
  "tenants",
  `insert into setpoint.pause (id, organization_id, scope, level, author, reason, expires_at_ms, called)
   values ($1, $2, $3, $4, $5, $6, setpoint.now_ms() + $7::bigint, $8)`,
);
export const deletePause = statement<{ scope: string; level: string; called: string | null }>(
  "delete pause",
  "tenants",
  `delete from setpoint.pause where id = $1 and organization_id is not distinct from $2::uuid 
   returning scope, level, called`,
);

/** Keeps takers of shards out, waits for engine writes that passed their lease check, and keeps new ones out. */
export const lockAllShards = statement<unknown>(
  "lock all shards",
  "platform",
  `select pg_advisory_xact_lock(class, key) from (
     select 7300 as class, 0 as key union all select 7300, 1
     union all select 7301, shard from setpoint.shard union all select 7302, shard from setpoint.worker_shard
     order by class, key
   ) as ordered`,
);
export const raiseIncarnation = statement<{ incarnation: number }>(
  "raise incarnation",
  "platform",
  "update setpoint.installation set incarnation = incarnation + 1 returning incarnation",
);
export const clearLeases = statement<never>(
  "clear leases",
  "platform",
  `with holders as (delete from setpoint.shard_holder),
   working as (delete from setpoint.worker_holder),
   workers as (update setpoint.worker_shard set holder = null, until_ms = 0, quiet_next = true)
   update setpoint.shard set holder = null, until_ms = 0, quiet_next = true`,
);
export const clearPermits = statement<never>(
  "clear permits",
  "platform",
  `update setpoint.subject set permit_id = null, permit_until_ms = null where id in (
     select id from setpoint.subject where permit_id is not null order by id for no key update)`,
);
