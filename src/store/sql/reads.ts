import type { Json, JsonObject } from "../../ports/json.ts";
import type { AccountUse, EntryTrail, HeldChangeState, HeldChangeView } from "../../ports/read-store.ts";
import type {
  AccountPool,
  ChangeOutcome,
  ChangeRecord,
  GuardName,
  Mode,
  Pause,
  ScopePolicy,
  StoredObservation,
  SubjectStatus,
  Verdict,
} from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";
import type { ResourceRow } from "../resource-row.ts";

export const listOrganizations = statement<{ id: string; name: string }>(
  "list organizations",
  "tenants",
  "select id, name from setpoint.organization where state <> 'deleted' order by name, id",
);
export const listScopes = statement<{ scope: string; parent: string }>(
  "list scopes",
  "tenants",
  "select scope, parent from setpoint.scope where organization_id = $1 order by cardinality(path), scope",
);

export interface SubjectViewRow {
  readonly id: number;
  readonly account_id: string | null;
  readonly shard: number;
  readonly input_version: number;
  readonly due_at_ms: number | null;
  readonly hold_operation_id: string | null;
  readonly attention: { readonly pipeline: string; readonly message: string | null } | null;
  readonly status: SubjectStatus | null;
  readonly seen_since_ms: number | null;
  readonly status_version: number | null;
}
export interface ResourceViewRow extends ResourceRow {
  readonly revision: number;
  readonly mode: Mode | null;
  readonly protect: boolean | null;
  readonly path: readonly string[];
  readonly field_owners: Readonly<Record<string, string>>;
  readonly subjects: readonly SubjectViewRow[] | null;
  /** Not read for lists. */
  readonly policies?: readonly ScopePolicy[] | null;
  readonly pauses?: readonly Pause[] | null;
}

/** A resource as lists show it, with its subjects. */
export const listedResource = `r.uid, r.kind, r.name, r.scope, r.generation, r.spec, r.labels, r.author_name,
  r.author_type, r.declared_at_ms, r.deletion, r.revision, r.mode, r.protect, r.path, r.field_owners,
  (select json_agg(found) from (
     select s.id, s.account_id, s.shard, s.input_version,
       (select d.due_at_ms from setpoint.subject_due as d where d.subject_id = s.id) as due_at_ms, s.hold_operation_id,
       (select json_build_object('pipeline', o.pipeline, 'message', o.message) from setpoint.operation as o
        where o.organization_id = s.organization_id and o.id = s.hold_operation_id and o.state = 'attention') as attention, t.status,
       greatest(v.since_ms, l.since_ms) as seen_since_ms, m.version as status_version
     from setpoint.subject as s
     left join setpoint.subject_state as t on t.organization_id = s.organization_id and t.subject_id = s.id
     left join setpoint.subject_summary as m on m.subject_id = s.id
     left join setpoint.shard_seen as v on v.shard = s.shard
     left join setpoint.loop_seen as l on l.shard = s.shard and l.kind = s.kind
     where s.organization_id = r.organization_id and s.resource_uid = r.uid order by s.id) as found) as subjects`;

/** The same with the policies and pauses that cover it. The policies come unordered; the path orders them. */
const resourceView = `${listedResource},
  (select json_agg(p.body) from setpoint.policy as p
   where p.scope = any (r.path) and (p.organization_id = r.organization_id or p.organization_id is null)) as policies,
  (select json_agg(found) from (
     select p.id, p.scope, p.level, p.author, p.reason, p.expires_at_ms as "expiresAtMs"
     from setpoint.pause as p
     where p.expires_at_ms > setpoint.now_ms()
       and (p.organization_id = r.organization_id or p.organization_id is null)
       and (p.scope = any (r.path || ('resource/' || r.uid)) or p.scope in (
         select 'account/' || s.account_id from setpoint.subject as s
         where s.organization_id = r.organization_id and s.resource_uid = r.uid))
     order by p.id) as found) as pauses`;

export const getResource = statement<ResourceViewRow>(
  "get resource",
  "tenants",
  `select ${resourceView} from setpoint.resource as r
   where r.scope = $2 and r.kind = $3 and r.name = $4 and r.organization_id is not distinct from $1`,
);

