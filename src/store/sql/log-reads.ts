import type { Json } from "../../ports/json.ts";
import { statement } from "../statement.ts";

export interface LogPositionRow {
  readonly incarnation: number;
  readonly position: number;
  readonly checkpoint_position: number;
  readonly now_ms: number;
}
/** The end of the sealed log. Asked before a list in the same transaction: whatever the list lacks comes behind it. */
export const logPosition = statement<LogPositionRow>(
  "log position",
  "platform",
  `select i.incarnation, h.position, h.checkpoint_position, setpoint.now_ms() as now_ms
   from setpoint.log_head as h, setpoint.installation as i`,
);

export interface TailRow {
  readonly position: number;
  readonly incarnation: number;
  readonly organization_id: string | null;
  readonly type: string;
  readonly uid: string | null;
  readonly scope: string | null;
  readonly kind: string | null;
  readonly name: string | null;
  readonly revision: number | null;
  readonly at_ms: number;
}
const tailColumns = `position, incarnation, organization_id, type, uid, data ->> 'scope' as scope, data ->> 'kind' as kind,
  data ->> 'name' as name, revision, at_ms`;
/** For whoever follows the log of all tenants: what happened to which resource, without its data. */
export const tailEntries = statement<TailRow>(
  "tail entries",
  "tenants",
  `select ${tailColumns} from setpoint.sealed_entry where position > $1 order by position limit $2`,
);
/** One tenant's part of it, up to a position. */
export const tailOfTenant = statement<TailRow>(
  "tail of tenant",
  "tenants",
  `select ${tailColumns} from setpoint.sealed_entry
   where organization_id = $1 and position > $2 and position <= $3 order by position limit $4`,
);
export const sealedTime = statement<{ at_ms: number }>(
  "sealed time",
  "tenants",
  `select at_ms from setpoint.sealed_entry
   where organization_id = $1 and position <= $2 order by position desc limit 1`,
);

export interface DeclarationRow {
  readonly position: number;
  readonly type: string;
  readonly revision: number | null;
  readonly actor: string;
  readonly data: { readonly [key: string]: Json | undefined };
  readonly at_ms: number;
}
/** What was said about one resource, newest first. */
export const resourceEntries = statement<DeclarationRow>(
  "resource entries",
  "tenants",
  `select position, type, revision, actor, data, at_ms from setpoint.sealed_entry
   where uid = $2 and organization_id is not distinct from $1 and position < coalesce($3::bigint, 9223372036854775807)
     and ($4::text[] is null or type = any ($4::text[]))
   order by position desc limit $5`,
);

export interface ChangedStatusRow {
  readonly resource_uid: string;
  readonly subject_id: number;
  readonly version: number;
  readonly changed_at_ms: number;
}
/** The subjects of a list whose status changed since a time, oldest first. */
export const changedStatus = statement<ChangedStatusRow>(
  "changed status",
  "tenants",
  `select m.resource_uid, m.subject_id, m.version, m.changed_at_ms from setpoint.subject_summary as m
   where m.scope = $2 and m.kind = $3 and m.organization_id is not distinct from $1
     and (m.changed_at_ms, m.subject_id) > ($4::bigint, $5::bigint)
   order by m.changed_at_ms, m.subject_id limit $6`,
);
