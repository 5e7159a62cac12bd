import { statement } from "../statement.ts";

/** Appends to the log without a position; the sealer gives it one after the commit. */
export const appendLog = statement<never>(
  "append log",
  "tenants",
  `insert into setpoint.log_entry (organization_id, type, uid, revision, actor, data, trail, at_ms)
   values ($1, $2, $3, $4, $5, $6::json, $7::json, setpoint.now_ms())`,
);
