import type { JsonObject } from "../../ports/json.ts";
import type { PoolAccountState } from "../../ports/pool-store.ts";
import type { Principal } from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { clock, leaseIsCurrent } from "./lease.ts";

export interface PoolAccountRow {
  readonly name: string;
  readonly provider: string;
  readonly settings: JsonObject;
  readonly credential_ref: string;
  readonly locations: readonly string[];
  readonly calls_per_second: number;
  readonly state: PoolAccountState;
  readonly organization: string | null;
  readonly since_ms: number;
}
export const listPool = statement<PoolAccountRow>(
  "list pool",
  "tenants",
  `select p.name, p.provider, p.settings, p.credential_ref, p.locations, p.calls_per_second, p.state, p.since_ms,
     (select o.name from setpoint.organization as o where o.id = p.organization_id) as organization
   from setpoint.pool_account as p order by p.name`,
);
export const insertPoolAccount = statement<never>(
  "insert pool account",
  "tenants",
  `insert into setpoint.pool_account (name, provider, settings, credential_ref, locations, calls_per_second, since_ms)
   values ($1, $2, $3::json, $4, $5::text[], $6, setpoint.now_ms())`,
);
export const deletePoolAccount = statement<never>(
  "delete pool account",
  "tenants",
  "delete from setpoint.pool_account where name = $1 and state <> 'claimed'",
);

export interface PoolStandingRow {
  readonly provider: string;
  readonly state: PoolAccountState;
  readonly organization_id: string | null;
  readonly organization: string | null;
  readonly account_id: string | null;
}
const poolStanding = `select p.provider, p.state, p.organization_id, p.account_id,
     (select o.name from setpoint.organization as o where o.id = p.organization_id) as organization
   from setpoint.pool_account as p where p.name = $1`;
/** Who has it. Whoever changes a claim has the account's row first, and then the pool's. */
export const readPoolAccount = statement<PoolStandingRow>("read pool account", "tenants", poolStanding);
export const lockPoolAccount = statement<PoolStandingRow>(
  "lock pool account",
  "tenants",
  `${poolStanding} for no key update of p`,
);
export const freePoolAccount = statement<never>(
  "free pool account",
  "tenants",
  `update setpoint.pool_account set state = 'free', organization_id = null, account_id = null, since_ms = setpoint.now_ms()
   where name = $1`,
);
/** After a restore nobody knows what was made since at an account that was free then. */
export const doubtPool = statement<never>(
  "doubt pool",
  "tenants",
  "update setpoint.pool_account set state = 'returned', since_ms = setpoint.now_ms() where state = 'free'",
);

/** An account of an organization, and whether it has one of the pool. */
export const lockPooled = statement<{ name: string; pool: { readonly account?: string } | null }>(
  "lock pooled account",
  "tenants",
  "select name, pool from setpoint.account where organization_id = $1 and id = $2 for no key update",
);
/** Some of what still names the account; what is on its way out has not left yet. */
export const namedBy = statement<{ kind: string; name: string; scope: string; total: number }>(
  "account named by",
  "tenants",
  `select s.kind, s.name, r.scope, (count(*) over ())::int as total
   from setpoint.subject as s
   join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
   where s.organization_id = $1 and s.account_id = $2 order by s.kind, s.name, s.id limit 20`,
);
/** $1 organization, $2 account, or null for all of them: what the pool has to remember, before the accounts forget it. */
export const returnPoolAccounts = statement<{ name: string }>(
  "return pool accounts",
  "tenants",
  `update setpoint.pool_account as p set state = 'returned', account_id = null, since_ms = setpoint.now_ms(),
     fingerprint = a.fingerprint, claimed_incarnation = a.claimed_incarnation
   from setpoint.account as a
   where a.organization_id = $1 and ($2::text is null or a.id = $2)
     and p.organization_id = a.organization_id and p.account_id = a.id
   returning p.name`,
);
/** It waits for another claim. */
export const undockAccount = statement<never>(
  "undock account",
  "tenants",
  `update setpoint.account set settings = '{}', credential_ref = null, read_credential_ref = null, fingerprint = null,
     claimed_incarnation = null, pool = '{}'
   where organization_id = $1 and id = $2`,
);

