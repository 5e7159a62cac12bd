import type { Json, JsonObject } from "../../ports/json.ts";
import type {
  Grant,
  Mode,
  Pause,
  PrincipalType,
  ResourceDeletion,
  ScopePolicy,
  SubjectMemory,
  SubjectStatus,
} from "../../ports/records.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";

export interface ResourceColumns {
  readonly uid: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  readonly generation: number;
  readonly spec: Json;
  readonly labels: Readonly<Record<string, string>>;
  readonly author_name: string;
  readonly author_type: PrincipalType;
  readonly declared_at_ms: number;
  readonly deletion: ResourceDeletion | null;
}

/** A subject with its own resource, state and account. */
export interface LoadedSubject extends ResourceColumns {
  readonly id: number;
  readonly organization_id: string;
  readonly account_id: string | null;
  readonly shard: number;
  readonly input_version: number;
  readonly policy_version: number;
  readonly hold_operation_id: string | null;
  readonly hold_since_ms: number | null;
  readonly hold_reason: string | null;
  readonly detached: ResourceDeletion | null;
  readonly path: readonly string[];
  readonly mode: Mode | null;
  readonly protect: boolean | null;
  readonly memory: SubjectMemory | null;
  readonly status: SubjectStatus | null;
  readonly observation_hash: string | null;
  readonly held_digest: string | null;
  readonly due_stored: boolean;
  readonly account: {
    readonly name: string;
    readonly provider: string;
    readonly settings: JsonObject;
    readonly credential_ref: string | null;
    readonly fingerprint: string | null;
    readonly claimed_incarnation: number | null;
  } | null;
}

/** What the subjects of a batch have, each kind of row in one list; null where there is none. */
export interface LoadedBatch {
  readonly now_ms: number;
  readonly installation: { readonly id: string; readonly incarnation: number };
  readonly subjects: readonly LoadedSubject[] | null;
  readonly inputs: readonly (ResourceColumns & { readonly subject_id: number })[] | null;
  readonly policies: readonly { readonly organization_id: string | null; readonly body: ScopePolicy }[] | null;
  readonly pauses: readonly (Pause & { readonly organization_id: string | null })[] | null;
  readonly grants: readonly (Grant & { readonly subject_id: number })[] | null;
}

const resourceColumns = `r.uid, r.kind, r.name, r.scope, r.generation, r.spec, r.labels, r.author_name, r.author_type,
  r.declared_at_ms, r.deletion`;

/** One statement, hence one snapshot, for the whole batch; each list is assembled by one pass over the batch's keys. */
export const load = statement<LoadedBatch>(
  "load",
  "tenants",
  `with ${clock},
   wanted as materialized (
     select s.id, s.organization_id, s.account_id, s.shard, s.input_version, s.policy_version, s.hold_operation_id,
       s.hold_since_ms, s.hold_reason, s.detached, ${resourceColumns}, r.path, r.mode, r.protect
     from setpoint.subject as s
     join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
     where s.id = any ($1::bigint[])
   )
   select (select clock.now_ms from clock) as now_ms,
     (select json_build_object('id', i.id, 'incarnation', i.incarnation) from setpoint.installation as i) as installation,
     (select json_agg(found) from (
        select w.*, t.memory, t.status, t.observation_hash, t.held_digest,
          exists (select from setpoint.subject_due as d where d.subject_id = w.id) as due_stored,
          (select a from (
             select name, provider, settings, credential_ref, fingerprint, claimed_incarnation
             from setpoint.account where organization_id = w.organization_id and id = w.account_id) as a) as account
        from wanted as w
        left join setpoint.subject_state as t on t.organization_id = w.organization_id and t.subject_id = w.id
      ) as found) as subjects,
     (select json_agg(found) from (
        select w.id as subject_id, ${resourceColumns}
        from wanted as w
        join setpoint.link as k
          on k.organization_id = w.organization_id and k.scope = w.scope and k.kind = w.kind and k.name = w.name
        join setpoint.resource as r on r.organization_id = k.organization_id and r.uid = k.source_uid
      ) as found) as inputs,
     (select json_agg(found) from (
        select p.organization_id, p.body from setpoint.policy as p
        where p.scope in (select unnest(w.path) from wanted as w)
      ) as found) as policies,
     (select json_agg(found) from (
        select p.id, p.organization_id, p.scope, p.level, p.author, p.reason, p.expires_at_ms as "expiresAtMs"
        from setpoint.pause as p, clock
        where p.expires_at_ms > clock.now_ms and p.scope in (
          select unnest(w.path || ('resource/' || w.uid) || ('account/' || w.account_id)) from wanted as w)
      ) as found) as pauses,
     (select json_agg(found) from (
        select g.subject_id, g.id, g.held_change_id as "heldChangeId", g.item_digest as "itemDigest", g.approver,
          g.expires_at_ms as "expiresAtMs"
        from wanted as w
        join setpoint.item_grant as g on g.organization_id = w.organization_id and g.subject_id = w.id
        cross join clock
        where g.used_at_ms is null and g.expires_at_ms > clock.now_ms
      ) as found) as grants`,
);
