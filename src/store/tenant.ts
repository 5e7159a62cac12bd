import type { Tenants } from "./database.ts";
import { StoreError } from "./errors.ts";

const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The tenant of a transaction that acts for one organization. */
export function requireOrganizationId(organizationId: string): Tenants {
  if (form.test(organizationId)) return { organizations: [organizationId] };
  throw new StoreError("BAD_VALUE", `Organization id ${JSON.stringify(organizationId)} is not a lower-case UUID.`);
}
