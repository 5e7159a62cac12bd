import type { DeliveryAnswer, DeliveryState } from "../../ports/notification-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";
import type { SealedRow } from "./reads.ts";

export interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly state: "enabled" | "disabled";
  readonly created_by: string;
  readonly created_at_ms: number;
  readonly failing_since_ms: number | null;
  readonly disabled_reason: string | null;
}
export const listEndpoints = statement<EndpointRow>(
  "list webhook endpoints",
  "tenants",
  `select e.id, e.url, e.description, e.events, e.state, e.created_by, e.created_at_ms, e.failing_since_ms,
     e.disabled_reason
   from setpoint.webhook_endpoint as e where e.organization_id = $1 order by e.created_at_ms, e.id`,
);
/** No row: there are as many as may be. */
export const insertEndpoint = statement<{ id: string }>(
  "insert webhook endpoint",
  "tenants",
  `insert into setpoint.webhook_endpoint
     (organization_id, id, url, description, events, state, secret, created_by, created_at_ms)
   select $1, $2, $3, $4, $5::text[], 'enabled', $6, $7, setpoint.now_ms()
   where (select count(*) from setpoint.webhook_endpoint as e where e.organization_id = $1) < $8::bigint
   returning id`,
);
/** Switching it on again forgets for how long it failed. */
export const updateEndpoint = statement<{ id: string }>(
  "update webhook endpoint",
  "tenants",
  `update setpoint.webhook_endpoint as e
   set url = $3, description = $4, events = $5::text[], state = $6,
     failing_since_ms = case when $6 = 'enabled' and e.state = 'disabled' then null else e.failing_since_ms end,
     disabled_reason = case when $6 = 'enabled' then null else coalesce(e.disabled_reason, 'switched off') end
   where e.organization_id = $1 and e.id = $2 returning e.id`,
);
export const deleteEndpoint = statement<{ id: string }>(
  "delete webhook endpoint",
  "tenants",
  `with gone as (
     delete from setpoint.webhook_endpoint as e where e.organization_id = $1 and e.id = $2 returning e.id
   ),
   deliveries as (
     delete from setpoint.notification_delivery as d
     where d.organization_id = $1 and d.channel = 'webhook' and d.target in (select gone.id from gone)
   )
   select id from gone`,
);
export const rotateSecret = statement<{ id: string }>(
  "rotate webhook secret",
  "tenants",
  `update setpoint.webhook_endpoint as e
   set previous_secret = e.secret, previous_until_ms = setpoint.now_ms() + $4::bigint, secret = $3
   where e.organization_id = $1 and e.id = $2 returning e.id`,
);

export interface DeliveryRow {
  readonly organization_id: string;
  readonly id: string;
  readonly channel: "webhook" | "email";
  readonly target: string;
  readonly type: string;
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly next_try_at_ms: number | null;
  readonly created_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly answers: readonly DeliveryAnswer[];
}
const deliveryView = `d.organization_id, d.id, d.channel, d.target, d.type, d.body, d.state, d.attempts, d.next_try_at_ms,
  d.created_at_ms, d.ended_at_ms, d.answers`;
export const listDeliveries = statement<DeliveryRow>(
  "list deliveries",
  "tenants",
  `select ${deliveryView} from setpoint.notification_delivery as d
   where d.organization_id = $1 and d.target = $2 order by d.created_at_ms desc, d.id desc limit $3`,
);
export const listMailed = statement<DeliveryRow>(
  "list mailed",
  "tenants",
  `select ${deliveryView} from setpoint.notification_delivery as d
   where d.organization_id = $1 and d.channel = 'email' order by d.created_at_ms desc, d.id desc limit $2`,
);
export const insertDelivery = statement<never>(
  "insert delivery",
  "tenants",
  `insert into setpoint.notification_delivery
     (organization_id, id, channel, target, type, body, state, next_try_at_ms, created_at_ms)
   values ($1, $2, 'webhook', $3, $4, $5, 'pending', setpoint.now_ms(), setpoint.now_ms())`,
);
export const replayDelivery = statement<{ id: string }>(
  "replay delivery",
  "tenants",
  `update setpoint.notification_delivery as d
   set state = 'pending', attempts = 0, next_try_at_ms = setpoint.now_ms(), ended_at_ms = null
   where d.organization_id = $1 and d.target = $2 and d.id = $3 returning d.id`,
);