/** No row: there is an account of that id. What it may be asked is the pool's to say, once it has one. */
export const insertPooledAccount = statement<{ calls_per_second: number }>(
  "insert pooled account",
  "tenants",
  `with added as (
     insert into setpoint.account (organization_id, id, name, provider, settings, pool)
     values ($1, $2, $3, $4, '{}', '{}') on conflict do nothing returning organization_id, id
   )
   insert into setpoint.account_budget (organization_id, account_id, calls_per_second, tokens, tokens_at_ms)
   select added.organization_id, added.id, 10, 20, setpoint.now_ms() from added
   returning calls_per_second`,
);

/** No row: whoever asks does not have the lease any more. The answer is the account's name and provider, and what it has. */
export interface AskingToDock {
  readonly name: string;
  readonly provider: string;
  readonly docked: string | null;
  readonly pooled: boolean;
  /** Who asked for the operation that asks; null for a loop. */
  readonly author: Principal | null;
}
export const askingToDock = statement<AskingToDock>(
  "asking to dock",
  "tenants",
  `with ${clock},
   q as (
     select $1::bigint as subject_id, $2::text as holder, $3::smallint as shard, $4::bigint as epoch, $5::text as operation_id
   )
   select a.name, a.provider, a.pool ->> 'account' as docked, a.pool is not null as pooled,
     (select json_build_object('name', o.author_name, 'type', o.author_type) from setpoint.operation as o
      where o.organization_id = s.organization_id and o.id = q.operation_id) as author
   from q cross join clock
   join setpoint.subject as s on s.id = q.subject_id
   join setpoint.account as a on a.organization_id = s.organization_id and a.id = s.account_id
   where ${leaseIsCurrent}`,
);
/**
 * One that is free and fits, which nobody else takes meanwhile; where things may only be made in some places, before where they may
 * be made anywhere. $1 provider, $2 location, or null where any will do.
 */
export const pickPoolAccount = statement<{ name: string; locations: readonly string[] }>(
  "pick pool account",
  "tenants",
  `select p.name, p.locations from setpoint.pool_account as p
   where p.state = 'free' and p.provider = $1
     and (cardinality(p.locations) = 0 or $2::text is null or $2 = any (p.locations))
   order by cardinality(p.locations) = 0, p.name limit 1
   for no key update skip locked`,
);
/** No row: it has one by now. $1 organization, $2 account, $3 of the pool. */
export const dockAccount = statement<{ id: string }>(
  "dock account",
  "tenants",
  `update setpoint.account as a set settings = p.settings, credential_ref = p.credential_ref, read_credential_ref = null,
     fingerprint = p.fingerprint, claimed_incarnation = p.claimed_incarnation,
     pool = json_build_object('account', p.name, 'locations', to_json(p.locations))
   from setpoint.pool_account as p
   where a.organization_id = $1 and a.id = $2 and a.pool is not null and a.pool ->> 'account' is null and p.name = $3
   returning a.id`,
);
export const claimPoolAccount = statement<never>(
  "claim pool account",
  "tenants",
  `with budget as (
     update setpoint.account_budget as b set calls_per_second = p.calls_per_second
     from setpoint.pool_account as p where b.account_id = $2 and p.name = $3
   )
   update setpoint.pool_account set state = 'claimed', organization_id = $1, account_id = $2, since_ms = setpoint.now_ms()
   where name = $3`,
);
/** Operations that wait for an account of this provider look again at once: one may be free now. */
export const wakeWaitingForPool = statement<never>(
  "wake waiting for pool",
  "tenants",
  `with ${clock},
   waiting as materialized (
     select o.organization_id, o.id from setpoint.operation as o
     join setpoint.account as a on a.organization_id = o.organization_id and a.id = o.account_id
     where o.state = 'running' and a.provider = $1 and a.pool is not null and a.pool ->> 'account' is null
     order by o.id for no key update of o
   ),
   woken as (
     update setpoint.operation as o set due_at_ms = clock.now_ms from clock, waiting
     where o.organization_id = waiting.organization_id and o.id = waiting.id returning o.id
   )
   update setpoint.operation_due as d set due_at_ms = (select clock.now_ms from clock)
   where d.operation_id = any (array(select woken.id from woken))`,
);
