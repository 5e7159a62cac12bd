import type { Json } from "../../ports/json.ts";
import type { GovernanceType } from "../../ports/governance-store.ts";
import type { HeldChangeState, HeldChangeView } from "../../ports/read-store.ts";
import type {
  BudgetLevel,
  FieldDifference,
  GuardName,
  PlanSummary,
  PrincipalType,
  ScopePolicy,
  StoredPlan,
  SubjectStatus,
  Verdict,
} from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { fourEyesAt } from "./four-eyes.ts";
import { clock } from "./lease.ts";

export interface InboxRow {
  readonly id: string;
  readonly state: HeldChangeState;
  readonly level: HeldChangeView["level"];
  readonly guard: GuardName;
  readonly digest: string;
  readonly verdict: Verdict;
  readonly authors: readonly string[];
  readonly opened_at_ms: number;
  readonly decided_by: string | null;
  readonly decided_at_ms: number | null;
  readonly comment: string | null;
  readonly four_eyes: boolean;
  readonly counts: { readonly items: number; readonly actions: Readonly<Record<string, number>> };
  readonly places: { readonly resources: number; readonly accounts: number };
  readonly items:
    | readonly (HeldChangeView["items"][number] & {
        readonly externalId: string | null;
        readonly scope: string | null;
        readonly accountId: string | null;
      })[]
    | null;
}

/** $1 organization, $2 states, $3 level, $4 guard, $5 kind, $6 age, $7 id, $8 limit, $9 items of each; null says nothing. */
export const inbox = statement<InboxRow>(
  "inbox",
  "tenants",
  `select h.id, h.state, h.level, h.guard, h.digest, h.verdict, h.authors, h.opened_at_ms, h.decided_by, h.decided_at_ms,
     h.comment,
     exists (
       select from setpoint.held_item as i
       join setpoint.subject as s on s.id = i.subject_id
       join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
       join setpoint.policy as p on p.scope = any (r.path)
         and (p.organization_id = r.organization_id or p.organization_id is null)
       where i.organization_id = h.organization_id and i.held_change_id = h.id and p.four_eyes) as four_eyes,
     (select json_build_object('items', coalesce(sum(n.count), 0),
        'actions', coalesce(json_object_agg(n.action, n.count), '{}'::json))
      from (select i.action, count(*) as count from setpoint.held_item as i
            where i.organization_id = h.organization_id and i.held_change_id = h.id group by i.action) as n) as counts,
     (select json_build_object('resources', count(distinct i.subject_id), 'accounts', count(distinct s.account_id))
      from setpoint.held_item as i left join setpoint.subject as s on s.id = i.subject_id
      where i.organization_id = h.organization_id and i.held_change_id = h.id) as places,
     (select json_agg(found) from (
        select i.subject_id as "subjectId", i.subject_kind as kind, i.subject_name as name, i.key, i.action,
          i.external_id as "externalId", i.digest, i.differences, i.reason, r.scope, s.account_id as "accountId"
        from setpoint.held_item as i
        left join setpoint.subject as s on s.id = i.subject_id
        left join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
        where i.organization_id = h.organization_id and i.held_change_id = h.id
        order by i.position limit $9) as found) as items
   from setpoint.held_change as h
   where h.organization_id = $1 and h.state = any ($2::text[])
     and ($3::text is null or h.level = $3) and ($4::text is null or h.guard = $4)
     and ($5::text is null or exists (
       select from setpoint.held_item as i
       where i.organization_id = h.organization_id and i.held_change_id = h.id and i.subject_kind = $5))
     and ($6::bigint is null or h.opened_at_ms <= setpoint.now_ms() - $6)
     and ($7::text is null or h.id = $7)
   order by h.opened_at_ms desc, h.id desc limit $8`,
);

export interface GovernanceRow {
  readonly id: string;
  readonly organization_id: string | null;
  readonly scope: string;
  readonly type: GovernanceType;
  readonly state: HeldChangeState;
  readonly digest: string;
  readonly verdict: Verdict;
  readonly differences: readonly FieldDifference[];
  readonly body: Json;
  readonly base_version: number;
  readonly author: string;
  readonly author_type: PrincipalType;
  readonly reason: string | null;
  readonly opened_at_ms: number;
  readonly expires_at_ms: number;
  readonly decided_by: string | null;
  readonly decided_at_ms: number | null;
  readonly comment: string | null;
  readonly four_eyes: boolean;
}
/**
 * What nobody answered in time is withdrawn, and what was asked for of something that is no longer so, whether or not
 * somebody has written that down.
 */
