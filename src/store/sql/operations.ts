import type { JournalEntry, OperationRecord } from "../../ports/operation-store.ts";
import type { Pause } from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { clock, releasing } from "./lease.ts";
import { accountValues, type LoadedAccount } from "./load.ts";
import { pauseCovers } from "./permit.ts";

/** An operation as the statements answer with it: null where nothing is, the priority as a number. */
export type OperationJson = {
  readonly [Name in keyof Omit<OperationRecord, "priority">]: OperationRecord[Name] | null;
} & { readonly priority: number };

export interface StandingRow {
  readonly operation: OperationJson;
  readonly now_ms: number;
  readonly paused: Omit<Pause, "id" | "expiresAtMs"> | null;
  readonly leaving: boolean;
}

export const operationJson = (o: string) => `json_build_object('id', ${o}.id, 'organizationId', ${o}.organization_id,
  'pipeline', ${o}.pipeline, 'version', ${o}.version, 'subjectId', ${o}.subject_id, 'resourceUid', ${o}.resource_uid,
  'kind', ${o}.kind, 'name', ${o}.name, 'accountId', ${o}.account_id, 'shard', ${o}.shard, 'priority', ${o}.priority,
  'input', ${o}.input, 'author', json_build_object('name', ${o}.author_name, 'type', ${o}.author_type),
  'createdAtMs', ${o}.created_at_ms, 'startedAtMs', ${o}.started_at_ms, 'endedAtMs', ${o}.ended_at_ms,
  'state', ${o}.state, 'direction', ${o}.direction, 'step', ${o}.step, 'attempts', ${o}.attempts,
  'message', ${o}.message, 'cancel', ${o}.cancel, 'dueAtMs', ${o}.due_at_ms, 'revision', ${o}.revision)`;

const entryJson = `(jsonb_build_object('step', t.step, 'version', t.version, 'direction', t.direction, 'result', t.result,
  'place', t.place, 'atMs', t.at_ms) || t.body::jsonb)`;

/** Of an entry of the log: what an operation does is done by who asked for it, through the operation. */
export const throughOperation = (o: string) =>
  `json_build_object('type', ${o}.author_type, 'credential', 'operation/' || ${o}.id)`;

/** The whole journal of the operation `o`. */
export const journalOf = `(
  select coalesce(json_agg(${entryJson} order by t.place), '[]') from setpoint.step as t
  where t.organization_id = o.organization_id and t.operation_id = o.id)`;

/** An operation whose subject is gone has nothing left to pause. */
const isPaused = `(
  select json_build_object('level', p.level, 'scope', p.scope, 'author', p.author, 'reason', p.reason) from setpoint.pause as p
  where s.id is not null and ${pauseCovers} and p.level <> 'deletes' order by p.id limit 1)`;
const isLeaving = "(r.deletion is not null or s.detached is not null)";
const withResource = `
  left join setpoint.subject as s on s.id = o.subject_id
  left join setpoint.resource as r on r.organization_id = o.organization_id and r.uid = o.resource_uid`;

/** $1 organizations, $2 ids. */
export const loadOperations = statement<
  StandingRow & {
    readonly journal: readonly JournalEntry[];
    readonly over_quota: { readonly most: number; readonly used: number } | null;
  }
>(
  "load operations",
  "tenants",
  `with ${clock}
   select ${operationJson("o")} as operation, clock.now_ms, ${isPaused} as paused, ${isLeaving} as leaving,
     ${journalOf} as journal, (
       select json_build_object('most', quota.most, 'used', quota.used) from (
         select setpoint.quota_of(o.organization_id, o.kind) as most, setpoint.used_of(o.organization_id, o.kind) as used
       ) as quota where quota.used > quota.most) as over_quota
   from unnest($1::uuid[], $2::text[]) as wanted (organization_id, id)
   join setpoint.operation as o on o.organization_id = wanted.organization_id and o.id = wanted.id
   ${withResource}
   cross join clock`,
);

/** $1 organization, $2 name. */
export const findAccount = statement<{ readonly account: LoadedAccount }>(
  "find account",
  "tenants",
  `select ${accountValues("a")} as account from setpoint.account as a where a.organization_id = $1 and a.name = $2`,
);

/** Everything that changes an operation has its row first, in the order of ids. */
export const lockOperations = statement<unknown>(
  "lock operations",
  "tenants",
  `select from setpoint.operation as o
   where o.organization_id = any ($1::uuid[]) and o.id = any ($2::text[]) order by o.id for no key update`,
);

/** The operations that hold these subjects, before the subjects themselves: whoever ends one has them in this order. */
export const lockOperationsOf = statement<unknown>(
  "lock operations of subjects",
  "tenants",
  `select from setpoint.operation as o
   where o.organization_id = $1 and o.subject_id = any ($2::bigint[]) and o.state = 'held' order by o.id for no key update`,
);

