import { statement } from "../statement.ts";

/**
 * Whether a policy asks for four eyes at a scope, or anywhere on the way to it. Both arguments are SQL; the organization is
 * null for the platform. Resources and accounts have no policy of their own: those above them count.
 */
export function fourEyesAt(organization: string, scope: string): string {
  return `exists (
    select from setpoint.policy as eyes
    where eyes.four_eyes and (eyes.organization_id = ${organization} or eyes.organization_id is null)
      and (eyes.scope in ('platform', ${scope}) or eyes.scope = 'organization/' || ${organization}
        or eyes.scope in (
          select unnest(c.path) from setpoint.scope as c where c.organization_id = ${organization} and c.scope = ${scope})
        or eyes.scope in (
          select unnest(r.path) from setpoint.resource as r
          where r.organization_id = ${organization} and ${scope} like 'resource/%' and r.uid = substr(${scope}, 10))))`;
}

/** A pause, kept from ending meanwhile. */
export const lockPause = statement<{ four_eyes: boolean }>(
  "lock pause",
  "tenants",
  `select ${fourEyesAt("p.organization_id", "p.scope")} as four_eyes from setpoint.pause as p
   where p.id = $1 and p.organization_id is not distinct from $2::uuid for no key update of p`,
);

export const resourceFourEyes = statement<{ four_eyes: boolean }>(
  "four eyes of resource",
  "tenants",
  `select ${fourEyesAt("o.organization_id", "'resource/' || o.uid")} as four_eyes from setpoint.resource as o
   where o.organization_id = $1 and o.uid = $2`,
);