/** Several at once, as lists show them: $2 scopes, $3 kinds, $4 names. */
export const getResources = statement<ResourceViewRow>(
  "get resources",
  "tenants",
  `select ${listedResource}
   from unnest($2::text[], $3::text[], $4::text[]) as named (scope, kind, name)
   cross join lateral (
     select r.* from setpoint.resource as r
     where r.scope = named.scope and r.kind = named.kind and r.name = named.name
       and r.organization_id is not distinct from $1 offset 0
   ) as r`,
);
export const resourcesByUid = statement<ResourceViewRow>(
  "resources by uid",
  "tenants",
  `select ${listedResource} from setpoint.resource as r where r.organization_id = $1 and r.uid = any ($2::text[])`,
);

export interface AccountViewRow {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly settings: JsonObject;
  readonly fingerprint: string | null;
  readonly claimed_incarnation: number | null;
  readonly calls_per_second: number;
  readonly pool: AccountPool | null;
}
export const listAccounts = statement<AccountViewRow>(
  "list accounts",
  "tenants",
  `select a.id, a.name, a.provider, a.settings, a.fingerprint, a.claimed_incarnation, b.calls_per_second, a.pool
   from setpoint.account as a join setpoint.account_budget as b on b.account_id = a.id
   where a.organization_id = $1 order by a.name, a.id`,
);

export interface AccountUseRow {
  readonly id: string;
  readonly credential: AccountUse["credential"];
  readonly tokens: number;
  readonly tokens_at_ms: number;
  readonly blocked_until_ms: number;
  readonly took_ms: readonly number[];
  readonly took_at_ms: number | null;
  readonly inventories: AccountUse["inventories"];
  readonly subjects: number;
  readonly failing: number;
  readonly owned: number;
  readonly oldest_look_at_ms: number | null;
  readonly last_look_at_ms: number | null;
}
export const accountUse = statement<AccountUseRow>(
  "account use",
  "tenants",
  `select a.id,
     case when a.credential_ref is null then 'none' when a.credential_ref like 'sealed:%' then 'sealed' else 'reference' end as credential,
     b.tokens, b.tokens_at_ms, b.blocked_until_ms, b.took_ms, b.took_at_ms,
     coalesce(
       (select json_agg(json_build_object('collection', f.collection, 'completeAtMs', f.complete_at_ms) order by f.collection)
        from setpoint.freshness as f where f.account_id = a.id),
       '[]') as inventories,
     s.subjects, s.failing, s.owned, s.oldest_look_at_ms, s.last_look_at_ms
   from setpoint.account as a join setpoint.account_budget as b on b.account_id = a.id
   cross join lateral (
     select count(*)::int as subjects, (count(*) filter (where x.failing))::int as failing,
       coalesce(sum(x.now_owned), 0)::int as owned, min(x.looked_at_ms) as oldest_look_at_ms, max(x.looked_at_ms) as last_look_at_ms
     from setpoint.subject as x where x.organization_id = $1 and x.account_id = a.id
   ) as s
   where a.organization_id = $1 order by a.name, a.id`,
);

export interface HeldChangeViewRow {
  readonly id: string;
  readonly state: HeldChangeState;
  readonly level: HeldChangeView["level"];
  readonly guard: GuardName;
  readonly digest: string;
  readonly verdict: Verdict;
  readonly opened_at_ms: number;
  readonly decided_by: string | null;
  readonly decided_at_ms: number | null;
  readonly items: readonly (HeldChangeView["items"][number] & { readonly externalId: string | null })[] | null;
}
export const listHeldChanges = statement<HeldChangeViewRow>(
  "list held changes",
  "tenants",
  `select h.id, h.state, h.level, h.guard, h.digest, h.verdict, h.opened_at_ms, h.decided_by, h.decided_at_ms,
     (select json_agg(found) from (
        select i.subject_id as "subjectId", i.subject_kind as kind, i.subject_name as name, i.key, i.action,
          i.external_id as "externalId", i.digest, i.differences, i.reason
        from setpoint.held_item as i
        where i.organization_id = h.organization_id and i.held_change_id = h.id order by i.position) as found) as items
   from setpoint.held_change as h
   where h.organization_id = $1 and h.state = any ($2::text[]) order by h.opened_at_ms desc, h.id desc limit $3`,
);

export const listPauses = statement<Omit<Pause, "on"> & { readonly on: string | null }>(
  "list pauses",
  "tenants",
  `select p.id, p.scope, p.called as "on", p.level, p.author, p.reason, p.expires_at_ms as "expiresAtMs" from setpoint.pause as p
   where (p.organization_id = $1 or p.organization_id is null) and p.expires_at_ms > setpoint.now_ms() order by p.id`,
);
export const listPolicies = statement<{ body: ScopePolicy }>(
  "list policies",
  "tenants",
  `select p.body from setpoint.policy as p where p.organization_id = $1 or p.organization_id is null
   order by p.organization_id nulls first, p.scope`,
);

