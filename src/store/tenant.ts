import type { Tenants } from "./database.ts";
import { StoreError } from "./errors.ts";

const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The tenant of a transaction that acts for one organization. */
export function requireOrganizationId(organizationId: string): Tenants {
  if (form.test(organizationId)) return { organizations: [organizationId] };
  throw new StoreError("BAD_VALUE", `Organization id ${JSON.stringify(organizationId)} is not a lower-case UUID.`);
}

/** The same, where no organization means the whole platform. */
export function tenantOrPlatform(organizationId: string | undefined): Tenants {
  return organizationId === undefined ? "platform" : requireOrganizationId(organizationId);
}