const governanceView = `g.id, g.organization_id, g.scope, g.type,
  case when g.state = 'open' and (g.expires_at_ms <= setpoint.now_ms()
    or (g.type = 'declaration' and not exists (
      select from setpoint.resource as r
      where r.organization_id = g.organization_id and r.uid = substr(g.scope, 10) and r.revision = g.base_version))
    or (g.type = 'pause-end' and not exists (
      select from setpoint.pause as p where p.id = g.body ->> 'id' and p.expires_at_ms > setpoint.now_ms())))
    then 'withdrawn' else g.state end as state,
  g.digest, g.verdict, g.differences, g.body, g.base_version, g.author, g.author_type, g.reason, g.opened_at_ms, g.expires_at_ms,
  g.decided_by, g.decided_at_ms, g.comment,
  ${fourEyesAt("g.organization_id", "g.scope")} as four_eyes`;

/** $1 organization, none for the platform's own; $2 states; $3 id; $4 limit. */
export const governanceChanges = statement<GovernanceRow>(
  "governance changes",
  "tenants",
  `select * from (
     select ${governanceView} from setpoint.governance_change as g
     where g.organization_id is not distinct from $1::uuid and ($3::text is null or g.id = $3)
   ) as found
   where found.state = any ($2::text[]) order by found.opened_at_ms desc, found.id desc limit $4`,
);
export const governanceByDigest = statement<GovernanceRow>(
  "governance by digest",
  "tenants",
  `select ${governanceView} from setpoint.governance_change as g
   where g.digest = $2 and g.state = 'open' and g.organization_id is not distinct from $1::uuid`,
);
export const lockGovernance = statement<GovernanceRow>(
  "lock governance change",
  "tenants",
  `select ${governanceView} from setpoint.governance_change as g
   where g.id = $2 and g.organization_id is not distinct from $1::uuid for no key update of g`,
);
/** An open one of the same digest that nobody answered in time makes room. */
export const withdrawLapsed = statement<never>(
  "withdraw lapsed governance change",
  "tenants",
  `update setpoint.governance_change as g set state = 'withdrawn', decided_at_ms = setpoint.now_ms()
   where g.state = 'open' and g.organization_id is not distinct from $1::uuid
     and (g.expires_at_ms <= setpoint.now_ms()
       or (g.type in ('policy', 'declaration') and g.scope = $2 and g.base_version < $3))`,
);
export const insertGovernance = statement<never>(
  "insert governance change",
  "tenants",
  `insert into setpoint.governance_change (id, organization_id, scope, type, state, digest, verdict, differences, body,
     base_version, author, author_type, reason, opened_at_ms, expires_at_ms)
   values ($1, $2, $3, $4, 'open', $5, $6::json, $7::json, $8::json, $9, $10, $11, $12, setpoint.now_ms(),
     setpoint.now_ms() + $13::bigint)`,
);
export const decideGovernance = statement<never>(
  "decide governance change",
  "tenants",
  `update setpoint.governance_change as g
   set state = $3, decided_by = $4, comment = $5, decided_at_ms = setpoint.now_ms()
   where g.id = $2 and g.organization_id is not distinct from $1::uuid`,
);

