import type { Json, JsonObject } from "../../ports/json.ts";
import type {
  AccountPool,
  Grant,
  Mode,
  Pause,
  PrincipalType,
  PublishedValues,
  ResourceDeletion,
  ScopePolicy,
  SubjectMemory,
  SubjectStatus,
  Undone,
} from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";
import { subjectText } from "./subject-text.ts";

type Text = string | null;

/** Values of a resource in the order of `resourceValues`. */
export type LoadedResource = readonly [
  uid: string,
  kind: string,
  name: string,
  scope: string,
  generation: number,
  spec: Json,
  labels: Readonly<Record<string, string>>,
  authorName: string,
  authorType: PrincipalType,
  declaredAtMs: number,
  deletion: ResourceDeletion | null,
];

/** A subject with its own resource and state, in the order of the statement. */
export type LoadedSubject = readonly [
  id: number,
  organizationId: string,
  accountId: Text,
  shard: number,
  inputVersion: number,
  policyVersion: number,
  dueAtMs: number | null,
  holdOperationId: Text,
  holdSinceMs: number | null,
  holdReason: Text,
  detached: ResourceDeletion | null,
  memory: SubjectMemory | null,
  status: SubjectStatus | null,
  observationHash: Text,
  heldDigest: Text,
  path: readonly string[],
  mode: Mode | null,
  protect: boolean | null,
  busy: boolean | null,
  undone: Undone | null,
  resource: LoadedResource,
];

export type LoadedAccount = readonly [
  organizationId: string,
  id: string,
  name: string,
  provider: string,
  settings: JsonObject,
  credentialRef: Text,
  fingerprint: Text,
  claimedIncarnation: number | null,
  readCredentialRef: Text,
  pool: AccountPool | null,
];

/** The fields of a `LoadedAccount`. */
export const accountValues = (a: string) =>
  `json_build_array(${a}.organization_id, ${a}.id, ${a}.name, ${a}.provider, ${a}.settings, ${a}.credential_ref,
     ${a}.fingerprint, ${a}.claimed_incarnation, ${a}.read_credential_ref, ${a}.pool)`;

/** What the subjects of a batch have, each kind of row in one list; null where there is none. */
export interface LoadedBatch {
  readonly now_ms: number;
  readonly installation: { readonly id: string; readonly incarnation: number };
  /** Texts of subjects in the order of `ids`: both are gathered in one order, that of `wanted`. */
  readonly subjects: string | null;
  readonly ids: readonly number[] | null;
  readonly accounts: readonly LoadedAccount[] | null;
  readonly inputs: readonly (readonly [subjectId: number, resource: LoadedResource])[] | null;
  readonly published:
    | readonly (readonly [
        subjectId: number,
        source: readonly [inputUid: string, kind: string, name: string, scope: string, values: PublishedValues],
      ])[]
    | null;
  readonly policies: readonly (readonly [organizationId: Text, policy: ScopePolicy])[] | null;
  readonly pauses: readonly (readonly [organizationId: Text, pause: Pause])[] | null;
  readonly grants: readonly (readonly [subjectId: number, grant: Grant])[] | null;
}

/** The compressed size is counted, because it is known without reading. */
const largestBatch = { inputs: 50_000, memoryBytes: 16_000_000 };

const resourceValues = (
  r: string,
) => `json_build_array(${r}.uid, ${r}.kind, ${r}.name, ${r}.scope, ${r}.generation, ${r}.spec,
  ${r}.labels, ${r}.author_name, ${r}.author_type, ${r}.declared_at_ms, ${r}.deletion)`;

/**
 * One statement, hence one snapshot, for the whole batch; each list is assembled by one pass over the batch's keys.
 * Values without their names: naming them costs as much again, here and where they are read. Each subject is a text of its
 * own, read when its cycle begins: hundreds of them as objects at once would be copied about in memory. What many subjects share
 * (accounts, policies, pauses) comes once; where nothing is paused, which is nearly always, nobody's scopes are gathered.
 * $2: a batch whose answer would be huge refuses itself, before it is assembled; its subjects are then loaded one by one.
 */
