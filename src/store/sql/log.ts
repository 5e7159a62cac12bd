import { statement } from "../statement.ts";

/** Appends to the log without a position; the sealer gives it one after the commit. */
export const appendLog = statement<never>(
  "append log",
  "tenants",
  `insert into setpoint.log_entry (organization_id, type, uid, revision, actor, data, trail, at_ms)
   values ($1, $2, $3, $4, $5, $6::json, $7::json, setpoint.now_ms())`,
);

/** Several entries of one organization: $2 types, $3 uids, $4 revisions, $5 actors, $6 data, $7 trails. */
export const appendLogs = statement<never>(
  "append logs",
  "tenants",
  `insert into setpoint.log_entry (organization_id, type, uid, revision, actor, data, trail, at_ms)
   select $1, e.type, e.uid, e.revision, e.actor, e.data::json, e.trail::json, setpoint.now_ms()
   from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[])
     as e (type, uid, revision, actor, data, trail)`,
);

/** Says of the resources in the common table expression `gone` that nothing of them is left. */
export const tellRemoved = `
  insert into setpoint.log_entry (organization_id, type, uid, revision, actor, data, at_ms)
  select gone.organization_id, 'resource.removed', gone.uid, gone.revision + 1, 'setpoint',
    json_build_object('kind', gone.kind, 'name', gone.name, 'scope', gone.scope), setpoint.now_ms()
  from gone`;
