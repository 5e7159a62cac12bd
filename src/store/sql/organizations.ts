import type { OrganizationState, Verification } from "../../ports/member-store.ts";
import { statement } from "../statement.ts";

export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly verification: Verification;
  readonly state: OrganizationState;
  readonly status_reason: string;
}
const columns = "o.id, o.name, o.verification, o.state, o.status_reason";

export const insertOrganizationWithStatus = statement<never>(
  "insert organization with status",
  "tenants",
  `insert into setpoint.organization (id, name, verification, created_by, created_at_ms)
   values ($1, $2, $3, $4, setpoint.now_ms())`,
);
export const readOrganization = statement<OrganizationRow>(
  "read organization",
  "tenants",
  `select ${columns} from setpoint.organization as o where o.id = $1 and o.state <> 'deleted'`,
);
export const readOrganizations = statement<OrganizationRow>(
  "read organizations",
  "tenants",
  `select ${columns} from setpoint.organization as o where o.state <> 'deleted' order by o.name, o.id`,
);
/** Whatever changes members, roles, scopes or the status of an organization has its row first: one after the other. */
export const lockOrganization = statement<OrganizationRow>(
  "lock organization",
  "tenants",
  `select ${columns} from setpoint.organization as o where o.id = $1 and o.state <> 'deleted' for no key update`,
);
export const updateStatus = statement<OrganizationRow>(
  "update organization status",
  "tenants",
  `update setpoint.organization as o set verification = coalesce($2, o.verification), state = coalesce($3, o.state),
     status_reason = $4
   where o.id = $1 returning ${columns}`,
);

/** Waits for whoever is putting something into the scope, and keeps others from it: then what is inside stays inside. */
export const closeScope = statement<unknown>(
  "close scope",
  "platform",
  "select pg_advisory_xact_lock(7303, hashtext($1::uuid || ' ' || $2::text))",
);
export const lockScopeRow = statement<{ scope: string }>(
  "lock scope row",
  "tenants",
  "select scope from setpoint.scope where organization_id = $1 and scope = $2 for update",
);
/** What is directly inside a scope, some of it: the first few are enough to say why it stays. */
export const insideScope = statement<{ what: string }>(
  "inside scope",
  "tenants",
  `(select c.scope as what from setpoint.scope as c where c.organization_id = $1 and c.parent = $2 order by c.scope limit 20)
   union all
   (select r.kind || '/' || r.name from setpoint.resource as r
    where r.scope = $2 and r.organization_id is not distinct from $1 order by r.kind, r.name limit 20)`,
);
export const deleteScopeRow = statement<never>(
  "delete scope row",
  "tenants",
  "delete from setpoint.scope where organization_id = $1 and scope = $2",
);
/** Ids of scopes follow from their names: what was said about the old one must not speak for a new one of that name. */
export const deleteScopeBindings = statement<never>(
  "delete scope bindings",
  "tenants",
  "delete from setpoint.role_binding where scope = $2 and organization_id is not distinct from $1",
);
export const deleteScopePolicy = statement<never>(
  "delete scope policy",
  "tenants",
  "delete from setpoint.policy where scope = $2 and organization_id is not distinct from $1",
);
export const deleteScopePauses = statement<never>(
  "delete scope pauses",
  "tenants",
  "delete from setpoint.pause where scope = $2 and organization_id is not distinct from $1",
);
export const revokeScopeInvites = statement<never>(
  "revoke scope invites",
  "tenants",
  `update setpoint.invite as i set revoked_at_ms = setpoint.now_ms()
   where i.organization_id = $1 and i.accepted_at_ms is null and i.revoked_at_ms is null
     and exists (select from json_array_elements(i.bindings) as b where b ->> 'scope' = $2)`,
);

export const revokeScopeTokens = statement<never>(
  "revoke scope tokens",
  "tenants",
  `update setpoint.credential as c set revoked_at_ms = setpoint.now_ms(), revoked_by = $3
   where c.organization_id = $1 and c.revoked_at_ms is null
     and (c.scope = $2 or exists (select from json_array_elements(c.bindings) as b where b ->> 'scope' = $2))`,
);

/** Everything that names somebody as belonging to the organization. */
export const deleteMemberships = statement<never>(
  "delete memberships",
  "tenants",
  `with bindings as (delete from setpoint.role_binding where organization_id = $1),
     roles as (delete from setpoint.role where organization_id = $1),
     invites as (delete from setpoint.invite where organization_id = $1)
   delete from setpoint.membership where organization_id = $1`,
);
export const deleteAccounts = statement<never>(
  "delete accounts",
  "tenants",
  `with budgets as (
     delete from setpoint.account_budget as b where b.organization_id = $1
       and b.account_id in (select a.id from setpoint.account as a where a.organization_id = $1))
   delete from setpoint.account where organization_id = $1`,
);