/** One writer of a scope's policy at a time, also while there is no row to lock. */
export const lockPolicy = statement<unknown>(
  "lock policy",
  "platform",
  "select pg_advisory_xact_lock(7307, hashtext($1))",
);
export const readPolicy = statement<{ body: ScopePolicy; version: number }>(
  "read policy",
  "tenants",
  `select p.body, p.version from setpoint.policy as p
   where p.scope = $2 and p.organization_id is not distinct from $1::uuid`,
);
/** $1 organization, $2 scope, $3 body, $4 four eyes, $5 author, $6 reason. */
export const writePolicy = statement<{ version: number }>(
  "write policy",
  "tenants",
  `with written as (
     insert into setpoint.policy as p (organization_id, scope, body, four_eyes) values ($1, $2, $3::json, $4)
     on conflict (scope, organization_id) do update
     set body = excluded.body, four_eyes = excluded.four_eyes, version = p.version + 1
     returning p.organization_id, p.scope, p.version, p.body
   )
   insert into setpoint.policy_version (organization_id, scope, version, body, author, reason, at_ms)
   select organization_id, scope, version, body, $5, $6, setpoint.now_ms() from written
   returning version`,
);
export const policyHistory = statement<{
  version: number;
  body: ScopePolicy;
  author: string;
  reason: string | null;
  at_ms: number;
}>(
  "policy history",
  "tenants",
  `select v.version, v.body, v.author, v.reason, v.at_ms from setpoint.policy_version as v
   where v.scope = $2 and v.organization_id is not distinct from $1::uuid order by v.version desc limit $3`,
);

/** Never earlier than it is: ending sooner is resuming. */
export const extendPause = statement<{ scope: string; level: string; expires_at_ms: number }>(
  "extend pause",
  "tenants",
  `update setpoint.pause as p set expires_at_ms = greatest(p.expires_at_ms, setpoint.now_ms() + $3::bigint)
   where p.id = $1 and p.organization_id is not distinct from $2::uuid and p.expires_at_ms > setpoint.now_ms()
   returning p.scope, p.level, p.expires_at_ms`,
);

export interface SubjectPlanRow {
  readonly subject_id: number;
  readonly account_id: string | null;
  readonly since_ms: number | null;
  readonly at_ms: number | null;
  readonly plan: StoredPlan | null;
  readonly status: SubjectStatus | null;
  readonly held: readonly string[] | null;
}
/** Held changes that name an item of a subject. */
const heldOf = `(select json_agg(distinct i.held_change_id) from setpoint.held_item as i
  join setpoint.held_change as h on h.organization_id = i.organization_id and h.id = i.held_change_id
  where i.subject_id = s.id and i.organization_id = s.organization_id and h.state in ('open', 'rejected'))`;
export const plansOf = statement<SubjectPlanRow>(
  "plans of resource",
  "tenants",
  `select s.id as subject_id, s.account_id, p.since_ms, p.at_ms, p.plan, t.status, ${heldOf} as held
   from setpoint.subject as s
   left join setpoint.subject_plan as p on p.organization_id = s.organization_id and p.subject_id = s.id
   left join setpoint.subject_state as t on t.organization_id = s.organization_id and t.subject_id = s.id
   where s.organization_id = $1 and s.resource_uid = $2 order by s.id`,
);

export interface LeftRow {
  readonly subject_id: number;
  readonly account_id: string | null;
  readonly uid: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  readonly since_ms: number;
  readonly looked_at_ms: number | null;
  readonly summary: PlanSummary | null;
}
const place = `($2::text is null or $2 = 'platform' or $2 = any (r.path) or $2 = 'account/' || s.account_id
  or $2 = 'resource/' || r.uid) and ($3::text is null or s.kind = $3)`;
const owner = `join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid`;
/** $1 organization, $2 below what, $3 kind, $4 limit. */
export const leftToDo = statement<LeftRow>(
  "left to do",
  "tenants",
  `select s.id as subject_id, s.account_id, r.uid, r.kind, r.name, r.scope, p.since_ms, s.looked_at_ms, p.summary
   from setpoint.subject_plan as p join setpoint.subject as s on s.id = p.subject_id ${owner}
   where p.organization_id = $1 and ${place} order by p.since_ms, p.subject_id limit $4`,
);
/** $1 organization, $2 kind, $3 and $4 behind which one, $5 limit. Along the index, so that a page costs what it shows. */
export const plansPage = statement<
  LeftRow & { readonly at_ms: number; readonly summary: PlanSummary; readonly held: readonly string[] | null }
