import { canonical } from "../kernel/hash.ts";
import type { RotatingBox } from "../ports/secret-box.ts";
import type { SecretRandom } from "../ports/secret-random.ts";
import type { SecretPlace } from "../ports/secret-store.ts";
import { keyBytes } from "./envelope.ts";
import type { TenantKeyRow } from "./sql/secrets.ts";

/** Tenant, what it belongs to, field and version: a sealed value that is put anywhere else does not open. */
export function secretBinding({ organizationId, owner, field }: SecretPlace, version: number): string {
  return canonical(["secret", organizationId, owner, field, version]);
}

export async function sealNewTenantKey(
  box: RotatingBox,
  random: SecretRandom,
  organizationId: string,
  version: number,
): Promise<string> {
  const key = Buffer.from(random.bytes(keyBytes)).toString("base64url");
  return box.seal(key, tenantKeyBinding(organizationId, version));
}

export async function openTenantKey(box: RotatingBox, row: TenantKeyRow): Promise<Buffer> {
  const opened = await box.open(row.sealed_key, tenantKeyBinding(row.organization_id, row.version));
  return Buffer.from(opened, "base64url");
}

export function tenantKeyBinding(organizationId: string, version: number): string {
  return `tenant-key/${organizationId}/${version}`;
}
