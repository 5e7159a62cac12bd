import { canonical } from "../../../src/kernel/hash.ts";
import { emptyMemory } from "../../../src/kernel/memory.ts";
import type { Json } from "../../../src/ports/json.ts";
import { query } from "../../support/postgres.ts";

type Row = Readonly<Record<string, Json>>;

const priorities = ["person", "event", "first", "resync"];

const tables = {
  installation: "select id, incarnation from setpoint.installation",
  organizations: "select id, name from setpoint.organization",
  scopes: `select scope, parent, organization_id as "organizationId" from setpoint.scope`,
  accounts: `select a.id, a.organization_id as "organizationId", a.name, a.provider, a.settings,
      a.credential_ref as "credentialRef", a.fingerprint, a.claimed_incarnation as "claimedIncarnation", a.pool,
      b.calls_per_second as "callsPerSecond", b.blocked_until_ms as "blockedUntilMs", b.tokens, b.tokens_at_ms as "tokensAtMs",
      b.took_ms as "tookMs", b.took_at_ms as "tookAtMs"
    from setpoint.account a join setpoint.account_budget b on b.account_id = a.id`,
  pool: `select name, state, organization_id as "organizationId", account_id as "accountId" from setpoint.pool_account`,
  resources: `select uid, organization_id as "organizationId", kind, name, scope, spec, labels,
      json_build_object('name', author_name, 'type', author_type) as author, mode, protect, generation, revision,
      declared_at_ms as "declaredAtMs", deletion,
      coalesce((select json_agg(json_build_object('scope', k.scope, 'kind', k.kind, 'name', k.name)) from setpoint.link k
        where k.source_uid = r.uid and k.organization_id = r.organization_id), '[]') as links
    from setpoint.resource r`,
  subjects: `select s.id, s.organization_id as "organizationId", s.resource_uid as "resourceUid",
      s.account_id as "accountId", s.kind, s.name, s.shard, d.due_at_ms as "dueAtMs", d.priority,
      s.input_version as "inputVersion", s.policy_version as "policyVersion",
      case when s.permit_id is not null then json_build_object('id', s.permit_id, 'untilMs', s.permit_until_ms) end as permit,
      case when s.hold_operation_id is not null then json_build_object('operationId', s.hold_operation_id,
        'sinceMs', s.hold_since_ms, 'reason', s.hold_reason) end as hold, s.undone,
      t.memory, t.status, o.observation, t.held_digest as "heldDigest", s.now_owned as "nowOwned", s.detached
    from setpoint.subject s left join setpoint.subject_due d on d.subject_id = s.id
    left join setpoint.subject_state t on t.subject_id = s.id and t.organization_id = s.organization_id
    left join setpoint.subject_observation o on o.subject_id = s.id and o.organization_id = s.organization_id`,
  policies: "select body from setpoint.policy",
  pauses: `select id, organization_id as "organizationId", scope, level, author, reason, expires_at_ms as "expiresAtMs"
    from setpoint.pause`,
  heldChanges: `select h.id, h.organization_id as "organizationId", h.level, h.scope_key as "scopeKey",
      h.opened_at_ms as "openedAtMs", h.state, h.digest, h.guard, h.verdict, h.authors, h.decided_by as "decidedBy",
      h.decided_at_ms as "decidedAtMs",
      coalesce((select json_agg(json_build_object('key', i.key, 'action', i.action, 'externalId', i.external_id,
        'digest', i.digest, 'differences', i.differences, 'reason', i.reason, 'subjectId', i.subject_id))
        from setpoint.held_item i where i.held_change_id = h.id and i.organization_id = h.organization_id), '[]') as items
    from setpoint.held_change h`,
  grants: `select id, held_change_id as "heldChangeId", subject_id as "subjectId", item_digest as "itemDigest", approver,
      expires_at_ms as "expiresAtMs", used_at_ms as "usedAtMs" from setpoint.item_grant`,
  claims: `select account_key as "accountKey", external_id as "externalId", subject_id as "subjectId", key
    from setpoint.claim`,
  budgets: `select b.level, b.scope_key as "scopeKey", b.owned, b.owned_at_ms as "ownedAtMs",
      (select coalesce(sum(c.count), 0)::float8 from setpoint.delete_charge c
       where c.level = b.level and c.scope_key = b.scope_key and c.minute > $1::bigint / 60000 - 60) as used
    from setpoint.delete_budget b where $1::bigint is not null`,
  shards: `select shard, holder, epoch, until_ms as "untilMs", quiet, quiet_next as "quietNext" from setpoint.shard
    where epoch > 0`,
  operations: `select id, organization_id as "organizationId", pipeline, version, subject_id as "subjectId",
      resource_uid as "resourceUid", kind, name, account_id as "accountId", shard, priority, input,
      json_build_object('name', author_name, 'type', author_type) as author, created_at_ms as "createdAtMs",
      started_at_ms as "startedAtMs", ended_at_ms as "endedAtMs", state, direction, step, attempts, message, cancel,
      (select d.due_at_ms from setpoint.operation_due d where d.operation_id = o.id) as "dueAtMs", revision,
      coalesce((select json_agg((jsonb_build_object('step', t.step, 'version', t.version, 'direction', t.direction,
        'result', t.result, 'place', t.place, 'atMs', t.at_ms) || t.body::jsonb) order by t.place) from setpoint.step t
        where t.operation_id = o.id and t.organization_id = o.organization_id), '[]') as journal
    from setpoint.operation o`,
  workerShards: `select shard, holder, epoch, until_ms as "untilMs", quiet, quiet_next as "quietNext"
    from setpoint.worker_shard where epoch > 0`,
  changes: `select record, subject_id as "subjectId", resource_uid as "resourceUid", organization_id as "organizationId",
      permit_id as "permitId", at_ms as "atMs", outcome from setpoint.change`,
  verdicts: `select subject_id as "subjectId", resource_uid as "resourceUid", organization_id as "organizationId",
      at_ms as "atMs", verdict from setpoint.verdict`,
  idleCycles: "select kind || ' ' || minute_ms as key, count as value from setpoint.idle_cycle",
  freshness: "select account_id || ' ' || collection as key, complete_at_ms as value from setpoint.freshness",
  seen: "select shard as key, since_ms as value from setpoint.shard_seen",
  loopsSeen: "select shard || ' ' || kind as key, since_ms as value from setpoint.loop_seen",
} as const;

