import { Secret } from "../kernel/secret.ts";
import type { RotatingBox } from "../ports/secret-box.ts";
import type { SecretRandom } from "../ports/secret-random.ts";
import type { RotationStep, SecretPlace, SecretStore, SecretView } from "../ports/secret-store.ts";
import type { Database, Transaction } from "./database.ts";
import { keyBytes, openWith, sealWith } from "./envelope.ts";
import { StoreError } from "./errors.ts";
import { logCall } from "./log-entries.ts";
import { rotateStep } from "./secret-rotation.ts";
import {
  deleteSecret,
  holdTenantKey,
  insertTenantKey,
  listSecrets,
  lockSecret,
  newestTenantKey,
  readSecret,
  type SecretRow,
  type TenantKeyRow,
  writeSecret,
} from "./sql/secrets.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";
import { openTenantKey, sealNewTenantKey, secretBinding } from "./tenant-key.ts";

export interface SecretStoreOptions {
  /** Of role `setpoint_api`. */
  readonly database: Database;
  /** Of role `setpoint_admin`: a rotation goes over all tenants. */
  readonly administration: Database;
  readonly box: RotatingBox;
  readonly random: SecretRandom;
  readonly logged?: () => void;
}

const attempts = 5;

/** Secrets on PostgreSQL: value under its own key, that under the tenant's, that under the root key. */
export class PostgresSecretStore implements SecretStore {
  readonly #options: SecretStoreOptions;

  constructor(options: SecretStoreOptions) {
    this.#options = options;
  }

  async put(request: Parameters<SecretStore["put"]>[0]): Promise<SecretView> {
    const { organizationId } = request;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const key = await this.#tenantKey(organizationId);
      const opened = await this.#openTenantKey(key);
      const written = await this.#options.database.transaction(requireOrganizationId(organizationId), (tx) =>
        write(tx, { ...request, keyVersion: key.version, tenantKey: opened, random: this.#options.random }),
      );
      if (written === undefined) continue;
      this.#options.logged?.();
      return view(written);
    }
    throw new StoreError("DATABASE_BUSY", `The secret ${request.owner} is being written by others: try again.`);
  }

  async list({ organizationId, ownerPrefix }: Parameters<SecretStore["list"]>[0]): Promise<readonly SecretView[]> {
    const tenant = requireOrganizationId(organizationId);
    return (await this.#options.database.run(tenant, call(listSecrets, organizationId, ownerPrefix))).map(view);
  }

  async reveal(place: SecretPlace): Promise<Secret | undefined> {
    const { organizationId, owner, field } = place;
    const tenant = requireOrganizationId(organizationId);
    const [row] = await this.#options.database.run(tenant, call(readSecret, organizationId, owner, field));
    if (row === undefined) return undefined;
    const tenantKey = await this.#openTenantKey({
      organization_id: organizationId,
      version: row.key_version,
      sealed_key: row.tenant_key,
    });
    const binding = secretBinding(place, row.version);
    const key = openWith(tenantKey, row.sealed_key, binding);
    return new Secret(openWith(key, row.sealed_value, binding).toString("utf8"));
  }

  async remove({ author, ...place }: Parameters<SecretStore["remove"]>[0]): Promise<boolean> {
    const { organizationId, owner, field } = place;
    const removed = await this.#options.database.transaction(requireOrganizationId(organizationId), async (tx) => {
      const [row] = await tx.run(deleteSecret, organizationId, owner, field);
      if (row === undefined) return false;
      const data = { owner, field, version: row.version };
      const entry = logCall({ organizationId, type: "secret.removed", uid: owner, author, data });
      await tx.run(entry.statement, ...entry.values);
      return true;
    });
    if (removed) this.#options.logged?.();
    return removed;
  }

  async rotate(request: Parameters<SecretStore["rotate"]>[0]): Promise<RotationStep> {
    const { administration, box, random } = this.#options;
    const step = await rotateStep({ administration, box, random }, request);
    this.#options.logged?.();
    return step;
  }

  async #tenantKey(organizationId: string): Promise<TenantKeyRow> {
    const { database, box, random } = this.#options;
    const tenant = requireOrganizationId(organizationId);
    const [known] = await database.run(tenant, call(newestTenantKey, organizationId));
    if (known !== undefined) return known;
    const sealed = await sealNewTenantKey(box, random, organizationId, 1);
    const [, [made]] = await database.transact(tenant, [
      call(insertTenantKey, organizationId, 1, sealed),
      call(newestTenantKey, organizationId),
    ]);
    if (made === undefined) throw new StoreError("INTERNAL", `Organization ${organizationId} has no key.`);
    return made;
  }

  async #openTenantKey(row: TenantKeyRow): Promise<Buffer> {
    return openTenantKey(this.#options.box, row);
  }
}

/** A key of its own for every value, so that the seal of one says nothing about another's. */
async function write(
  tx: Transaction,
  about: Parameters<SecretStore["put"]>[0] & {
    readonly keyVersion: number;
    readonly tenantKey: Buffer;
    readonly random: SecretRandom;
  },
): Promise<SecretRow | undefined> {
  const { organizationId, owner, field, author, random } = about;
  const [[held], [existing]] = await Promise.all([
    tx.run(holdTenantKey, organizationId, about.keyVersion),
    tx.run(lockSecret, organizationId, owner, field),
  ]);
  if (held === undefined) return undefined;
  const version = (existing?.version ?? 0) + 1;
  const binding = secretBinding(about, version);
  const key = random.bytes(keyBytes);
  const sealedKey = sealWith(about.tenantKey, key, binding, random);
  const sealedValue = sealWith(key, Buffer.from(about.value.reveal()), binding, random);
  const values = [version, about.keyVersion, sealedKey, sealedValue, author.name] as const;
  const [row] = await tx.run(writeSecret, organizationId, owner, field, ...values);
  if (row === undefined) return undefined;
  const type = existing === undefined ? "secret.created" : "secret.changed";
  const entry = logCall({ organizationId, type, uid: owner, author, data: { owner, field, version } });
  await tx.run(entry.statement, ...entry.values);
  return row;
}

function view(row: SecretRow): SecretView {
  return {
    organizationId: row.organization_id,
    owner: row.owner,
    field: row.field,
    version: row.version,
    changedAtMs: row.changed_at_ms,
    changedBy: row.changed_by,
  };
}
