import type { Rule } from "../../ports/access.ts";
import type { RoleAtScope } from "../../ports/member-store.ts";
import { statement } from "../statement.ts";

/** Before anything of a tenant is known: what one person may do, everywhere. By administration alone. */
export const bindingsOfPerson = statement<{
  platform_role: "none" | "operator" | "administrator";
  organization_id: string | null;
  scope: string | null;
  role: string | null;
  rules: readonly Rule[] | null;
}>(
  "bindings of person",
  "tenants",
  `select p.platform_role, m.organization_id, b.scope, b.role, r.rules
   from setpoint.person as p
   left join setpoint.membership as m on m.person_id = p.id and m.confirmed
   left join setpoint.role_binding as b on b.person_id = m.person_id and b.organization_id = m.organization_id
   left join setpoint.role as r on r.organization_id = b.organization_id and r.name = b.role
   where p.id = $1 and p.state = 'active' order by m.organization_id, b.scope, b.role`,
);
export const countOwned = statement<{ count: number }>(
  "count owned",
  "tenants",
  `select count(distinct b.organization_id) as count from setpoint.role_binding as b
   where b.person_id = $1 and b.role = 'owner' and b.scope = 'organization/' || b.organization_id`,
);
export const peopleByIds = statement<{ id: string; email: string }>(
  "person refs by ids",
  "platform",
  "select id, email from setpoint.person where id = any ($1::text[])",
);
export const personByEmail = statement<{ id: string; email: string }>(
  "person ref by email",
  "platform",
  "select id, email from setpoint.person where email = $1",
);

export interface RoleRow {
  readonly name: string;
  readonly description: string;
  readonly rules: readonly Rule[];
  readonly revision: number;
  readonly changed_by: string;
  readonly changed_at_ms: number;
}
const roleColumns = "name, description, rules, revision, changed_by, changed_at_ms";

export const listRoles = statement<RoleRow>(
  "list roles",
  "tenants",
  `select ${roleColumns} from setpoint.role where organization_id = $1 order by name`,
);
export const readRole = statement<RoleRow>(
  "read role",
  "tenants",
  `select ${roleColumns} from setpoint.role where organization_id = $1 and name = $2`,
);
export const insertRole = statement<RoleRow>(
  "insert role",
  "tenants",
  `insert into setpoint.role (organization_id, name, description, rules, revision, changed_by, changed_at_ms)
   values ($1, $2, $3, $4::json, 1, $5, setpoint.now_ms()) returning ${roleColumns}`,
);
export const updateRole = statement<RoleRow>(
  "update role",
  "tenants",
  `update setpoint.role set description = $3, rules = $4::json, revision = revision + 1, changed_by = $5,
     changed_at_ms = setpoint.now_ms()
   where organization_id = $1 and name = $2 returning ${roleColumns}`,
);
export const deleteRole = statement<{ name: string }>(
  "delete role",
  "tenants",
  "delete from setpoint.role where organization_id = $1 and name = $2 returning name",
);
export const peopleWithRole = statement<{ person_id: string }>(
  "people with role",
  "tenants",
  `select distinct b.person_id from setpoint.role_binding as b
   where b.role = $2 and b.organization_id is not distinct from $1 order by b.person_id limit 20`,
);
export const invitesWithRole = statement<{ email: string }>(
  "invites with role",
  "tenants",
  `select i.email from setpoint.invite as i
   where i.organization_id = $1 and i.accepted_at_ms is null and i.revoked_at_ms is null
     and i.expires_at_ms > setpoint.now_ms()
     and exists (select from json_array_elements(i.bindings) as b where b ->> 'role' = $2)
   order by i.email limit 20`,
);

export interface MemberRow {
  readonly person_id: string;
  readonly added_by: string;
  readonly added_at_ms: number;
  readonly confirmed: boolean;
  readonly bindings:
    | readonly {
        readonly id: string;
        readonly scope: string;
        readonly role: string;
        readonly madeBy: string;
        readonly madeAtMs: number;
      }[]
    | null;
}
const memberColumns = `m.person_id, m.added_by, m.added_at_ms, m.confirmed,
  (select json_agg(found) from (
     select b.id, b.scope, b.role, b.made_by as "madeBy", b.made_at_ms as "madeAtMs" from setpoint.role_binding as b
     where b.person_id = m.person_id and b.organization_id is not distinct from m.organization_id
     order by b.scope, b.role) as found) as bindings`;

