import type { BudgetUse } from "../../ports/declaring-store.ts";
import type { DeleteReservationAnswer } from "../../ports/engine-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";

export const reserveDeletes = statement<{ answer: DeleteReservationAnswer }>(
  "reserve deletes",
  "platform",
  "select setpoint.reserve_deletes($1, $2, $3, $4, $5, $6, $7, $8) as answer",
);

/**
 * $1 organization, $2 account or none. What is ours is counted as for a reservation, except that the count of the whole
 * platform is the one that the last reservation made: nobody's dry run adds up everybody's things.
 */
export const readDeleteBudgets = statement<BudgetUse>(
  "read delete budgets",
  "tenants",
  `with ${clock},
   wanted as (
     select 1 as place, 'account' as level, a.id as scope_key from setpoint.account as a
     where a.organization_id = $1 and a.id = $2
     union all select 2, 'organization', o.id::text from setpoint.organization as o where o.id = $1
     union all select 3, 'platform', 'platform'
   )
   select w.level,
     (select coalesce(sum(c.count), 0)::bigint from setpoint.delete_charge as c
      where c.level = w.level and c.scope_key = w.scope_key and c.minute > clock.now_ms / 60000 - 60) as used,
     case when b.owned_at_ms is not null and (w.level = 'platform' or clock.now_ms - b.owned_at_ms <= 60000) then b.owned
       else setpoint.owned_in(w.level, w.scope_key) end as owned
   from wanted as w cross join clock
   left join setpoint.delete_budget as b on b.level = w.level and b.scope_key = w.scope_key
   order by w.place`,
);

/** Of many accounts at once, each named once and in the order of their ids: two processes never wait for each other in a circle. */
export const takeCalls = statement<{ place: number; taken: number; retry_in_ms: number }>(
  "take calls",
  "platform",
  `select asked.place, given.taken, given.retry_in_ms
   from (
     select * from unnest($1::text[], $2::integer[], $3::boolean[], $4::text[])
       with ordinality as asked (account_id, wanted, for_person, took_ms, place)
     order by account_id
   ) as asked
   cross join lateral setpoint.take_calls(asked.account_id, asked.wanted, asked.for_person, asked.took_ms::integer[]) as given`,
);

export const blockCalls = statement<never>(
  "block calls",
  "platform",
  `with ${clock}
   update setpoint.account_budget as b set blocked_until_ms = greatest(b.blocked_until_ms, clock.now_ms + $2::bigint)
   from clock where b.account_id = $1`,
);

/** $1 account, $2 how many at most. */
export const recordedThings = statement<{ kind: string; external_id: string }>(
  "recorded things",
  "tenants",
  `select s.kind, c.external_id
   from setpoint.claim as c
   join setpoint.subject as s on s.organization_id = c.organization_id and s.id = c.subject_id
   where c.organization_id = (select a.organization_id from setpoint.account as a where a.id = $1) and c.account_key = $1
   order by c.external_id limit $2::integer`,
);

export const recordAccount = statement<never>(
  "record account",
  "tenants",
  "update setpoint.account set fingerprint = $2, claimed_incarnation = $3 where id = $1",
);