export const listChanges = statement<{ at_ms: number; record: ChangeRecord; outcome: ChangeOutcome | null }>(
  "list changes",
  "tenants",
  `select at_ms, record, outcome from setpoint.change
   where resource_uid = $2 and organization_id is not distinct from $1 order by at_ms desc, id desc limit $3`,
);
export const listVerdicts = statement<{ at_ms: number; verdict: Verdict }>(
  "list verdicts",
  "tenants",
  `select at_ms, verdict from setpoint.verdict
   where resource_uid = $2 and organization_id is not distinct from $1 order by at_ms desc, id desc limit $3`,
);

export const observations = statement<{ account_id: string | null; observation: StoredObservation }>(
  "observations",
  "tenants",
  `select s.account_id, o.observation from setpoint.subject as s
   join setpoint.subject_observation as o on o.organization_id = s.organization_id and o.subject_id = s.id
   where s.organization_id = $1 and s.resource_uid = $2 order by s.id`,
);

export interface SealedRow {
  readonly position: number;
  readonly incarnation: number;
  readonly organization_id: string | null;
  readonly type: string;
  readonly uid: string | null;
  readonly revision: number | null;
  readonly actor: string;
  readonly data: Json;
  readonly trail: EntryTrail | null;
  readonly at_ms: number;
  readonly previous_hash: string;
  readonly tenant_previous_position: number | null;
  readonly tenant_previous_hash: string | null;
  readonly hash: string;
}
export const sealedColumns = `position, incarnation, organization_id, type, uid, revision, actor, data, trail, at_ms,
  previous_hash, tenant_previous_position, tenant_previous_hash, hash`;
const sealedPage = (whose: string) => `
  (select ${sealedColumns} from setpoint.sealed_entry where ${whose} and position > $2 order by position limit $3)`;
/** What the platform says to all tenants. Who signed in from where is no tenant's business. */
const toAll = "organization_id is null and setpoint.told_to_tenants(type)";
/** The tenant's entries and the platform's, each found by its index. */
export const sealedEntries = statement<SealedRow>(
  "sealed entries",
  "tenants",
  `select * from (${sealedPage("organization_id = $1")} union all ${sealedPage(toAll)}) as found
   order by position limit $3`,
);

export interface SummaryRow {
  readonly installation_id: string;
  readonly incarnation: number;
  readonly schema_version: number;
  readonly organizations: number;
  readonly resources: number;
  readonly subjects: number;
  readonly held_open: number;
  readonly pauses_active: number;
  readonly operations_attention: number;
  readonly shards_leased: number;
  readonly due_now: number;
  readonly oldest_confirmed_at_ms: number | null;
}
/**
 * Failing subjects are as old as their own last look. The others are as old as their shard's sweep; where a shard was
 * never swept whole, as old as the oldest look in it.
 */
export const summary = statement<SummaryRow>(
  "summary",
  "tenants",
  `with ${clock}
   select i.id as installation_id, i.incarnation,
     (select max(version) from setpoint.migration) as schema_version,
     (select count(*) from setpoint.organization where state <> 'deleted') as organizations,
     (select count(*) from setpoint.resource) as resources,
     (select count(*) from setpoint.subject) as subjects,
     (select count(*) from setpoint.held_change where state = 'open') as held_open,
     (select count(*) from setpoint.pause as p where p.expires_at_ms > clock.now_ms) as pauses_active,
     (select count(*) from setpoint.operation as o
      left join setpoint.subject as s on s.id = o.subject_id and s.hold_operation_id = o.id
      where o.ended_at_ms is null and (o.state <> 'running' or s.hold_since_ms < clock.now_ms - $1)) as operations_attention,
     (select count(*) from setpoint.shard as l where l.holder is not null and l.until_ms > clock.now_ms) as shards_leased,
     (select count(*) from setpoint.subject_due as d where d.due_at_ms <= clock.now_ms) as due_now,
     (select min(oldest.at_ms) from (
        select min(s.looked_at_ms) as at_ms from setpoint.subject as s where s.failing
        union all
        select v.since_ms from setpoint.shard_seen as v
        where exists (select from setpoint.subject as s where s.shard = v.shard)
        union all
        select min(s.looked_at_ms) from setpoint.subject as s
        where s.shard in (select l.shard from setpoint.shard as l except select v.shard from setpoint.shard_seen as v)
      ) as oldest) as oldest_confirmed_at_ms
   from setpoint.installation as i, clock`,
);