/** What waited for an approval goes on at once. */
export const wakeHeldOperations = statement<never>(
  "wake held operations",
  "tenants",
  `with ${clock},
   woken as (
     update setpoint.operation as o set due_at_ms = clock.now_ms from clock
     where o.organization_id = $1 and o.subject_id = any ($2::bigint[]) and o.state = 'held'
     returning o.id
   )
   update setpoint.operation_due as d set due_at_ms = (select clock.now_ms from clock)
   where d.operation_id = any (array(select woken.id from woken))`,
);

/** Urgent ones first; then a turn for each tenant, and within a tenant for each account; then by due time and id. */
export const dueOperations = statement<{
  organization_id: string;
  operation_id: string;
  shard: number;
  account_id: string | null;
  priority: number;
  due_at_ms: number;
}>(
  "due operations",
  "platform",
  `with ${clock},
   due as materialized (
     select d.*, row_number() over (
         partition by d.organization_id, d.priority, d.account_id order by d.due_at_ms, d.operation_id) as account_turn
     from clock cross join unnest($1::smallint[]) as wanted (shard)
     cross join lateral (
       select * from setpoint.operation_due as o where o.shard = wanted.shard and o.due_at_ms <= clock.now_ms
     ) as d
   ),
   queued as (
     select due.*, row_number() over (
         partition by organization_id, priority order by account_turn, due_at_ms, operation_id) as turn
     from due
   )
   select organization_id, operation_id, shard, account_id, priority, due_at_ms from queued
   order by priority, turn, due_at_ms, operation_id limit $2`,
);

export interface MovedRow extends StandingRow {
  readonly index: number;
  readonly entries: readonly JournalEntry[];
}
/**
 * Moves a batch of operations whose rows are locked. Answers with those whose worker still has the lease, that have not
 * ended, and whose journal is as long as the worker believes. What ends gives its hold back and wakes the subject, with both
 * versions raised: whatever the loop read before counts no more.
 */
