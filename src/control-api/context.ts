import type { z } from "zod";
import type { KindRegistry } from "../kernel/kind.ts";
import type { AuditStore } from "../ports/audit-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { GovernanceStore } from "../ports/governance-store.ts";
import type { CredentialStore } from "../ports/credential-store.ts";
import type { DeclaringStore } from "../ports/declaring-store.ts";
import type { IdempotencyStore } from "../ports/idempotency-store.ts";
import type { EngineSealer } from "../ports/engine-seal.ts";
import type { Ids } from "../ports/ids.ts";
import type { IntentStore } from "../ports/intent-store.ts";
import type { OperationIntents, OperationReads } from "../ports/operation-store.ts";
import type { Log } from "../ports/log.ts";
import type { Mailer } from "../ports/mailer.ts";
import type { MemberStore } from "../ports/member-store.ts";
import type { PoolStore } from "../ports/pool-store.ts";
import type { ProposalStore } from "../ports/proposal-store.ts";
import type { NotificationStore } from "../ports/notification-store.ts";
import type { ReadStore } from "../ports/read-store.ts";
import type { SecretBox } from "../ports/secret-box.ts";
import type { SecretRandom } from "../ports/secret-random.ts";
import type { AccountCredentialStore, SecretStore } from "../ports/secret-store.ts";
import type { CachedRights } from "./access/cached-rights.ts";
import type { Identity } from "./identity/identity.ts";
import type { Tracer } from "../ports/tracer.ts";
import type { WebhookSender } from "../ports/webhook-sender.ts";
import type { RequestLimits } from "./limits/request-limits.ts";
import type { Authenticator } from "./authentication/authenticator.ts";
import type { ConsoleFiles } from "./console-page.ts";
import type { Demo } from "./demo-tray.ts";
import type { WatchHub } from "./watch/hub.ts";

export interface ServiceState {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

/** What the API needs from the world. It holds no provider and no credential: it can call nobody. */
export interface ApiContext {
  readonly intents: IntentStore;
  readonly reads: ReadStore;
  /** What is declared, with the checks of the API's own door. */
  readonly declaring: DeclaringStore;
  /** Long work: read, started and steered. */
  readonly operations: OperationReads;
  readonly operationIntents: OperationIntents;
  /** The operator's pool of accounts. */
  readonly pool: PoolStore;
  readonly idempotency: IdempotencyStore;
  readonly proposals: ProposalStore;
  readonly watches: WatchHub;
  readonly governance: GovernanceStore;
  readonly notifications: NotificationStore;
  readonly webhooks: WebhookSender;
  readonly kinds: KindRegistry;
  /** The web console; where it was not built, the status page is served in its place. */
  readonly console?: ConsoleFiles | undefined;
  /** What can be broken on request; only where the demo runs. */
  readonly demo?: Demo | undefined;
  /** The settings each installed provider accepts, so that a bad account is refused at the door. */
  readonly accountSettings: ReadonlyMap<string, z.ZodType>;
  /** What each installed provider can express, in the words of the kinds that use it. */
  readonly capabilities: ReadonlyMap<string, unknown>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly authenticator: Authenticator;
  readonly rights: CachedRights;
  readonly identity: Identity;
  readonly members: MemberStore;
  /** Whether an organization that somebody makes for themselves waits for an operator to verify it. */
  readonly verifyOrganizations: boolean;
  readonly credentials: CredentialStore;
  readonly secrets: SecretStore;
  readonly audit: AuditStore;
  readonly accountCredentials: AccountCredentialStore;
  readonly engineSealer: EngineSealer;
  readonly secretBox: SecretBox;
  readonly secretRandom: SecretRandom;
  /** Undefined: no mail server is set. */
  readonly mailer: Mailer | undefined;
  /** Undefined: nobody collects spans. */
  readonly tracer?: Tracer | undefined;
  /** Undefined: the usual ones. */
  readonly limits?: RequestLimits | undefined;
  readonly version: string;
  /** Rejects when the database does not answer. */
  checkDatabase(): Promise<void>;
  /** Why no requests should be sent here yet, or any more. */
  notReady?(): Promise<string | undefined>;
  /** The processes beside this one, as far as this one knows. */
  services(): Promise<readonly ServiceState[]>;
  /** Prometheus text of this process and of those it can reach. */
  metrics(): Promise<string>;
}
