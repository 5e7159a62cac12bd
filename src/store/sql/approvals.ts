import type { GuardName } from "../../ports/records.ts";
import type { HeldChangeState } from "../../ports/read-store.ts";
import { statement } from "../statement.ts";
import { clock } from "./lease.ts";

export interface HeldForDecisionRow {
  readonly state: HeldChangeState;
  readonly digest: string;
  readonly guard: GuardName;
  readonly authors: readonly string[];
  readonly four_eyes: boolean;
  readonly items:
    | readonly { readonly subjectId: number; readonly digest: string; readonly externalId: string | null }[]
    | null;
}

/** A held change as it stands; `four_eyes` when a policy on the way to any of its subjects says so. */
export const heldForDecision = statement<HeldForDecisionRow>(
  "held for decision",
  "tenants",
  `select h.state, h.digest, h.guard, h.authors,
     exists (
       select from setpoint.held_item as i
       join setpoint.subject as s on s.id = i.subject_id
       join setpoint.resource as r on r.organization_id = s.organization_id and r.uid = s.resource_uid
       join setpoint.policy as p on p.scope = any (r.path)
         and (p.organization_id = r.organization_id or p.organization_id is null)
       where i.organization_id = h.organization_id and i.held_change_id = h.id and p.four_eyes) as four_eyes,
     (select json_agg(json_build_object(
        'subjectId', i.subject_id, 'digest', i.digest, 'externalId', i.external_id) order by i.position)
      from setpoint.held_item as i
      where i.organization_id = h.organization_id and i.held_change_id = h.id) as items
   from setpoint.held_change as h where h.organization_id = $1 and h.id = $2`,
);

/** Subjects before held changes, in the order of their ids, as everywhere. */
export const lockHeldSubjects = statement<unknown>(
  "lock held subjects",
  "tenants",
  `select from setpoint.subject
   where id = any ($2::bigint[]) and organization_id is not distinct from $1 order by id for no key update`,
);

export const decideHeld = statement<{ decided_at_ms: number }>(
  "decide held change",
  "tenants",
  `update setpoint.held_change set state = $3, decided_by = $4, comment = $5, decided_at_ms = setpoint.now_ms(),
     closed_at_ms = case when $3 = 'approved' then setpoint.now_ms() end
   where organization_id = $1 and id = $2 returning decided_at_ms`,
);

export const addGrants = statement<never>(
  "add grants",
  "tenants",
  `with ${clock}
   insert into setpoint.item_grant (organization_id, id, held_change_id, subject_id, item_digest, approver, expires_at_ms)
   select $1, n.id, $2, n.subject_id, n.digest, $3, clock.now_ms + $4::bigint
   from clock, unnest($5::text[], $6::bigint[], $7::text[]) as n (id, subject_id, digest)`,
);

/**
 * This installation may claim the accounts again: after a restore, or because what was left there to know them by is gone. Then
 * they are not known by it any more.
 */
export const reclaimAccounts = statement<never>(
  "reclaim accounts",
  "tenants",
  `update setpoint.account as a set claimed_incarnation = i.incarnation,
     fingerprint = case when a.claimed_incarnation = i.incarnation then null else a.fingerprint end
   from setpoint.installation as i
   where a.organization_id = $1 and a.id = any ($2::text[])`,
);

export const clearHeldDigests = statement<never>(
  "clear held digests",
  "tenants",
  `update setpoint.subject_state set held_digest = null
   where organization_id = $1 and subject_id = any ($2::bigint[]) and held_digest is not null`,
);
