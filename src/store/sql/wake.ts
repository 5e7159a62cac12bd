import { type Statement, statement } from "../statement.ts";
import { clock } from "./lease.ts";

/** What became due in one shard: how many subjects, and which with what urgency unless they are very many. */
export interface WokenRow {
  readonly shard: number;
  readonly subjects: number;
  readonly edges: readonly (readonly [subjectId: number, priority: number, dueAtMs: number])[] | null;
}

/** Names what became due, from the rows of the common table expression `due`. */
export const wokenByShard = `
  select shard, count(*) as subjects,
    case when count(*) <= 50 then json_agg(json_build_array(subject_id, priority, due_at_ms)) end as edges
  from due group by shard`;

type Raises = "input_version" | "policy_version";

/**
 * Makes subjects due, in the transaction of what made them due, so that an edge is never lost. `targets` selects their
 * ids; $1 is the priority. Only a changed input raises a version: approvals and ended pauses are not inputs.
 *
 * Keys are gathered in arrays and looked up in one table at a time, and `offset 0` keeps a lookup a lookup: as joins,
 * a plan made while the tables were small may read one of them whole for every row of the other.
 */
function wakeStatement(
  name: string,
  raises: readonly Raises[],
  targets: string,
  touches: "tenants" | "platform" = "tenants",
): Statement<WokenRow> {
  const raised = raises.map((column) => `${column} = s.${column} + 1`).join(", ");
  const update = `raised as (
       update setpoint.subject as s set ${raised} where s.id = any (array(select target.id from target))
     ),`;
  return statement<WokenRow>(
    name,
    touches,
    `with ${clock},
     target as materialized (
       select s.id, s.organization_id, s.shard from setpoint.subject as s where s.id = any (array(${targets}))
       order by s.id for no key update
     ),
     ${raises.length === 0 ? "" : update}
     due as (
       insert into setpoint.subject_due as d (subject_id, organization_id, shard, priority, due_at_ms)
       select target.id, target.organization_id, target.shard, $1::smallint, clock.now_ms from target, clock
       on conflict (subject_id) do update
       set priority = least(d.priority, excluded.priority), due_at_ms = excluded.due_at_ms
       returning d.subject_id, d.shard, d.priority, d.due_at_ms
     )
     ${wokenByShard}`,
  );
}

const ofResource = "select t.id from setpoint.subject as t where t.organization_id = $2 and t.resource_uid = $3";
const ofLinks = `
  select t.id from setpoint.subject as t
  where t.organization_id = $2 and t.resource_uid = any (array(
    select found.uid from setpoint.link as k
    cross join lateral (
      select r.uid from setpoint.resource as r
      where r.scope = k.scope and r.kind = k.kind and r.name = k.name
        and r.organization_id is not distinct from k.organization_id
      offset 0
    ) as found
    where k.organization_id = $2 and k.source_uid = $3))`;
/** Subjects whose scope path has $2, of the tenant $3 or of all. */
const belowScope = (whose: Whose) => `
  select t.id from setpoint.subject as t where $2::text = 'platform' and ${whose("t")}
  union all
  select found.id from setpoint.scope as c
  cross join lateral (
    select r.organization_id, r.uid from setpoint.resource as r
    where r.scope = c.scope and r.organization_id is not distinct from c.organization_id offset 0
  ) as declared
  cross join lateral (
    select t.id from setpoint.subject as t
    where t.organization_id = declared.organization_id and t.resource_uid = declared.uid offset 0
  ) as found
  where $2::text <> 'platform' and $2::text = any (c.path) and ${whose("c")}`;
/** The same where the scope of a pause may also be an account or a resource. */
const underPause = (whose: Whose) => `
  ${belowScope(whose)}
  union all
  select t.id from setpoint.subject as t
  where t.account_id = substr($2::text, length('account/') + 1) and $2::text like 'account/%' and ${whose("t")}
  union all
  select t.id from setpoint.subject as t
  where t.resource_uid = substr($2::text, length('resource/') + 1) and $2::text like 'resource/%' and ${whose("t")}`;

type Whose = (alias: string) => string;
const tenants: Whose = (alias) => `${alias}.organization_id = $3::uuid`;
const everybodys: Whose = () => "true";

