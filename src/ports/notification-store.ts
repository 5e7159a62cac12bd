import type { SealedEntry } from "./read-store.ts";
import type { Principal } from "./records.ts";

/** What people can be told of. `test` is what the test button sends. */
export type NotificationType =
  | "held_change.waiting"
  | "held_change.overdue"
  | "guard.tripped"
  | "freeze.started"
  | "freeze.ended"
  | "pause.started"
  | "pause.ended"
  | "subject.stalled"
  | "subject.recovered"
  | "operation.waiting"
  | "operation.overdue"
  | "webhook.disabled"
  | "test";

/** One thing to tell, as it was found in the log. What has the same cause is told together. */
export interface Told {
  readonly type: NotificationType;
  readonly cause: string;
  readonly summary: string;
  readonly item: ToldItem;
  /** How long to wait for more of the same cause. */
  readonly gatherMs: number;
}
export interface ToldItem {
  readonly id: string;
  readonly text: string;
  readonly path: string | undefined;
  readonly deadlineMs: number | undefined;
}

export interface Notification {
  readonly id: string;
  /** Undefined: it concerns every organization. */
  readonly organizationId: string | undefined;
  readonly organization: string | undefined;
  readonly type: NotificationType;
  readonly cause: string;
  readonly count: number;
  readonly data: { readonly summary: string; readonly items: readonly ToldItem[] };
  readonly openedAtMs: number;
  readonly toldAtMs: number | undefined;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  /** `*` is every type. */
  readonly events: readonly string[];
  readonly state: "enabled" | "disabled";
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly failingSinceMs: number | undefined;
  readonly disabledReason: string | undefined;
}

export type DeliveryState = "pending" | "delivered" | "failed";
export interface DeliveryAnswer {
  readonly atMs: number;
  /** Absent when nothing was answered. */
  readonly status?: number | undefined;
  readonly text: string;
}
export interface Delivery {
  readonly organizationId: string;
  readonly id: string;
  readonly channel: "webhook" | "email";
  readonly target: string;
  readonly type: string;
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextTryAtMs: number | undefined;
  readonly createdAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly answers: readonly DeliveryAnswer[];
}

/** A delivery that is ours to try now, with where it goes. The secrets are sealed. */
export interface DueDelivery extends Delivery {
  readonly endpoint:
    | {
        readonly url: string;
        readonly state: "enabled" | "disabled";
        readonly secrets: readonly string[];
        readonly failingSinceMs: number | undefined;
      }
    | undefined;
  /** The store's clock when it was taken. */
  readonly nowMs: number;
}

interface Of {
  readonly organizationId: string;
}

/** Whom to tell, and what became of it. */
export interface NotificationStore {
  listEndpoints(organizationId: string): Promise<readonly WebhookEndpoint[]>;
  /** False: there are as many as may be. */
  createEndpoint(
    request: Of & {
      readonly endpoint: Pick<WebhookEndpoint, "id" | "url" | "description" | "events">;
      readonly sealedSecret: string;
      readonly author: Principal;
      readonly atMost: number;
    },
  ): Promise<boolean>;
  updateEndpoint(
    request: Of & {
      readonly endpoint: Pick<WebhookEndpoint, "id" | "url" | "description" | "events" | "state">;
      readonly author: Principal;
    },
  ): Promise<boolean>;
  deleteEndpoint(request: Of & { readonly id: string; readonly author: Principal }): Promise<boolean>;
  /** The one before goes on signing for a while. */
  rotateSecret(
    request: Of & {
      readonly id: string;
      readonly sealedSecret: string;
      readonly keepForMs: number;
      readonly author: Principal;
    },
  ): Promise<boolean>;
  listDeliveries(request: Of & { readonly target: string; readonly limit: number }): Promise<readonly Delivery[]>;
  /** What was mailed, to whom, newest first. */
  listMailed(request: Of & { readonly limit: number }): Promise<readonly (Delivery & { readonly address: string })[]>;
  /** Sends something to one endpoint now. */
  enqueue(
    request: Of & {
      readonly id: string;
      readonly target: string;
      readonly type: NotificationType;
      readonly body: string;
    },
  ): Promise<void>;
  /** Tries a delivery again at once, whatever became of it. */
  replay(request: Of & { readonly target: string; readonly id: string; readonly author: Principal }): Promise<boolean>;
  listNotifications(request: Of & { readonly limit: number }): Promise<readonly Notification[]>;
  emails(organizationId: string): Promise<readonly string[]>;
  setEmails(request: Of & { readonly addresses: readonly string[]; readonly author: Principal }): Promise<void>;

  /**
   * Puts into the log, once each, held changes that wait for longer than this, and operations that have held their resource for
   * longer. How many there were.
   */
  noteOverdue(after: { readonly undecidedForMs: number; readonly holdsForMs: number }): Promise<number>;
  /**
   * Reads the log on from where it was read last and gathers what is to be told. One process at a time; undefined when it
   * is another one, else how many entries were read.
   */
  gather(
    limit: number,
    interpret: (entry: SealedEntry, organization: string | undefined) => Told | undefined,
  ): Promise<number | undefined>;
  /** Makes a message of what has been gathered for long enough, for each place that wants to know. */
  tell(request: {
    readonly withEmail: boolean;
    readonly bodyOf: (notification: Notification, nowMs: number) => string;
  }): Promise<number>;
  /** Takes messages whose time has come. Nobody else tries them for `leaseMs`. */
  takeDue(limit: number, leaseMs: number): Promise<readonly DueDelivery[]>;
  recordAnswer(request: DeliveryOutcome): Promise<void>;
}

export interface DeliveryOutcome {
  readonly delivery: DueDelivery;
  readonly answer: DeliveryAnswer;
  readonly result:
    | { readonly as: "delivered" }
    | { readonly as: "again"; readonly inMs: number }
    /** Given up; with a reason the endpoint is switched off. */
    | { readonly as: "failed"; readonly disable: string | undefined };
}
