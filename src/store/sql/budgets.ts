import type { DeleteReservationAnswer } from "../../ports/engine-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";

export const reserveDeletes = statement<{ answer: DeleteReservationAnswer }>(
  "reserve deletes",
  "platform",
  "select setpoint.reserve_deletes($1, $2, $3, $4, $5, $6, $7) as answer",
);

export const takeCalls = statement<{ taken: number; retry_in_ms: number }>(
  "take calls",
  "platform",
  "select taken, retry_in_ms from setpoint.take_calls($1, $2, $3)",
);

export const blockCalls = statement<never>(
  "block calls",
  "platform",
  `with ${clock}
   update setpoint.account_budget as b set blocked_until_ms = greatest(b.blocked_until_ms, clock.now_ms + $2::bigint)
   from clock where b.account_id = $1`,
);

export const recordAccount = statement<never>(
  "record account",
  "tenants",
  "update setpoint.account set fingerprint = $2, claimed_incarnation = $3 where id = $1",
);
