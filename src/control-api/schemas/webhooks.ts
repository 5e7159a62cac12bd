import { z } from "zod";
import type { NotificationType } from "../../ports/notification-store.ts";
import { timeSchema } from "./common.ts";

const notificationTypes = [
  "held_change.waiting",
  "held_change.overdue",
  "guard.tripped",
  "freeze.started",
  "freeze.ended",
  "pause.started",
  "pause.ended",
  "subject.stalled",
  "subject.recovered",
  "operation.waiting",
  "operation.overdue",
  "webhook.disabled",
] as const satisfies readonly NotificationType[];

const events = z
  .array(z.enum(["*", ...notificationTypes]))
  .min(1, 'name what to be told of, or "*" for everything')
  .max(notificationTypes.length + 1)
  .transform((names) => [...new Set(names)]);
const url = z.string().max(2_000).meta({ description: "https; a public address. Redirects are not followed." });
const description = z.string().trim().max(200).default("");

export const newWebhookSchema = z
  .strictObject({ url, events: events.default(["*"]), description })
  .meta({ id: "NewWebhook" });
export const changedWebhookSchema = z
  .strictObject({ url, events, description, state: z.enum(["enabled", "disabled"]) })
  .meta({ id: "ChangedWebhook", description: "PUT replaces all of it; the secret stays." });

export const webhookSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    description: z.string(),
    events: z.array(z.string()),
    state: z.enum(["enabled", "disabled"]),
    createdBy: z.string(),
    createdAt: timeSchema,
    failingSince: timeSchema.optional(),
    disabledReason: z.string().optional(),
  })
  .meta({ id: "Webhook" });
export type WebhookDocument = z.output<typeof webhookSchema>;
export const webhookListSchema = z.object({ items: z.array(webhookSchema) });
/** The only answers that carry a secret: it is shown once. */
export const webhookSecretSchema = z
  .object({ webhook: webhookSchema, secret: z.string() })
  .meta({ id: "WebhookSecret", description: "The secret is shown this once. It verifies webhook-signature." });

const deliverySchema = z
  .object({
    id: z.string(),
    type: z.string(),
    state: z.enum(["pending", "delivered", "failed"]),
    attempts: z.int(),
    createdAt: timeSchema,
    nextTryAt: timeSchema.optional(),
    endedAt: timeSchema.optional(),
    body: z.string(),
    answers: z.array(z.object({ at: timeSchema, status: z.int().optional(), text: z.string() })),
  })
  .meta({ id: "Delivery", description: "One message to one place, with every answer." });
export type DeliveryDocument = z.output<typeof deliverySchema>;
export const deliveryListSchema = z.object({ items: z.array(deliverySchema) });
const mailedSchema = deliverySchema
  .extend({ address: z.string() })
  .meta({ id: "Mailed", description: "One message to one address, with every answer of the mail server." });
export type MailedDocument = z.output<typeof mailedSchema>;
export const mailedListSchema = z.object({ items: z.array(mailedSchema) });
export const enqueuedSchema = z.object({ delivery: z.string() });

const notificationSchema = z
  .object({
    id: z.string(),
    type: z.string(),
    cause: z.string(),
    count: z.int(),
    summary: z.string(),
    openedAt: timeSchema,
    toldAt: timeSchema.optional(),
    items: z.array(
      z.object({
        id: z.string(),
        text: z.string(),
        link: z.string().optional(),
        deadline: timeSchema.optional(),
      }),
    ),
  })
  .meta({ id: "Notification", description: "What one cause led to within one window, counted." });
export type NotificationDocument = z.output<typeof notificationSchema>;
export const notificationListSchema = z.object({ items: z.array(notificationSchema) });

export const emailsSchema = z
  .strictObject({ addresses: z.array(z.email().max(254)).max(20) })
  .meta({ id: "NotificationEmails", description: "Who is told by e-mail, where a mail server is set." });
export const emailsAnswerSchema = emailsSchema.extend({ mailServer: z.boolean() });
export type EmailsDocument = z.output<typeof emailsAnswerSchema>;
