import type { z } from "zod";
import type { Config } from "../config.ts";
import { permissionCatalogue } from "../control-api/access/permission-keys.ts";
import { platformRules, seedRules } from "../control-api/access/seed-roles.ts";
import { Authenticator } from "../control-api/authentication/authenticator.ts";
import { OperatorFile } from "../control-api/authentication/operator-file.ts";
import { TokenReader } from "../control-api/authentication/token-reader.ts";
import { TokenUses } from "../control-api/authentication/token-uses.ts";
import type { ApiContext } from "../control-api/context.ts";
import type { PasswordOptions } from "../control-api/identity/passwords.ts";
import type { KindRegistry } from "../kernel/kind.ts";
import type { RotatingBox } from "../ports/secret-box.ts";
import type { DueEdge } from "../ports/signal.ts";
import { hetznerCloudCapabilities } from "../providers/hetzner-cloud/capabilities.ts";
import { hetznerCloudSettingsSchema } from "../providers/hetzner-cloud/settings.ts";
import { hetznerDnsCapabilities } from "../providers/hetzner-dns/capabilities.ts";
import { ionosCapabilities } from "../providers/ionos/capabilities.ts";
import { ionosSettingsSchema } from "../providers/ionos/settings.ts";
import { powerDnsCapabilities } from "../providers/powerdns/capabilities.ts";
import { powerDnsSettingsSchema } from "../providers/powerdns/settings.ts";
import { rfc2136Capabilities } from "../providers/rfc2136/capabilities.ts";
import { rfc2136SettingsSchema } from "../providers/rfc2136/settings.ts";
import { sshSettingsSchema } from "../providers/ssh/settings.ts";
import { engineSealer } from "../runtime/engine-seal.ts";
import { PostgresAuditStore } from "../store/audit-store.ts";
import { PostgresCredentialStore } from "../store/credential-store.ts";
import type { Database } from "../store/database.ts";
import { PostgresAccountCredentialStore } from "../store/engine-keys.ts";
import { PostgresGovernanceStore } from "../store/governance-store.ts";
import { PostgresIdentityStore } from "../store/identity-store.ts";
import { PostgresIntentStore } from "../store/intent-store.ts";
import { PostgresMemberStore } from "../store/member-store.ts";
import { PostgresOperationIntents } from "../store/operation-intents.ts";
import { PostgresOperationReads } from "../store/operation-reads.ts";
import { PostgresPoolStore } from "../store/pool-store.ts";
import { PostgresReadStore } from "../store/read-store.ts";
import { PostgresSecretStore } from "../store/secret-store.ts";
import { composeDeclaring } from "./declaring.ts";
import { composeIdentity, requireSameRootKey } from "./identity.ts";

/** What the routes work with, whoever serves them: everything but how this process is watched and what it sends out. */
export type StoredContext = Omit<
  ApiContext,
  "notifications" | "webhooks" | "limits" | "tracer" | "notReady" | "services" | "metrics" | "console" | "demo"
>;

export interface ApiSetup {
  readonly config: Pick<Config, "signUp" | "publicUrl" | "port" | "verifyOrganizations">;
  readonly operatorToken: string;
  readonly version: string;
  readonly kinds: KindRegistry;
  readonly database: Database;
  readonly administration: Database;
  readonly ports: Pick<ApiContext, "secretRandom" | "mailer" | "clock" | "ids" | "log"> & {
    readonly secretBox: RotatingBox;
  };
  readonly passwordCost?: PasswordOptions["cost"];
  /** Called after a commit with what became due. */
  readonly poke?: (shards: readonly number[], due: readonly DueEdge[]) => void;
  /** Called after a commit that may have appended to the log. */
  readonly logged?: () => void;
}

/** The stores, and who may use them. What must be given back goes to `undo`. */
export async function composeContext(setup: ApiSetup, undo: AsyncDisposableStack): Promise<StoredContext> {
  const { config, kinds, ports, passwordCost: cost } = setup;
  const { database, administration, poke, logged } = setup;
  const { clock, ids, log } = ports;
  const stores = {
    database,
    administration,
    ids,
    ...(logged === undefined ? {} : { logged }),
    ...(poke === undefined ? {} : { poke }),
  };
  const reads = new PostgresReadStore(stores);
  const catalogue = permissionCatalogue(kinds);
  const roles = { seedRules: seedRules(catalogue), platformRules: platformRules(catalogue) };
  const members = new PostgresMemberStore({ ...stores, ...roles });
  const credentials = new PostgresCredentialStore(stores);
  const uses = undo.use(new TokenUses({ store: credentials, clock, log }));
  const people = new PostgresIdentityStore(stores);
  await requireSameRootKey(people, ports.secretBox);
  const { identity, rights, makerOf } = composeIdentity(config, ports, { store: people, members, cost });
  return {
    ...ports,
    operations: new PostgresOperationReads(stores),
    operationIntents: new PostgresOperationIntents({ ...stores, clock }),
    intents: new PostgresIntentStore({ ...stores, clock }),
    reads,
    pool: new PostgresPoolStore(stores),
    ...composeDeclaring({ reads, kinds, clock, log }, stores),
    governance: new PostgresGovernanceStore(stores),
    kinds,
    accountSettings: new Map<string, z.ZodType>([
      ["hetzner-cloud", hetznerCloudSettingsSchema],
      ["ionos", ionosSettingsSchema],
      ["powerdns", powerDnsSettingsSchema],
      ["rfc2136", rfc2136SettingsSchema],
      ["ssh", sshSettingsSchema],
    ]),
    capabilities: new Map<string, unknown>([
      ["hetzner-cloud", { ...hetznerCloudCapabilities, ...hetznerDnsCapabilities }],
      ["ionos", ionosCapabilities],
      ["powerdns", powerDnsCapabilities],
      ["rfc2136", rfc2136Capabilities],
    ]),
    authenticator: new Authenticator([
      new OperatorFile(setup.operatorToken, clock),
      identity.sessions,
      new TokenReader({ store: credentials, makerOf, uses, clock }),
    ]),
    credentials,
    secrets: new PostgresSecretStore({ ...stores, box: ports.secretBox, random: ports.secretRandom }),
    accountCredentials: new PostgresAccountCredentialStore(stores),
    engineSealer,
    audit: new PostgresAuditStore(stores),
    rights,
    identity,
    members,
    verifyOrganizations: config.verifyOrganizations,
    version: setup.version,
    checkDatabase: async () => void (await reads.listOrganizations()),
  };
}
