import type { Json } from "../../ports/json.ts";
import type { EntryTrail } from "../../ports/read-store.ts";
import { statement } from "../statement.ts";
import { sealedColumns, type SealedRow } from "./reads.ts";

/** In order, so that it goes by the key: the rows themselves lie behind many that were sealed and not vacuumed yet. */
export const anyUnsealed = statement<{ id: number }>(
  "any unsealed",
  "tenants",
  "select id from setpoint.log_entry order by id limit 1",
);

/** One sealer at a time, in whatever process. */
export const tryLockSealer = statement<{ locked: boolean }>(
  "try lock sealer",
  "platform",
  "select pg_try_advisory_xact_lock(7304, 0) as locked",
);

export interface HeadRow {
  readonly position: number;
  readonly hash: string;
  readonly incarnation: number;
  readonly checkpoint_position: number;
  readonly checkpoint_hash: string;
}
export const readHead = statement<HeadRow>(
  "read head",
  "platform",
  `select h.position, h.hash, h.checkpoint_position, h.checkpoint_hash, i.incarnation
   from setpoint.log_head as h, setpoint.installation as i`,
);

export interface UnsealedRow {
  readonly id: number;
  readonly organization_id: string | null;
  readonly type: string;
  readonly uid: string | null;
  readonly revision: number | null;
  readonly actor: string;
  readonly data: Json;
  readonly trail: EntryTrail | null;
  readonly at_ms: number;
}
/** What has committed so far. A row of a transaction that is still under way is not here and gets a later position. */
export const readUnsealed = statement<UnsealedRow>(
  "read unsealed",
  "tenants",
  `select id, organization_id, type, uid, revision, actor, data, trail, at_ms from setpoint.log_entry order by id limit $1`,
);

export interface TenantEndRow {
  readonly organization_id: string | null;
  readonly position: number;
  readonly hash: string;
}
/**
 * The last sealed entry of each of these organizations, and of the platform. Ordered by both columns of the index: by the
 * position alone, the platform's would be looked for through everybody's entries.
 */
export const tenantEnds = statement<TenantEndRow>(
  "tenant ends",
  "tenants",
  `select o.id as organization_id, e.position, e.hash from unnest($1::uuid[]) as o (id)
   cross join lateral (
     select position, hash from setpoint.sealed_entry where organization_id = o.id order by position desc limit 1
   ) as e
   union all
   (select null, position, hash from setpoint.sealed_entry where organization_id is null
    order by organization_id desc, position desc limit 1)`,
);

export const seal = statement<never>(
  "seal",
  "tenants",
  `insert into setpoint.sealed_entry
     (position, incarnation, organization_id, type, uid, revision, actor, data, trail, at_ms, previous_hash,
      tenant_previous_position, tenant_previous_hash, hash)
   select n.position, n.incarnation, e.organization_id, e.type, e.uid, e.revision, e.actor, e.data, e.trail, e.at_ms,
     n.previous_hash, n.tenant_previous_position, n.tenant_previous_hash, n.hash
   from json_to_recordset($1::json) as n (id bigint, position bigint, incarnation bigint, previous_hash text,
     tenant_previous_position bigint, tenant_previous_hash text, hash text)
   join setpoint.log_entry as e on e.id = n.id`,
);
export const dropUnsealed = statement<never>(
  "drop unsealed",
  "tenants",
  "delete from setpoint.log_entry where id = any ($1::bigint[])",
);
export const moveHead = statement<never>(
  "move head",
  "platform",
  "update setpoint.log_head set position = $1, hash = $2",
);

/** For checking the chain: entries of all tenants, in order. */
export const readSealed = statement<SealedRow>(
  "read sealed",
  "tenants",
  `select ${sealedColumns} from setpoint.sealed_entry where position > $1 order by position limit $2`,
);
