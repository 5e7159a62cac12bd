import type { DeleteReservationAnswer } from "../../ports/engine-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";

export const reserveDeletes = statement<{ answer: DeleteReservationAnswer }>(
  "reserve deletes",
  "platform",
  "select setpoint.reserve_deletes($1, $2, $3, $4, $5, $6, $7) as answer",
);

/** Of many accounts at once, each named once and in the order of their ids: two processes never wait for each other in a circle. */
export const takeCalls = statement<{ place: number; taken: number; retry_in_ms: number }>(
  "take calls",
  "platform",
  `select asked.place, given.taken, given.retry_in_ms
   from (
     select * from unnest($1::text[], $2::integer[], $3::boolean[])
       with ordinality as asked (account_id, wanted, for_person, place)
     order by account_id
   ) as asked
   cross join lateral setpoint.take_calls(asked.account_id, asked.wanted, asked.for_person) as given`,
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