export const listEmails = statement<{ address: string }>(
  "list notification emails",
  "tenants",
  "select m.address from setpoint.notification_email as m where m.organization_id = $1 order by m.address",
);
export const removeEmails = statement<never>(
  "remove notification emails",
  "tenants",
  "delete from setpoint.notification_email as m where m.organization_id = $1 and m.address <> all ($2::text[])",
);
export const addEmails = statement<never>(
  "add notification emails",
  "tenants",
  `insert into setpoint.notification_email (organization_id, address, added_by, added_at_ms)
   select $1, wanted.address, $3, setpoint.now_ms() from unnest($2::text[]) as wanted (address)
   on conflict (organization_id, address) do nothing`,
);

export interface NotificationRow {
  readonly id: string;
  readonly organization_id: string | null;
  readonly organization: string | null;
  readonly type: string;
  readonly cause: string;
  readonly count: number;
  readonly data: { readonly summary: string; readonly items: readonly unknown[] };
  readonly opened_at_ms: number;
  readonly told_at_ms: number | null;
}
const notificationView = `n.id, n.organization_id, o.name as organization, n.type, n.cause, n.count, n.data, n.opened_at_ms,
  n.told_at_ms from setpoint.notification as n left join setpoint.organization as o on o.id = n.organization_id`;
export const listNotifications = statement<NotificationRow>(
  "list notifications",
  "tenants",
  `select ${notificationView} where n.organization_id = $1 order by n.opened_at_ms desc, n.id desc limit $2`,
);

/** One process gathers and tells at a time. */
export const tryLockTelling = statement<{ locked: boolean }>(
  "try lock telling",
  "platform",
  "select pg_try_advisory_xact_lock(7306, 0) as locked",
);
/** A first start, and a restored copy, begin at the end: what was told, or happened elsewhere, is not told now. */
export const readCursor = statement<{ position: number; head: number }>(
  "read notification cursor",
  "platform",
  `insert into setpoint.notification_cursor as c (incarnation, position)
   select i.incarnation, h.position from setpoint.installation as i, setpoint.log_head as h
   on conflict (only_row) do update set
     position = case when c.incarnation = excluded.incarnation then c.position else excluded.position end,
     incarnation = excluded.incarnation
   returning c.position, (select h.position from setpoint.log_head as h) as head`,
);
export const anyToGather = statement<{ any: boolean }>(
  "any to gather",
  "platform",
  `select coalesce((select c.position < h.position or c.incarnation <> i.incarnation
     from setpoint.notification_cursor as c, setpoint.log_head as h, setpoint.installation as i), true) as "any"`,
);
export const moveCursor = statement<never>(
  "move notification cursor",
  "platform",
  "update setpoint.notification_cursor set position = $1",
);
export const readForTelling = statement<SealedRow & { organization: string | null }>(
  "read for telling",
  "tenants",
  `select e.position, e.incarnation, e.organization_id, o.name as organization, e.type, e.uid, e.revision, e.actor, e.data,
     e.trail, e.at_ms, e.hash
   from setpoint.sealed_entry as e left join setpoint.organization as o on o.id = e.organization_id
   where e.position > $1 order by e.position limit $2`,
);
export const gathering = statement<NotificationRow>(
  "notifications being gathered",
  "tenants",
  `select ${notificationView} where n.told_at_ms is null and n.cause = any ($1::text[]) for no key update of n`,
);
/** $1: rows with id, organization_id, type, cause, count, data, gather_ms. */
export const upsertNotifications = statement<never>(
  "upsert notifications",
  "tenants",
  `insert into setpoint.notification as n
     (id, organization_id, type, cause, count, data, opened_at_ms, tell_at_ms)
   select t.id, t.organization_id, t.type, t.cause, t.count, t.data, setpoint.now_ms(), setpoint.now_ms() + t.gather_ms
   from json_to_recordset($1::json) as t (id text, organization_id uuid, type text, cause text, count bigint, data json,
     gather_ms bigint)
   on conflict (cause, organization_id) where told_at_ms is null do update
   set count = excluded.count, data = excluded.data`,
);