export const listMembers = statement<MemberRow>(
  "list members",
  "tenants",
  `select ${memberColumns} from setpoint.membership as m
   where m.organization_id = $1 and ($2::text is null or m.person_id > $2) order by m.person_id limit $3`,
);
export const readMember = statement<MemberRow>(
  "read member",
  "tenants",
  `select ${memberColumns} from setpoint.membership as m where m.organization_id = $1 and m.person_id = $2`,
);
export const insertMembership = statement<never>(
  "insert membership",
  "tenants",
  `insert into setpoint.membership (organization_id, person_id, added_by, added_at_ms)
   values ($1, $2, $3, setpoint.now_ms()) on conflict (organization_id, person_id) do nothing`,
);
export const deleteMembership = statement<{ person_id: string }>(
  "delete membership",
  "tenants",
  `with bindings as (
     delete from setpoint.role_binding where person_id = $2 and organization_id is not distinct from $1::uuid)
   delete from setpoint.membership where organization_id = $1 and person_id = $2 returning person_id`,
);
/** A membership that a restore put in doubt gives nothing to whoever is invited anew. */
export const deleteDoubtfulMembership = statement<never>(
  "delete doubtful membership",
  "tenants",
  `with doubtful as (
     delete from setpoint.membership where organization_id = $1 and person_id = $2 and not confirmed returning person_id)
   delete from setpoint.role_binding as b using doubtful
   where b.person_id = doubtful.person_id and b.organization_id is not distinct from $1`,
);
export const confirmMembership = statement<{ person_id: string }>(
  "confirm membership",
  "tenants",
  `update setpoint.membership set confirmed = true
   where organization_id = $1 and person_id = $2 and not confirmed returning person_id`,
);
/** No row: the person has that role there already. */
export const insertBinding = statement<{ id: string }>(
  "insert binding",
  "tenants",
  `insert into setpoint.role_binding (organization_id, id, person_id, scope, role, made_by, made_at_ms)
   values ($1, $2, $3, $4, $5, $6, setpoint.now_ms())
   on conflict (person_id, scope, role, organization_id) do nothing returning id`,
);
export const readBinding = statement<{ role: string; scope: string }>(
  "read binding",
  "tenants",
  "select role, scope from setpoint.role_binding where organization_id = $1 and id = $2 and person_id = $3",
);
export const deleteBinding = statement<never>(
  "delete binding",
  "tenants",
  "delete from setpoint.role_binding where organization_id = $1 and id = $2",
);
export const otherOwners = statement<{ person_id: string }>(
  "other owners",
  "tenants",
  `select b.person_id from setpoint.role_binding as b
   where b.role = 'owner' and b.organization_id is not distinct from $1::uuid and b.scope = 'organization/' || $1::uuid
     and b.person_id <> $2
     and exists (select from setpoint.membership as m
       where m.organization_id = $1 and m.person_id = b.person_id and m.confirmed)
   limit 1`,
);

export interface InviteRow {
  readonly organization_id: string;
  readonly id: string;
  readonly email: string;
  readonly bindings: readonly RoleAtScope[];
  readonly invited_by: string;
  readonly inviter_id: string | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly state: "open" | "accepted" | "revoked" | "expired";
}
const inviteColumns = `i.organization_id, i.id, i.email, i.bindings, i.invited_by, i.inviter_id, i.created_at_ms, i.expires_at_ms,
  case when i.accepted_at_ms is not null then 'accepted' when i.revoked_at_ms is not null then 'revoked'
    when i.expires_at_ms <= setpoint.now_ms() then 'expired' else 'open' end as state`;

export const insertInvite = statement<InviteRow>(
  "insert invite",
  "tenants",
  `insert into setpoint.invite as i
     (organization_id, id, email, secret_hash, bindings, invited_by, inviter_id, created_at_ms, expires_at_ms)
   values ($1, $2, $3, $4, $5::json, $6, $7, setpoint.now_ms(), setpoint.now_ms() + $8::bigint)
   returning ${inviteColumns}`,
);
export const listInvites = statement<InviteRow>(
  "list invites",
  "tenants",
  `select ${inviteColumns} from setpoint.invite as i where i.organization_id = $1 order by i.id desc limit 500`,
);
export const readInvite = statement<InviteRow>(
  "read invite",
  "tenants",
  `select ${inviteColumns} from setpoint.invite as i where i.organization_id = $1 and i.id = $2 for no key update`,
);
/** The secret says in which organization it is; until then there is no tenant. By administration alone. */
export const inviteBySecret = statement<InviteRow & { readonly organization: string }>(
  "invite by secret",
  "tenants",
  `select ${inviteColumns}, o.name as organization
   from setpoint.invite as i join setpoint.organization as o on o.id = i.organization_id
   where i.secret_hash = $1`,
);
export const markInviteAccepted = statement<never>(
  "mark invite accepted",
  "tenants",
  `update setpoint.invite set accepted_at_ms = setpoint.now_ms(), accepted_by = $3
   where organization_id = $1 and id = $2`,
);
export const markInviteRevoked = statement<never>(
  "mark invite revoked",
  "tenants",
  "update setpoint.invite set revoked_at_ms = setpoint.now_ms() where organization_id = $1 and id = $2",
);
export const revokeInvitesOf = statement<never>(
  "revoke invites of",
  "tenants",
  `update setpoint.invite set revoked_at_ms = setpoint.now_ms()
   where organization_id = $1 and inviter_id = $2 and accepted_at_ms is null and revoked_at_ms is null`,
);