>(
  "page of plans",
  "tenants",
  `select s.id as subject_id, s.account_id, r.uid, r.kind, r.name, r.scope, p.since_ms, p.at_ms, s.looked_at_ms, p.summary,
     ${heldOf} as held
   from setpoint.subject_plan as p join setpoint.subject as s on s.id = p.subject_id ${owner}
   where p.organization_id = $1 and ($2::text is null or s.kind = $2)
     and (p.since_ms, p.subject_id) > ($3::bigint, $4::bigint)
   order by p.since_ms, p.subject_id limit $5`,
);
/** The same for what changed and was not looked at since: the edges, of which there are few. */
export const notLookedAt = statement<LeftRow>(
  "not looked at",
  "tenants",
  `select s.id as subject_id, s.account_id, r.uid, r.kind, r.name, r.scope, d.due_at_ms as since_ms, s.looked_at_ms,
     null as summary
   from setpoint.subject_due as d join setpoint.subject as s on s.id = d.subject_id ${owner}
   where d.organization_id = $1 and d.due_at_ms <= setpoint.now_ms() and ${place}
     and not exists (
       select from setpoint.subject_plan as p where p.organization_id = s.organization_id and p.subject_id = s.id)
   limit $4`,
);
export const leftByOrganization = statement<{ organization: string; subjects: number; waiting: number }>(
  "left by organization",
  "tenants",
  `select o.name as organization,
     (select count(*) from setpoint.subject_plan as p where p.organization_id = o.id) as subjects,
     (select count(*) from setpoint.subject_due as d
      where d.organization_id = o.id and d.due_at_ms <= setpoint.now_ms()) as waiting
   from setpoint.organization as o order by o.name limit 1000`,
);

export interface LoopActivityRow {
  readonly kind: string;
  readonly subjects: number;
  readonly failing: number;
  readonly idle_cycles: number;
  readonly counted_since_ms: number | null;
  readonly last_cycle_at_ms: number | null;
  readonly swept_since_ms: number | null;
}
/** Whole minutes only: the present one is still being counted. */
export const loopActivity = statement<LoopActivityRow>(
  "loop activity",
  "tenants",
  `with ${clock},
   seen as (
     select s.kind, count(*) as subjects, count(*) filter (where s.failing) as failing, max(s.looked_at_ms) as looked_at_ms
     from setpoint.subject as s group by s.kind
   )
   select seen.kind, seen.subjects, seen.failing,
     coalesce((select sum(i.count) from setpoint.idle_cycle as i
       where i.kind = seen.kind and i.minute_ms >= clock.now_ms / 60000 * 60000 - 600000
         and i.minute_ms < clock.now_ms / 60000 * 60000), 0)::bigint as idle_cycles,
     (select min(i.minute_ms) from setpoint.idle_cycle as i where i.kind = seen.kind) as counted_since_ms,
     greatest(seen.looked_at_ms,
       (select max(i.minute_ms) from setpoint.idle_cycle as i where i.kind = seen.kind)) as last_cycle_at_ms,
     coalesce((select min(l.since_ms) from setpoint.loop_seen as l where l.kind = seen.kind),
       (select min(v.since_ms) from setpoint.shard_seen as v)) as swept_since_ms
   from seen, clock order by seen.kind`,
);

export const waitingFigures = statement<{
  pending_deletes: number;
  left_to_do: number;
  failing: number;
  oldest_held_at_ms: number | null;
}>(
  "waiting figures",
  "tenants",
  `select coalesce(sum((p.summary #>> '{actions,delete}')::bigint), 0)::bigint as pending_deletes, count(*) as left_to_do,
     (select count(*) from setpoint.subject as s where s.failing) as failing,
     (select min(h.opened_at_ms) from setpoint.held_change as h where h.state = 'open') as oldest_held_at_ms
   from setpoint.subject_plan as p`,
);

/** What was charged in the last hour to the account, the organization and the platform that were charged most, and what is theirs. */
export const chargedMost = statement<{ level: BudgetLevel; used: number; owned: number }>(
  "charged most",
  "platform",
  `with ${clock},
   charged as (
     select c.level, c.scope_key, sum(c.count)::bigint as used from setpoint.delete_charge as c, clock
     where c.minute > clock.now_ms / 60000 - 60 group by c.level, c.scope_key
   )
   select distinct on (c.level) c.level, c.used, b.owned from charged as c
   join setpoint.delete_budget as b on b.level = c.level and b.scope_key = c.scope_key
   order by c.level, c.used desc, c.scope_key`,
);