export const dueNotifications = statement<NotificationRow & { now_ms: number }>(
  "due notifications",
  "tenants",
  `select setpoint.now_ms() as now_ms, ${notificationView}
   where n.told_at_ms is null and n.tell_at_ms <= setpoint.now_ms() order by n.tell_at_ms limit 100
   for no key update of n`,
);
/** $1: rows with id and body; $2: whether e-mail can be sent. */
export const makeDeliveries = statement<never>(
  "make deliveries",
  "tenants",
  `with ${clock},
   told as (
     update setpoint.notification as n set told_at_ms = clock.now_ms
     from clock, json_to_recordset($1::json) as t (id text, body text)
     where n.id = t.id returning n.id, n.organization_id, n.type, t.body, clock.now_ms
   ),
   wanted as (
     select e.organization_id, told.id as notification_id, 'webhook' as channel, e.id as target, told.type, told.body, told.now_ms
     from told join setpoint.webhook_endpoint as e
       on (e.organization_id = told.organization_id or told.organization_id is null)
       and e.state = 'enabled' and (told.type = any (e.events) or '*' = any (e.events))
     union all
     select m.organization_id, told.id, 'email', m.address, told.type, told.body, told.now_ms
     from told join setpoint.notification_email as m
       on (m.organization_id = told.organization_id or told.organization_id is null) and $2::boolean
   )
   insert into setpoint.notification_delivery
     (organization_id, id, notification_id, channel, target, type, body, state, next_try_at_ms, created_at_ms)
   select organization_id, gen_random_uuid()::text, notification_id, channel, target, type, body, 'pending', now_ms, now_ms
   from wanted`,
);

export interface DueDeliveryRow extends DeliveryRow {
  readonly now_ms: number;
  readonly url: string | null;
  readonly endpoint_state: "enabled" | "disabled" | null;
  readonly secret: string | null;
  readonly previous_secret: string | null;
  readonly failing_since_ms: number | null;
}
/** Taken for $2 milliseconds: whoever dies with it is followed by somebody else. */
export const takeDeliveries = statement<DueDeliveryRow>(
  "take deliveries",
  "tenants",
  `with ${clock},
   due as materialized (
     select d.organization_id, d.id from setpoint.notification_delivery as d, clock
     where d.state = 'pending' and d.next_try_at_ms <= clock.now_ms order by d.next_try_at_ms limit $1
     for no key update of d skip locked
   ),
   taken as (
     update setpoint.notification_delivery as d
     set attempts = d.attempts + 1, next_try_at_ms = clock.now_ms + $2::bigint
     from due, clock where d.organization_id = due.organization_id and d.id = due.id
     returning ${deliveryView}, clock.now_ms
   )
   select d.*, e.url, e.state as endpoint_state, e.secret,
     case when e.previous_until_ms > d.now_ms then e.previous_secret end as previous_secret, e.failing_since_ms
   from taken as d
   left join setpoint.webhook_endpoint as e
     on d.channel = 'webhook' and e.organization_id = d.organization_id and e.id = d.target`,
);
/** $3 state, $4 wait, $5 answers. Only while it is still the attempt that was taken. */
export const endDelivery = statement<{ id: string }>(
  "end delivery attempt",
  "tenants",
  `update setpoint.notification_delivery as d
   set state = $3, next_try_at_ms = case when $3 = 'pending' then setpoint.now_ms() + $4::bigint end,
     ended_at_ms = case when $3 <> 'pending' then setpoint.now_ms() end, answers = $5::json
   where d.organization_id = $1 and d.id = $2 and d.state = 'pending' and d.attempts = $6 returning d.id`,
);
export const noteEndpoint = statement<never>(
  "note webhook endpoint",
  "tenants",
  `update setpoint.webhook_endpoint as e
   set failing_since_ms = case when $3 then null else coalesce(e.failing_since_ms, setpoint.now_ms()) end,
     state = case when $4::text is null then e.state else 'disabled' end,
     disabled_reason = coalesce($4, e.disabled_reason)
   where e.organization_id = $1 and e.id = $2
     and (($3 and e.failing_since_ms is not null) or (not $3 and e.failing_since_ms is null) or $4::text is not null)`,
);
