import type { RotatingBox } from "../ports/secret-box.ts";
import type { SecretRandom } from "../ports/secret-random.ts";
import type { RotationStep, SecretStore } from "../ports/secret-store.ts";
import type { Database, Transaction } from "./database.ts";
import { openWith, sealWith } from "./envelope.ts";
import { logCall } from "./log-entries.ts";
import {
  dropUnusedTenantKeys,
  insertTenantKey,
  lockOldTenantKeys,
  lockRotation,
  type OldSecretRow,
  resealPreviousWebhook,
  resealRootKey,
  resealSecret,
  resealTenantKey,
  resealTotp,
  resealWebhook,
  rotationLeft,
  sealedWithOtherRoot,
  secretsUnderOldKey,
  tenantsWithOldKey,
  type UnderRootRow,
} from "./sql/secrets.ts";
import { openTenantKey, sealNewTenantKey, secretBinding, tenantKeyBinding } from "./tenant-key.ts";

interface Tools {
  readonly administration: Database;
  readonly box: RotatingBox;
  readonly random: SecretRandom;
}

/**
 * One batch of a rotation, in one transaction. Values are never opened: only the keys above them are sealed anew. Each row
 * is replaced if it is still what was read, so writers and other rotations lose nothing.
 */
export function rotateStep(tools: Tools, request: Parameters<SecretStore["rotate"]>[0]): Promise<RotationStep> {
  const { box } = tools;
  const { batchSize, author } = request;
  const prefix = `v1.${box.keyId}.`;
  return tools.administration.transaction("platform", async (tx) => {
    await tx.run(lockRotation);
    const [before] = await tx.run(rotationLeft, prefix, 0);
    const startedAtMs = request.startedAtMs ?? before?.now_ms ?? 0;
    const underRoot = await tx.run(sealedWithOtherRoot, prefix, batchSize);
    for (const row of underRoot) await resealUnderRoot(tx, box, row);
    const old = request.tenantKeys ? await tx.run(tenantsWithOldKey, startedAtMs, batchSize) : [];
    for (const { organization_id: id, version } of old)
      await tx.run(insertTenantKey, id, version + 1, await sealNewTenantKey(box, tools.random, id, version + 1));
    // Whoever is writing with an old key has committed once these are locked, and whoever comes later finds the new one.
    await tx.run(lockOldTenantKeys);
    const secrets = await tx.run(secretsUnderOldKey, batchSize);
    for (const row of secrets) await resealOne(tx, tools, row);
    await tx.run(dropUnusedTenantKeys);
    const [left] = await tx.run(rotationLeft, prefix, request.tenantKeys ? startedAtMs : 0);
    const moved = { underRoot: underRoot.length, tenantKeys: old.length, secrets: secrets.length };
    if (moved.underRoot + moved.tenantKeys + moved.secrets > 0) {
      const data = { rootKeyId: box.keyId, moved };
      const entry = logCall({ organizationId: undefined, type: "key.rotated", author, data });
      await tx.run(entry.statement, ...entry.values);
    }
    return {
      moved,
      left: { underRoot: left?.under_root ?? 0, tenantKeys: left?.tenant_keys ?? 0, secrets: left?.secrets ?? 0 },
      rootKeyId: box.keyId,
      startedAtMs,
    };
  });
}

async function resealUnderRoot(tx: Transaction, box: RotatingBox, row: UnderRootRow): Promise<void> {
  const { place, id, version, sealed } = row;
  const anew = async (binding: string) => box.seal(await box.open(sealed, binding), binding);
  if (place === "tenant-key")
    await tx.run(resealTenantKey, id, version, sealed, await anew(tenantKeyBinding(id, version)));
  else if (place === "totp") await tx.run(resealTotp, id, sealed, await anew(`totp/${id}`));
  else if (place === "webhook") await tx.run(resealWebhook, id, sealed, await anew(`webhook/${id}`));
  else if (place === "webhook-previous") await tx.run(resealPreviousWebhook, id, sealed, await anew(`webhook/${id}`));
  else await tx.run(resealRootKey, sealed, await anew("root-key/check"));
}

async function resealOne(tx: Transaction, { box, random }: Tools, row: OldSecretRow): Promise<void> {
  const { organization_id: organizationId, owner, field, version, sealed_key: sealed } = row;
  const oldKey = await openTenantKey(box, {
    organization_id: organizationId,
    version: row.key_version,
    sealed_key: row.old_key,
  });
  const newKey = await openTenantKey(box, {
    organization_id: organizationId,
    version: row.new_version,
    sealed_key: row.new_key,
  });
  const binding = secretBinding({ organizationId, owner, field }, version);
  const anew = sealWith(newKey, openWith(oldKey, sealed, binding), binding, random);
  await tx.run(resealSecret, organizationId, owner, field, sealed, row.new_version, anew);
}
