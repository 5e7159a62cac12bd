import { type Statement, statement } from "../statement.ts";

/** Removes up to $2 rows older than $1; the batches are small, so that nobody waits for one. */
function removeOld(
  name: string,
  table: string,
  condition: string,
  touches: "tenants" | "platform" = "tenants",
): Statement<{ removed: number }> {
  return statement<{ removed: number }>(
    `remove old ${name}`,
    touches,
    `with gone as (
       delete from setpoint.${table} as t
       where t.ctid = any (array(select o.ctid from setpoint.${table} as o where ${condition} limit $2))
       returning 1
     )
     select count(*) as removed from gone`,
  );
}

export const removeChanges = removeOld("changes", "change", "o.at_ms < $1::bigint");
export const removeVerdicts = removeOld("verdicts", "verdict", "o.at_ms < $1::bigint");
export const removePauses = removeOld("pauses", "pause", "o.expires_at_ms < $1::bigint");
export const removeKeys = removeOld("idempotency keys", "idempotency_key", "o.begun_at_ms < $1::bigint");
/** Only what was decided; an approved proposal may still be applied. */
export const removeProposals = removeOld(
  "proposals",
  "proposal",
  "o.state in ('applied', 'rejected', 'withdrawn') and coalesce(o.applied_at_ms, o.decided_at_ms) < $1::bigint",
);
export const removeGrants = removeOld("grants", "item_grant", "coalesce(o.used_at_ms, o.expires_at_ms) < $1::bigint");
export const removeIdleCycles = removeOld("idle cycles", "idle_cycle", "o.minute_ms < $1::bigint", "platform");
/** Charges count for an hour; those of scopes where nothing was deleted since then are still there. */
export const removeCharges = removeOld("charges", "delete_charge", "o.minute < $1::bigint / 60000 - 60", "platform");

export const removeDeliveries = removeOld(
  "deliveries",
  "notification_delivery",
  "o.state <> 'pending' and o.created_at_ms < $1::bigint",
);
export const removeNotifications = removeOld("notifications", "notification", "o.told_at_ms < $1::bigint");
/** What is still asked for lapses by itself; then it has this long to be read. */
export const removeGovernanceChanges = removeOld(
  "governance changes",
  "governance_change",
  "coalesce(o.decided_at_ms, o.expires_at_ms) < $1::bigint",
);

/** With their journals. What runs or waits is kept however old it is. */
export const removeOperations = statement<{ removed: number }>(
  "remove old operations",
  "tenants",
  `with gone as (
     delete from setpoint.operation as t
     where t.ctid = any (array(select o.ctid from setpoint.operation as o where o.ended_at_ms < $1::bigint limit $2))
     returning t.organization_id, t.id
   ),
   steps as (
     delete from setpoint.step as t using gone
     where t.organization_id = gone.organization_id and t.operation_id = gone.id
   )
   select count(*) as removed from gone`,
);

/** Only what was decided or withdrawn; a rejected change is still current. */
export const removeHeldChanges = statement<{ removed: number }>(
  "remove old held changes",
  "tenants",
  `with gone as (
     delete from setpoint.held_change as h
     where h.ctid = any (array(
       select o.ctid from setpoint.held_change as o
       where o.state in ('approved', 'withdrawn') and o.closed_at_ms < $1::bigint limit $2))
     returning h.organization_id, h.id
   ),
   items as (
     delete from setpoint.held_item as i using gone
     where i.organization_id = gone.organization_id and i.held_change_id = gone.id
   )
   select count(*) as removed from gone`,
);

export const removeCredentials = statement<{ removed: number }>(
  "remove credentials",
  "tenants",
  `with gone as (
     delete from setpoint.credential where id in (
       select id from setpoint.credential
       where least(expires_at_ms, revoked_at_ms, redeemed_at_ms) < $1::bigint limit $2 for update skip locked)
     returning 1
   )
   select count(*) as removed from gone`,
);

/** Cuts the log before the first entry that is young enough, and keeps the hash of the last one that went. */
export const cutLog = statement<{ removed: number }>(
  "cut log",
  "tenants",
  `with head as (
     select h.checkpoint_position as position from setpoint.log_head as h for update
   ),
   cut as (
     select least(
       head.position + $2::bigint,
       coalesce(
         (select e.position - 1 from setpoint.sealed_entry as e
          where e.position > head.position and e.at_ms >= $1::bigint order by e.position limit 1),
         (select max(e.position) from setpoint.sealed_entry as e))) as position
     from head
   ),
   moved as (
     update setpoint.log_head as h set checkpoint_position = last.position, checkpoint_hash = last.hash
     from cut join setpoint.sealed_entry as last on last.position = cut.position
   ),
   gone as (
     delete from setpoint.sealed_entry as e using cut where e.position <= cut.position returning 1
   )
   select count(*) as removed from gone`,
);