export const recordMoves = statement<MovedRow>(
  "record moves",
  "tenants",
  `with ${clock},
   asked as materialized (
     select * from json_to_recordset($1::json) as asked (
       index integer, organization_id uuid, operation_id text, holder text, shard smallint, epoch bigint,
       journal_length integer, entries json, state text, yields_to_cancel boolean, yields_to_leaving boolean,
       direction text, step text, attempts integer, message text, due_in_ms bigint, turn_ms bigint, undone json)
   ),
   kept as materialized (
     select q.index, q.entries, q.state as asked_state, q.direction as new_direction, q.step as new_step, q.attempts as new_attempts,
       q.message as new_message, q.due_in_ms, q.turn_ms, q.undone, o.organization_id, o.id, o.resource_uid, o.journal_length,
       o.state as old_state, clock.now_ms, ${isPaused} as paused, ${isLeaving} as leaving,
       (q.yields_to_cancel and o.cancel is not null) or (q.yields_to_leaving and ${isLeaving}) as stopped
     from asked as q
     cross join clock
     join setpoint.operation as o on o.organization_id = q.organization_id and o.id = q.operation_id
     ${withResource}
     where o.state in ('running', 'held') and o.journal_length = q.journal_length and o.shard = q.shard
       and exists (select from setpoint.worker_shard as l
         where l.shard = q.shard and l.holder = q.holder and l.epoch = q.epoch and l.until_ms > clock.now_ms)
   ),
   decided as materialized (
     select kept.*, case when stopped then 'running' else asked_state end as new_state,
       case when stopped then now_ms
         when asked_state in ('running', 'held', 'attention') then now_ms + due_in_ms end as new_due_at_ms
     from kept
   ),
   appended as (
     insert into setpoint.step as t (organization_id, operation_id, place, step, version, direction, result, at_ms, body)
     select d.organization_id, d.id, d.journal_length + entry.place, entry.value ->> 'step', (entry.value ->> 'version')::integer,
       entry.value ->> 'direction', entry.value ->> 'result', d.now_ms - coalesce((entry.value ->> 'agoMs')::bigint, 0),
       (entry.value::jsonb - array['step', 'version', 'direction', 'result', 'agoMs'])::json
     from decided as d cross join lateral json_array_elements(d.entries) with ordinality as entry (value, place)
     returning t.operation_id, t.place, ${entryJson} as entry
   ),
   moved as (
     update setpoint.operation as o set
       state = d.new_state, direction = d.new_direction, step = d.new_step, attempts = d.new_attempts,
       message = d.new_message, due_at_ms = d.new_due_at_ms, started_at_ms = coalesce(o.started_at_ms, d.now_ms - d.turn_ms),
       ended_at_ms = case when d.new_state not in ('running', 'held', 'attention') then d.now_ms end,
       revision = o.revision + 1, journal_length = d.journal_length + json_array_length(d.entries)
     from decided as d where o.organization_id = d.organization_id and o.id = d.id
     returning o.*
   ),
   queued as (
     insert into setpoint.operation_due as q (operation_id, organization_id, subject_id, shard, account_id, priority, due_at_ms)
     select m.id, m.organization_id, m.subject_id, m.shard, m.account_id, m.priority, m.due_at_ms from moved as m
     where m.due_at_ms is not null
     on conflict (operation_id) do update set due_at_ms = excluded.due_at_ms where q.due_at_ms <> excluded.due_at_ms
   ),
   dequeued as (
     delete from setpoint.operation_due as q
     where q.operation_id = any (array(select m.id from moved as m where m.due_at_ms is null))
   ),
   released as (
     update setpoint.subject as s set hold_operation_id = null, hold_since_ms = null, hold_reason = null,
       input_version = s.input_version + 1, policy_version = s.policy_version + 1,
       -- Its own end moves the version too, and nothing else did: what moved before that makes it worth another try.
       undone = case when m.state = 'not-run' and d.undone is not null then json_build_object(
         'operationId', m.id, 'pipeline', m.pipeline, 'author', json_build_object('name', m.author_name, 'type', m.author_type),
         'message', m.message, 'generation', d.undone -> 'generation',
         'policyVersion', case when s.policy_version = (d.undone ->> 'policyVersion')::bigint then s.policy_version + 1
           else (d.undone ->> 'policyVersion')::bigint end) else s.undone end
     from moved as m join decided as d on d.id = m.id and d.organization_id = m.organization_id
     where m.ended_at_ms is not null and s.organization_id = m.organization_id and s.resource_uid = m.resource_uid
       and s.hold_operation_id = m.id
     returning s.id, s.organization_id, s.shard, m.ended_at_ms
   ),
   woken as (
     insert into setpoint.subject_due as e (subject_id, organization_id, shard, priority, due_at_ms)
     select id, organization_id, shard, 1, ended_at_ms from released
     on conflict (subject_id) do update
     set priority = least(e.priority, excluded.priority), due_at_ms = excluded.due_at_ms
   ),
   told as (
     insert into setpoint.log_entry (organization_id, type, uid, actor, data, trail, at_ms)
     select m.organization_id, 'operation.' || m.state, m.resource_uid, m.author_name,
       json_strip_nulls(json_build_object('operation', m.id, 'pipeline', m.pipeline, 'kind', m.kind, 'name', m.name,
         'scope', m.scope, 'step', m.step, 'message', m.message, 'cancelledBy', m.cancel ->> 'author')),
       ${throughOperation("m")}, d.now_ms
     from moved as m join decided as d on d.id = m.id and d.organization_id = m.organization_id
     where m.state <> d.old_state and m.state <> 'running'
   )
   select d.index, ${operationJson("m")} as operation, d.now_ms, d.paused, d.leaving,
     (select coalesce(json_agg(a.entry order by a.place), '[]') from appended as a where a.operation_id = d.id) as entries
   from decided as d join moved as m on m.id = d.id and m.organization_id = d.organization_id`,
);

export const takeWorkerShards = statement<{ shard: number; epoch: number; quiet: boolean }>(
  "take worker shards",
  "platform",
  "select shard, epoch, quiet from setpoint.take_worker_shards($1, $2, $3, $4)",
);
export const renewWorkerShards = statement<{ shard: number }>(
  "renew worker shards",
  "platform",
  `with ${clock},
   present as (
     update setpoint.worker_holder as h set presence = $5 where h.holder = $1 and h.presence is distinct from $5
   )
   update setpoint.worker_shard as l set until_ms = clock.now_ms + $2
   from clock, unnest($3::smallint[], $4::bigint[]) as claim (shard, epoch)
   where l.shard = claim.shard and l.epoch = claim.epoch and l.holder = $1 and l.until_ms > clock.now_ms
   returning l.shard`,
);
export const releaseWorkerShards = statement<never>(
  "release worker shards",
  "platform",
  releasing("worker_shard", "worker_holder"),
);
export const workerShardHolders = statement<{ holder: string; shards: number }>(
  "worker shard holders",
  "platform",
  `with ${clock}, live as (
     select l.holder from setpoint.worker_shard as l, clock where l.holder is not null and l.until_ms > clock.now_ms
     union
     select h.holder from setpoint.worker_holder as h, clock where h.until_ms > clock.now_ms
   )
   select live.holder, (
     select count(*) from setpoint.worker_shard as l, clock where l.holder = live.holder and l.until_ms > clock.now_ms
   ) as shards
   from live where not setpoint.worker_is_gone(live.holder)`,
);
