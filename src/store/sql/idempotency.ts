import type { Json } from "../../ports/json.ts";
import { statement } from "../statement.ts";

/**
 * Takes a key: a new one, one whose answer no longer counts, or one of the same request whose first try has died. No row:
 * somebody else has it.
 */
export const takeKey = statement<{ taken: boolean }>(
  "take key",
  "tenants",
  `insert into setpoint.idempotency_key as k (organization_id, principal, key, fingerprint, begun_at_ms, running_until_ms)
   values ($1, $2, $3, $4, setpoint.now_ms(), setpoint.now_ms() + $5::bigint)
   on conflict (principal, key, organization_id) do update
   set fingerprint = excluded.fingerprint, begun_at_ms = excluded.begun_at_ms, status = null, headers = null, body = null,
     running_until_ms = excluded.running_until_ms
   where k.begun_at_ms + $6::bigint <= setpoint.now_ms()
     or (k.fingerprint = excluded.fingerprint and k.running_until_ms <= setpoint.now_ms())
   returning true as taken`,
);

export interface KeyRow {
  readonly fingerprint: string;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: Json;
}
export const readKey = statement<KeyRow>(
  "read key",
  "tenants",
  `select fingerprint, status, headers, body from setpoint.idempotency_key
   where principal = $2 and key = $3 and organization_id is not distinct from $1::uuid`,
);
export const finishKey = statement<never>(
  "finish key",
  "tenants",
  `update setpoint.idempotency_key set running_until_ms = null, status = $4, headers = $5::json, body = $6::json
   where principal = $2 and key = $3 and organization_id is not distinct from $1::uuid`,
);
export const dropKey = statement<never>(
  "drop key",
  "tenants",
  `delete from setpoint.idempotency_key
   where principal = $2 and key = $3 and organization_id is not distinct from $1::uuid and status is null`,
);
