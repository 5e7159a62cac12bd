import type { Config } from "../config.ts";
import { NotificationDispatcher } from "../control-api/notify/dispatcher.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Mailer } from "../ports/mailer.ts";
import type { NotificationStore } from "../ports/notification-store.ts";
import type { Random } from "../ports/random.ts";
import type { SecretBox } from "../ports/secret-box.ts";
import type { WebhookSender } from "../ports/webhook-sender.ts";
import { createWebhookSender } from "../runtime/webhook-sender.ts";
import type { Database } from "../store/database.ts";
import { PostgresNotificationStore } from "../store/notification-store.ts";
import { listenAddress } from "./port-error.ts";

export interface Notifying {
  readonly notifications: NotificationStore;
  readonly webhooks: WebhookSender;
  /** Begins to tell people, until what is answered is disposed of. */
  start(): AsyncDisposable & { readonly poke: () => void };
}

/** Whom to tell and how: signed webhooks, and e-mail where a mail server is set. */
export function composeNotifying(
  config: Pick<Config, "webhookAllowPrivate" | "publicUrl" | "port">,
  parts: {
    readonly database: Database;
    readonly administration: Database;
    readonly ids: Ids;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly secretBox: SecretBox;
    readonly mailer: Mailer | undefined;
    readonly logged: () => void;
  },
): Notifying {
  const notifications = new PostgresNotificationStore(parts);
  const webhooks = createWebhookSender({ allowPrivate: config.webhookAllowPrivate });
  const publicUrl = config.publicUrl ?? `http://${listenAddress}:${config.port}`;
  return {
    notifications,
    webhooks,
    start: () => {
      const dispatcher = new NotificationDispatcher({ ...parts, store: notifications, sender: webhooks, publicUrl });
      const over = new AbortController();
      const running = dispatcher.run(over.signal);
      return {
        poke: () => dispatcher.poke(),
        [Symbol.asyncDispose]: async () => {
          over.abort();
          await running;
        },
      };
    },
  };
}
