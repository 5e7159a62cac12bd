import { statement } from "../statement.ts";

export interface TenantKeyRow {
  readonly organization_id: string;
  readonly version: number;
  readonly sealed_key: string;
}
export const newestTenantKey = statement<TenantKeyRow>(
  "newest tenant key",
  "tenants",
  `select organization_id, version, sealed_key from setpoint.tenant_key where organization_id = $1
   order by version desc limit 1`,
);
/** Of two that make the next one, the first has made it. */
export const insertTenantKey = statement<never>(
  "insert tenant key",
  "tenants",
  `insert into setpoint.tenant_key (organization_id, version, sealed_key, made_at_ms)
   values ($1, $2, $3, setpoint.now_ms()) on conflict do nothing`,
);

export interface SecretRow {
  readonly organization_id: string;
  readonly owner: string;
  readonly field: string;
  readonly version: number;
  readonly changed_at_ms: number;
  readonly changed_by: string;
}
const shown = "organization_id, owner, field, version, changed_at_ms, changed_by";

/** Keys before secrets, like a rotation. No row: the key was replaced meanwhile. */
export const holdTenantKey = statement<{ version: number }>(
  "hold tenant key",
  "tenants",
  "select version from setpoint.tenant_key where organization_id = $1 and version = $2 for key share",
);
export const lockSecret = statement<{ version: number }>(
  "lock secret",
  "tenants",
  "select version from setpoint.secret where organization_id = $1 and owner = $2 and field = $3 for update",
);
/** No row: somebody else wrote this version. */
export const writeSecret = statement<SecretRow>(
  "write secret",
  "tenants",
  `insert into setpoint.secret as s
     (organization_id, owner, field, version, key_version, sealed_key, sealed_value, changed_at_ms, changed_by)
   values ($1, $2, $3, $4, $5, $6, $7, setpoint.now_ms(), $8)
   on conflict (organization_id, owner, field) do update set version = excluded.version,
     key_version = excluded.key_version, sealed_key = excluded.sealed_key, sealed_value = excluded.sealed_value,
     changed_at_ms = excluded.changed_at_ms, changed_by = excluded.changed_by
     where s.version = excluded.version - 1
   returning ${shown}`,
);
export const listSecrets = statement<SecretRow>(
  "list secrets",
  "tenants",
  `select ${shown} from setpoint.secret where organization_id = $1 and starts_with(owner, $2) order by owner, field
   limit 10000`,
);
export const readSecret = statement<{
  version: number;
  sealed_key: string;
  sealed_value: string;
  key_version: number;
  tenant_key: string;
}>(
  "read secret",
  "tenants",
  `select s.version, s.sealed_key, s.sealed_value, s.key_version, k.sealed_key as tenant_key
   from setpoint.secret as s
   join setpoint.tenant_key as k on k.organization_id = s.organization_id and k.version = s.key_version
   where s.organization_id = $1 and s.owner = $2 and s.field = $3`,
);
export const deleteSecret = statement<{ version: number }>(
  "delete secret",
  "tenants",
  "delete from setpoint.secret where organization_id = $1 and owner = $2 and field = $3 returning version",
);

/** One rotation at a time, in whatever process. */
export const lockRotation = statement<unknown>("lock rotation", "platform", "select pg_advisory_xact_lock(7308, 0)");

/** What is sealed with the root key itself, and not with the one named. */
export interface UnderRootRow {
  readonly place: "tenant-key" | "totp" | "webhook" | "webhook-previous" | "root-key";
  readonly id: string;
  readonly version: number;
  readonly sealed: string;
}
const underOtherRoot = `
  select 'tenant-key' as place, organization_id::text as id, version, sealed_key as sealed from setpoint.tenant_key
  where not starts_with(sealed_key, $1)
  union all
  select 'totp', person_id, 0, sealed_secret from setpoint.totp where not starts_with(sealed_secret, $1)
  union all
  select 'webhook', organization_id || '/' || id, 0, secret from setpoint.webhook_endpoint
  where not starts_with(secret, $1)
  union all
  select 'webhook-previous', organization_id || '/' || id, 0, previous_secret from setpoint.webhook_endpoint
  where not starts_with(previous_secret, $1)
  union all
  select 'root-key', 'root-key', 0, sealed from setpoint.root_key where not starts_with(sealed, $1)`;
export const sealedWithOtherRoot = statement<UnderRootRow>(
  "sealed with other root",
  "tenants",
  `select * from (${underOtherRoot}) as found limit $2`,
);
/** Each only if it is still what was read: whoever changed it meanwhile has sealed it with the new key. */
export const resealTenantKey = statement<never>(
  "reseal tenant key",
  "tenants",
  "update setpoint.tenant_key set sealed_key = $4 where organization_id = $1::uuid and version = $2 and sealed_key = $3",
);
export const resealTotp = statement<never>(
  "reseal totp",
  "platform",
  "update setpoint.totp set sealed_secret = $3 where person_id = $1 and sealed_secret = $2",
);
const ofWebhook = "organization_id = split_part($1, '/', 1)::uuid and id = split_part($1, '/', 2)";
export const resealWebhook = statement<never>(
  "reseal webhook",
  "tenants",
  `update setpoint.webhook_endpoint set secret = $3 where ${ofWebhook} and secret = $2`,
);
export const resealPreviousWebhook = statement<never>(
  "reseal previous webhook",
  "tenants",
  `update setpoint.webhook_endpoint set previous_secret = $3 where ${ofWebhook} and previous_secret = $2`,
);
export const resealRootKey = statement<never>(
  "reseal root key",
  "platform",
  "update setpoint.root_key set sealed = $2 where sealed = $1",
);