/** $2 organization, $3 uid: a resource's own subjects. */
export const wakeSubjects = wakeStatement("wake subjects", ["input_version"], ofResource);
/** The same with those of the resources that are computed from it. */
export const wakeAffected = wakeStatement("wake affected", ["input_version"], `${ofResource} union ${ofLinks}`);
/** $2 organization, $3 uids: the subjects of several resources that nothing is computed from. */
export const wakeSeveral = wakeStatement(
  "wake several",
  ["input_version"],
  "select t.id from setpoint.subject as t where t.organization_id = $2 and t.resource_uid = any ($3::text[])",
);
/** $2 organization, $3 uids: what several resources are computed into. */
export const wakeLinked = wakeStatement(
  "wake linked",
  ["input_version"],
  `select t.id from setpoint.subject as t
   where t.organization_id = $2 and t.resource_uid = any (array(
     select found.uid from setpoint.link as k
     cross join lateral (
       select r.uid from setpoint.resource as r
       where r.scope = k.scope and r.kind = k.kind and r.name = k.name
         and r.organization_id is not distinct from k.organization_id
       offset 0
     ) as found
     where k.organization_id = $2 and k.source_uid = any ($3::text[])))`,
);
/** After a policy. $2 scope, $3 organization. */
export const wakePolicy = wakeStatement("wake policy", ["input_version", "policy_version"], belowScope(tenants));
/** After a policy of the platform. $2 scope. */
export const wakePlatformPolicy = wakeStatement(
  "wake platform policy",
  ["input_version", "policy_version"],
  belowScope(everybodys),
);
/** After another credential. $2 account, $3 organization. */
export const wakeAccount = wakeStatement(
  "wake account",
  ["input_version", "policy_version"],
  `select t.id from setpoint.subject as t where t.account_id = $2 and ${tenants("t")}`,
);
/** The same by the engine, which sees the subjects of all tenants. */
export const wakeDocked = wakeStatement(
  "wake docked",
  ["input_version", "policy_version"],
  `select t.id from setpoint.subject as t where t.account_id = $2 and ${tenants("t")}`,
  "platform",
);
/** Whoever waits for an account of the pool, of all tenants. $2 provider. */
export const wakeUndocked = wakeStatement(
  "wake undocked",
  [],
  `select t.id from setpoint.account as a
   join setpoint.subject as t on t.organization_id = a.organization_id and t.account_id = a.id
   where a.provider = $2 and a.pool is not null and a.pool ->> 'account' is null`,
);
/** After a pause. $2 scope, $3 organization. */
export const wakePaused = wakeStatement("wake paused", [], underPause(tenants));
/** After a pause of the platform. $2 scope. */
export const wakePlatformPaused = wakeStatement("wake platform paused", [], underPause(everybodys));
/** $2 subject ids: after a hold of theirs ended. What was read before it counts no more, whatever it is asked for. */
export const wakeHeld = wakeStatement("wake held", ["input_version", "policy_version"], "select unnest($2::bigint[])");
/** $2 subject ids: after an approval. */
export const wakeApproved = wakeStatement("wake approved", [], "select unnest($2::bigint[])");
/** $2 subject ids: after other resources show something else of themselves. By the engine, which sees the subjects of all. */
export const wakeReferring = wakeStatement(
  "wake referring",
  ["input_version"],
  "select unnest($2::bigint[])",
  "platform",
);
/** Subjects of a kind at the account of one subject, declared in its scope or above it. */
const aroundSubject = (subject: string, kind: string) => `
  select found.id from setpoint.subject as me
  join setpoint.resource as r on r.organization_id = me.organization_id and r.uid = me.resource_uid
  join setpoint.scope as c on c.organization_id = r.organization_id and c.scope = r.scope
  cross join lateral (
    select n.uid from unnest(c.path) as above (scope)
    join setpoint.resource as n on n.scope = above.scope and n.kind = ${kind} and n.organization_id = me.organization_id
    offset 0
  ) as near
  cross join lateral (
    select t.id from setpoint.subject as t
    where t.organization_id = me.organization_id and t.resource_uid = near.uid
      and t.account_id is not distinct from me.account_id
    offset 0
  ) as found
  where me.id = ${subject}`;
/** $1 subject, $2 kind. */
export const subjectsAround = statement<{ readonly id: number }>(
  "subjects around",
  "tenants",
  `${aroundSubject("$1", "$2")} order by found.id`,
);
/** $2 subject, $3 kind: after an operation did something that concerns them. */
export const wakeAround = wakeStatement("wake around", [], aroundSubject("$2", "$3"));
/** $1 organizations, $2 uids: the subjects that are computed from resources that refer to these. */
export const referringSubjects = statement<{ readonly id: number }>(
  "referring subjects",
  "tenants",
  `select distinct found.id
   from unnest($1::uuid[], $2::text[]) as shown (organization_id, uid)
   join setpoint.resource as r on r.organization_id = shown.organization_id and r.uid = shown.uid
   join setpoint.reference as f
     on f.scope = r.scope and f.kind = r.kind and f.name = r.name and f.organization_id = r.organization_id
   join setpoint.link as k on k.organization_id = f.organization_id and k.source_uid = f.source_uid
   cross join lateral (
     select t.id from setpoint.resource as z
     join setpoint.subject as t on t.organization_id = z.organization_id and t.resource_uid = z.uid
     where z.scope = k.scope and z.kind = k.kind and z.name = k.name and z.organization_id = k.organization_id
     offset 0
   ) as found`,
);
