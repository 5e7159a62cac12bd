import type { Json } from "../../ports/json.ts";
import type { EntryTrail } from "../../ports/read-store.ts";
import { statement } from "../statement.ts";
import type { SealedRow } from "./reads.ts";

export const anyUnsealed = statement<{ any: boolean }>(
  "any unsealed",
  "tenants",
  `select exists (select from setpoint.log_entry) as "any"`,
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

export const seal = statement<never>(
  "seal",
  "tenants",
  `insert into setpoint.sealed_entry
     (position, incarnation, organization_id, type, uid, revision, actor, data, trail, at_ms, hash)
   select n.position, n.incarnation, e.organization_id, e.type, e.uid, e.revision, e.actor, e.data, e.trail, e.at_ms,
     n.hash
   from json_to_recordset($1::json) as n (id bigint, position bigint, incarnation bigint, hash text)
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
  `select position, incarnation, organization_id, type, uid, revision, actor, data, trail, at_ms, hash
   from setpoint.sealed_entry where position > $1 order by position limit $2`,
);