export const load = statement<LoadedBatch>(
  "load",
  "tenants",
  `with ${clock},
   wanted as materialized (
     select s.id, s.organization_id, s.account_id, s.shard, s.input_version, s.policy_version, s.hold_operation_id,
       s.hold_since_ms, s.hold_reason, s.permit_until_ms > (select clock.now_ms from clock) as busy, s.detached, s.undone,
       r.uid, r.kind, r.name, r.scope, r.generation, r.spec, r.labels,
       r.author_name, r.author_type, r.declared_at_ms, r.deletion, r.path, r.mode, r.protect, t.memory, t.status,
       t.observation_hash, t.held_digest,
       (select d.due_at_ms from setpoint.subject_due as d where d.subject_id = s.id) as due_at_ms
     from setpoint.subject as s
     join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
     left join setpoint.subject_state as t on t.organization_id = s.organization_id and t.subject_id = s.id
     where s.id = any ($1::bigint[])
   ),
   source as materialized (
     select w.id as subject_id, k.organization_id, k.source_uid
     from wanted as w
     join setpoint.link as k
       on k.scope = w.scope and k.kind = w.kind and k.name = w.name
       and k.organization_id is not distinct from w.organization_id
   )
   select (select case when $2::boolean and (
        (select count(*) from source) > ${largestBatch.inputs}
        or (select sum(pg_column_size(w.memory)) from wanted as w) > ${largestBatch.memoryBytes})
      then setpoint.refuse('SP003', 'this batch of loads is too large to be answered at once') end) as refused,
     (select clock.now_ms from clock) as now_ms,
     (select json_build_object('id', i.id, 'incarnation', i.incarnation) from setpoint.installation as i) as installation,
     (select json_agg(w.id) from wanted as w) as ids,
     (select string_agg(${subjectText("w")}, E'\\x1e')
      from wanted as w
     ) as subjects,
     (select json_agg(${accountValues("a")})
      from (select distinct w.organization_id, w.account_id from wanted as w where w.account_id is not null) as used
      join setpoint.account as a on a.organization_id = used.organization_id and a.id = used.account_id
     ) as accounts,
     (select json_agg(json_build_array(k.subject_id, ${resourceValues("r")}))
      from source as k
      join setpoint.resource as r on r.organization_id = k.organization_id and r.uid = k.source_uid
     ) as inputs,
     (select json_agg(json_build_array(k.subject_id, json_build_array(k.source_uid, f.kind, f.name, f.scope,
        shown.values)))
      from source as k
      join setpoint.reference as f on f.organization_id = k.organization_id and f.source_uid = k.source_uid
      cross join lateral (
        select t.status -> 'values' as values
        from setpoint.resource as r
        join setpoint.subject as s on s.organization_id = r.organization_id and s.resource_uid = r.uid
        join setpoint.subject_state as t on t.organization_id = s.organization_id and t.subject_id = s.id
        where r.scope = f.scope and r.kind = f.kind and r.name = f.name and r.organization_id = f.organization_id
        order by s.id limit 1
      ) as shown
      where shown.values is not null
     ) as published,
     (select json_agg(json_build_array(p.organization_id, p.body))
      from (select distinct unnest(w.path) as scope from wanted as w) as used
      join setpoint.policy as p on p.scope = used.scope
     ) as policies,
     (select json_agg(json_build_array(p.organization_id, json_build_object('id', p.id, 'scope', p.scope,
        'level', p.level, 'author', p.author, 'reason', p.reason, 'expiresAtMs', p.expires_at_ms)))
      from (
        select distinct unnest(w.path || ('resource/' || w.uid) || ('account/' || w.account_id)) as scope from wanted as w
        where exists (select from setpoint.pause)
      ) as used
      join setpoint.pause as p on p.scope = used.scope
      cross join clock
      where p.expires_at_ms > clock.now_ms
     ) as pauses,
     (select json_agg(json_build_array(w.id, json_build_object('id', g.id, 'heldChangeId', g.held_change_id,
        'itemDigest', g.item_digest, 'approver', g.approver, 'expiresAtMs', g.expires_at_ms)))
      from wanted as w
      join setpoint.item_grant as g on g.subject_id = w.id
      cross join clock
      where g.used_at_ms is null and g.expires_at_ms > clock.now_ms
     ) as grants`,
);
