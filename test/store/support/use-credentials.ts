import assert from "node:assert/strict";
import { accountCredentialBinding } from "../../../src/kernel/account-credential.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { createEngineOpener, engineSealer } from "../../../src/runtime/engine-seal.ts";
import { RootKeyBox } from "../../../src/runtime/root-key-box.ts";
import { createSystemIds } from "../../../src/runtime/system-ids.ts";
import { systemSecretRandom } from "../../../src/runtime/system-secret-random.ts";
import { PostgresAuditStore } from "../../../src/store/audit-store.ts";
import { PostgresCredentialStore } from "../../../src/store/credential-store.ts";
import { PostgresAccountCredentialStore, registerEngineKey, resealAccounts } from "../../../src/store/engine-keys.ts";
import { PostgresNotificationStore } from "../../../src/store/notification-store.ts";
import { PostgresSecretStore } from "../../../src/store/secret-store.ts";
import type { Stores } from "./stores.ts";
import { ada, type World } from "./world.ts";

/** Tokens, secrets and the audit trail. */
export async function useCredentials({ api, administration }: Stores, world: World): Promise<void> {
  const { organizationId, accountId, scope } = world;
  const author = ada;
  const credentials = new PostgresCredentialStore({ database: api, administration });
  const token = { name: "t", scope, bindings: [], personId: "ada", author, forMs: 60_000 };
  for (const [id, type, whose] of [
    ["service", "service-token", organizationId],
    ["enrolment", "agent-enrolment", organizationId],
    ["personal", "personal-token", undefined],
  ] as const) {
    const hash = `${id} ${organizationId}`;
    await credentials.create({ ...token, id: `${id}-${organizationId}`, organizationId: whose, type, hash });
    await credentials.find(hash);
    await credentials.noteUses([`${id}-${organizationId}`]);
  }
  await credentials.redeem(`enrolment ${organizationId}`);
  for (const owner of [
    { organizationId, scope: undefined, type: undefined },
    { organizationId: undefined, personId: "ada" },
  ]) {
    const [found] = await credentials.list(owner);
    assert.ok(found);
    assert.ok(await credentials.revoke({ owner, id: found.id, author }));
  }
  await credentials.revokeByHash({ hash: `service ${organizationId}`, author });
  const box = new RootKeyBox(new Uint8Array(32));
  const secrets = new PostgresSecretStore({ database: api, administration, box, random: systemSecretRandom });
  const place = { organizationId, owner: "secret/s", field: "value" };
  for (const value of ["v", "w"]) await secrets.put({ ...place, value: new Secret(value), author });
  assert.equal((await secrets.list({ organizationId, ownerPrefix: "secret/" })).length, 1);
  await secrets.reveal(place);
  const hooks = new PostgresNotificationStore({ database: api, administration, ids: createSystemIds() });
  const endpoint = { id: "sealed", url: "https://example.test/", events: ["*"], description: "" };
  const seal = () => box.seal("v", `webhook/${organizationId}/sealed`);
  await hooks.createEndpoint({ organizationId, endpoint, sealedSecret: await seal(), author, atMost: 9 });
  await hooks.rotateSecret({ organizationId, id: "sealed", sealedSecret: await seal(), keepForMs: 60_000, author });
  const anew = new RootKeyBox([new Uint8Array(32).fill(1), new Uint8Array(32)]);
  const moving = new PostgresSecretStore({ database: api, administration, box: anew, random: systemSecretRandom });
  const rotation = { tenantKeys: true, batchSize: 100, author };
  const { startedAtMs } = await moving.rotate({ ...rotation, startedAtMs: undefined });
  await moving.rotate({ ...rotation, startedAtMs });
  await moving.remove({ ...place, author });
  await hooks.deleteEndpoint({ organizationId, id: "sealed", author });
  const opener = createEngineOpener([new Uint8Array(32).fill(1)]);
  const next = createEngineOpener([new Uint8Array(32).fill(2), new Uint8Array(32).fill(1)]);
  await registerEngineKey(administration, opener);
  const accounts = new PostgresAccountCredentialStore({ database: api });
  const binding = accountCredentialBinding({ organizationId, id: accountId }, "write");
  const write = `sealed:${engineSealer.seal(opener.key, "v", binding)}`;
  assert.ok(await accounts.replace({ organizationId, accountId, write, read: undefined, author }));
  assert.equal(await resealAccounts(administration, { opener: next, sealer: engineSealer }, 10), 1);
}

export async function useAudit({ api, administration }: Stores, { organizationId }: World): Promise<void> {
  const audit = new PostgresAuditStore({ database: api, administration });
  const filter = {
    actor: undefined,
    type: undefined,
    resource: undefined,
    fromMs: undefined,
    toMs: undefined,
    outcome: undefined,
  };
  for (const scope of [{ organizationId }, "platform"] as const) {
    assert.ok((await audit.list({ scope, filter, beforePosition: undefined, limit: 5 })).length > 0);
    await audit.page({ scope, filter, afterPosition: 0, upToPosition: 9, limit: 5 });
    await audit.ends(scope);
    await audit.noteExport({ scope, author: ada, format: "csv", upTo: undefined });
  }
}