/** Tenants whose newest key is older than $1. */
export const tenantsWithOldKey = statement<{ organization_id: string; version: number }>(
  "tenants with old key",
  "tenants",
  `select organization_id, max(version) as version from setpoint.tenant_key
   group by organization_id having max(made_at_ms) < $1 order by organization_id limit $2`,
);
export interface OldSecretRow {
  readonly organization_id: string;
  readonly owner: string;
  readonly field: string;
  readonly version: number;
  readonly sealed_key: string;
  readonly key_version: number;
  readonly old_key: string;
  readonly new_version: number;
  readonly new_key: string;
}
/** Secrets whose key is sealed with another than their tenant's newest. */
export const secretsUnderOldKey = statement<OldSecretRow>(
  "secrets under old key",
  "tenants",
  `select s.organization_id, s.owner, s.field, s.version, s.sealed_key, s.key_version, o.sealed_key as old_key,
     n.version as new_version, n.sealed_key as new_key
   from (select organization_id, max(version) as version from setpoint.tenant_key group by organization_id
     having count(*) > 1) as newest
   join setpoint.tenant_key as n on n.organization_id = newest.organization_id and n.version = newest.version
   join setpoint.secret as s on s.organization_id = newest.organization_id and s.key_version < newest.version
   join setpoint.tenant_key as o on o.organization_id = s.organization_id and o.version = s.key_version
   limit $1`,
);
export const resealSecret = statement<never>(
  "reseal secret",
  "tenants",
  `update setpoint.secret set key_version = $5, sealed_key = $6
   where organization_id = $1::uuid and owner = $2 and field = $3 and sealed_key = $4`,
);
export const lockOldTenantKeys = statement<unknown>(
  "lock old tenant keys",
  "tenants",
  `select from setpoint.tenant_key as k where k.version < (
     select max(n.version) from setpoint.tenant_key as n where n.organization_id = k.organization_id)
   order by k.organization_id, k.version for update`,
);
/** A key that nothing is sealed with any more is gone for good. */
export const dropUnusedTenantKeys = statement<never>(
  "drop unused tenant keys",
  "tenants",
  `delete from setpoint.tenant_key as k using (
     select organization_id, max(version) as version from setpoint.tenant_key group by organization_id having count(*) > 1
   ) as newest
   where k.organization_id = newest.organization_id and k.version < newest.version and not exists (
     select from setpoint.secret as s where s.organization_id = k.organization_id and s.key_version = k.version)`,
);
export const rotationLeft = statement<{ under_root: number; tenant_keys: number; secrets: number; now_ms: number }>(
  "rotation left",
  "tenants",
  `select (select count(*) from (${underOtherRoot}) as found) as under_root,
     (select count(*) from (select from setpoint.tenant_key group by organization_id
        having max(made_at_ms) < $2::bigint) as old) as tenant_keys,
     (select count(*) from setpoint.secret as s where s.key_version < (
        select max(k.version) from setpoint.tenant_key as k where k.organization_id = s.organization_id)) as secrets,
     setpoint.now_ms() as now_ms`,
);

export interface EngineKeyRow {
  readonly id: string;
  readonly public_key: string;
}
export const currentEngineKey = statement<EngineKeyRow>(
  "current engine key",
  "platform",
  "select id, public_key from setpoint.engine_key where is_current",
);
export const lockEngineKeys = statement<unknown>(
  "lock engine keys",
  "platform",
  "select pg_advisory_xact_lock(7305, 0)",
);
export const retireEngineKeys = statement<never>(
  "retire engine keys",
  "platform",
  "update setpoint.engine_key set is_current = false where is_current",
);
export const insertEngineKey = statement<never>(
  "insert engine key",
  "platform",
  `insert into setpoint.engine_key (id, public_key, made_at_ms, is_current) values ($1, $2, setpoint.now_ms(), true)
   on conflict (id) do update set is_current = true`,
);

export const replaceAccountCredential = statement<{ name: string }>(
  "replace account credential",
  "tenants",
  `update setpoint.account set credential_ref = $3, read_credential_ref = $4 where organization_id = $1 and id = $2
     and pool is null
   returning name`,
);
export interface SealedAccountRow {
  readonly organization_id: string;
  readonly id: string;
  readonly credential_ref: string | null;
  readonly read_credential_ref: string | null;
}
/** Accounts with a credential that is sealed to another engine key than $1 (as a prefix). */
export const accountsUnderOtherKey = statement<SealedAccountRow>(
  "accounts under other key",
  "tenants",
  `select organization_id, id, credential_ref, read_credential_ref from setpoint.account
   where (starts_with(credential_ref, 'sealed:') and not starts_with(credential_ref, $1))
     or (starts_with(read_credential_ref, 'sealed:') and not starts_with(read_credential_ref, $1))
   order by organization_id, id limit $2`,
);
export const resealAccount = statement<never>(
  "reseal account",
  "tenants",
  `update setpoint.account set credential_ref = $5, read_credential_ref = $6
   where organization_id = $1::uuid and id = $2 and credential_ref is not distinct from $3
     and read_credential_ref is not distinct from $4`,
);