/** The PostgreSQL store's content in the form of the twin's `dump()`. */
export async function dumpPostgres(url: string, nowMs: number): Promise<Json> {
  const whole: Record<string, unknown> = {};
  const names = Object.keys(tables) as (keyof typeof tables)[];
  // One statement, so that the whole is one connection and one moment.
  const columns = names.map((name) => `(select coalesce(json_agg(x), '[]') from (${tables[name]}) x) as "${name}"`);
  const [row] = await query<Record<string, Row[]>>(url, `select ${columns.join(", ")}`, [nowMs]);
  for (const name of names) whole[name] = (row?.[name] ?? []).map(withoutNulls).map((one) => view(name, one));
  return JSON.parse(JSON.stringify(arranged(whole))) as Json;
}

function view(name: keyof typeof tables, row: Row): unknown {
  switch (name) {
    case "accounts": {
      const { tokens, tokensAtMs, ...rest } = row;
      const emptyAtMs = Math.round(Number(tokensAtMs) - (Number(tokens) * 1_000) / Number(row["callsPerSecond"]));
      return { ...rest, emptyAtMs };
    }
    case "resources":
      return { ...row, links: sorted(row["links"] as Json[]) };
    case "subjects":
      return {
        ...row,
        priority: priorities[Number(row["priority"] ?? 3)],
        memory: row["memory"] ?? emptyMemory,
      };
    case "operations":
      return { ...row, priority: priorities[Number(row["priority"])] };
    case "policies":
      return row["body"];
    case "heldChanges":
      return { ...row, items: sorted((row["items"] as Row[]).map(withoutNulls)) };
    case "idleCycles":
    case "freshness":
    case "seen":
    case "loopsSeen":
      return [row["key"], row["value"]];
    default:
      return row;
  }
}

function arranged(whole: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, rows] of Object.entries(whole) as [string, Row[]][]) {
    if (name === "installation") result[name] = rows[0];
    else if (name === "subjects")
      result[name] = rows.toSorted((left, right) => Number(left["id"]) - Number(right["id"]));
    else if (name === "shards" || name === "workerShards")
      result[name] = rows.toSorted((left, right) => Number(left["shard"]) - Number(right["shard"]));
    else result[name] = sorted(rows);
  }
  return result;
}

function sorted(rows: readonly unknown[]): unknown[] {
  return rows.toSorted((left, right) => (canonical(left) < canonical(right) ? -1 : 1));
}

function withoutNulls(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
