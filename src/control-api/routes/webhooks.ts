import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { Delivery, Notification, WebhookEndpoint } from "../../ports/notification-store.ts";
import type { ApiContext } from "../context.ts";
import { secretBinding } from "../notify/dispatcher.ts";
import { messageOf } from "../notify/message.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { nameSchema } from "../schemas/common.ts";
import {
  changedWebhookSchema,
  deliveryListSchema,
  emailsAnswerSchema,
  emailsSchema,
  mailedListSchema,
  enqueuedSchema,
  newWebhookSchema,
  notificationListSchema,
  type WebhookDocument,
  webhookListSchema,
  webhookSchema,
  webhookSecretSchema,
} from "../schemas/webhooks.ts";
import { requireScope } from "../scope.ts";

const parameters = z.strictObject({ organization: nameSchema });
const id = z.string().min(1).max(100);
const one = parameters.extend({ id });
const path = "/v1/organizations/{organization}/webhooks";
const key = "organization.notification_channel";
const tag = "notifications";
const endpointsAtMost = 20;
const listed = 100;
/** Receivers have this long to take the new secret into use. */
const keepSecretMs = 24 * 3_600_000;

/** Whom to tell, what was told, and what became of it. */
export function webhookRoutes(context: ApiContext): readonly Route[] {
  return [
    ...endpointRoutes(context),
    ...secretRoutes(context),
    ...deliveryRoutes(context),
    ...notificationRoutes(context),
  ];
}

function endpointRoutes(context: ApiContext): readonly Route[] {
  const { notifications } = context;
  return [
    defineRoute({
      method: "GET",
      path,
      summary: "The webhooks of an organization",
      need: { at: "path", key, action: "read" },
      tag,
      parameters,
      answers: { 200: { description: "Webhooks, without their secrets", schema: webhookListSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        return {
          status: 200,
          body: { items: (await context.notifications.listEndpoints(organizationId)).map(endpoint) },
        };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{id}`,
      summary: "One webhook",
      need: { at: "path", key, action: "read" },
      tag,
      parameters: one,
      answers: { 200: { description: "The webhook, without its secret", schema: webhookSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        return { status: 200, body: endpoint(await requireEndpoint(context, organizationId, call.parameters.id)) };
      },
    }),
    defineRoute({
      method: "PUT",
      path: `${path}/{id}`,
      summary: "Change a webhook, or switch it off and on",
      need: { at: "path", key, action: "update" },
      // Whoever says where messages go says who reads them.
      onlyPeople: true,
      tag,
      parameters: one,
      body: changedWebhookSchema,
      answers: { 200: { description: "Changed", schema: webhookSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const { body, caller } = call;
        requireUrl(context, body.url);
        const change = { ...body, id: call.parameters.id };
        await notifications.updateEndpoint({ organizationId, endpoint: change, author: caller.principal });
        return { status: 200, body: endpoint(await requireEndpoint(context, organizationId, call.parameters.id)) };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${path}/{id}`,
      summary: "Tell nobody there any more",
      need: { at: "path", key, action: "delete" },
      onlyPeople: true,
      tag,
      parameters: one,
      answers: { 204: { description: "Gone, with its deliveries" } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const request = { organizationId, id: call.parameters.id, author: call.caller.principal };
        if (!(await notifications.deleteEndpoint(request))) throw notFound(call.parameters.id);
        return { status: 204 };
      },
    }),
  ];
}

/** Whoever has the secret can speak for us: people alone make them. */
function secretRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path,
      summary: "Be told by a signed webhook (Standard Webhooks). The secret is shown once",
      need: { at: "path", key, action: "create" },
      onlyPeople: true,
      tag,
      parameters,
      body: newWebhookSchema,
      answers: { 201: { description: "Made, with its secret", schema: webhookSecretSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const { url, events, description } = call.body;
        requireUrl(context, url);
        const wanted = context.ids.next();
        const { secret, sealedSecret } = await newSecret(context, organizationId, wanted);
        const made = await context.notifications.createEndpoint({
          organizationId,
          endpoint: { id: wanted, url, events, description },
          sealedSecret,
          author: call.caller.principal,
          atMost: endpointsAtMost,
        });
        if (!made)
          throw new Problem(
            "QUOTA_EXCEEDED",
            `An organization has at most ${endpointsAtMost} webhooks: delete one that is no longer used`,
          );
        const webhook = endpoint(await requireEndpoint(context, organizationId, wanted));
        return { status: 201, body: { webhook, secret } };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}/{id}:rotate`,
      summary: "A new secret. Both sign for a day, so that receivers can change over",
      need: { at: "path", key, action: "update" },
      onlyPeople: true,
      tag,
      parameters: one,
      answers: { 200: { description: "The new secret", schema: webhookSecretSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const { id: wanted } = call.parameters;
        const { secret, sealedSecret } = await newSecret(context, organizationId, wanted);
        const author = call.caller.principal;
        const request = { organizationId, id: wanted, sealedSecret, keepForMs: keepSecretMs, author };
        if (!(await context.notifications.rotateSecret(request))) throw notFound(wanted);
        const webhook = endpoint(await requireEndpoint(context, organizationId, wanted));
        return { status: 200, body: { webhook, secret } };
      },
    }),
  ];
}

function deliveryRoutes(context: ApiContext): readonly Route[] {
  const { notifications } = context;
  return [
    defineRoute({
      method: "POST",
      path: `${path}/{id}:test`,
      summary: "Send a test message there now",
      need: { at: "path", key, action: "execute" },
      tag,
      parameters: one,
      answers: { 202: { description: "On its way; its delivery says what was answered", schema: enqueuedSchema } },
      handle: async (call) => {
        const { organizationId, organization } = await requireScope(context, call.parameters);
        const target = (await requireEndpoint(context, organizationId, call.parameters.id)).id;
        const delivery = context.ids.next();
        const nowMs = context.clock.nowMs();
        const summary = `A test, asked for by ${call.caller.principal.name}`;
        const about = { id: delivery, organizationId, organization, type: "test", cause: "test", count: 1 } as const;
        const told = { ...about, data: { summary, items: [] }, openedAtMs: nowMs, toldAtMs: nowMs };
        const body = messageOf(told, nowMs, "");
        await notifications.enqueue({ organizationId, id: delivery, target, type: "test", body });
        return { status: 202, body: { delivery } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/{id}/deliveries`,
      summary: "What was sent there, newest first, with every answer",
      need: { at: "path", key, action: "read" },
      tag,
      parameters: one,
      answers: { 200: { description: "Deliveries", schema: deliveryListSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const { id: target } = await requireEndpoint(context, organizationId, call.parameters.id);
        const found = await notifications.listDeliveries({ organizationId, target, limit: listed });
        return { status: 200, body: { items: found.map(delivery) } };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}/{id}/deliveries/{delivery}:replay`,
      summary: "Send a message once more, with the same id",
      need: { at: "path", key, action: "execute" },
      tag,
      parameters: one.extend({ delivery: id }),
      answers: { 202: { description: "On its way", schema: enqueuedSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const { id: target, delivery: wanted } = call.parameters;
        const request = { organizationId, target, id: wanted, author: call.caller.principal };
        if (!(await notifications.replay(request)))
          throw new Problem("NOT_FOUND", `There is no delivery ${wanted} to this webhook`);
        return { status: 202, body: { delivery: wanted } };
      },
    }),
  ];
}

function notificationRoutes(context: ApiContext): readonly Route[] {
  const { notifications } = context;
  const base = "/v1/organizations/{organization}";
  return [
    defineRoute({
      method: "GET",
      path: `${base}/notifications`,
      summary: "What people were told, newest first, one entry per cause and window",
      need: { at: "path", key, action: "read" },
      tag,
      parameters,
      answers: { 200: { description: "Notifications", schema: notificationListSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const found = await notifications.listNotifications({ organizationId, limit: listed });
        return { status: 200, body: { items: found.map(notification) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${base}/notification-emails`,
      summary: "Who is told by e-mail",
      need: { at: "path", key, action: "read" },
      tag,
      parameters,
      answers: { 200: { description: "Addresses", schema: emailsAnswerSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const addresses = await notifications.emails(organizationId);
        return { status: 200, body: { addresses, mailServer: context.mailer !== undefined } };
      },
    }),
    defineRoute({
      method: "GET",
      path: `${base}/notification-emails/deliveries`,
      summary: "What was mailed to whom, newest first, with every answer of the mail server",
      need: { at: "path", key, action: "read" },
      tag,
      parameters,
      answers: { 200: { description: "Deliveries", schema: mailedListSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const found = await notifications.listMailed({ organizationId, limit: listed });
        return { status: 200, body: { items: found.map((one) => ({ ...delivery(one), address: one.address })) } };
      },
    }),
    defineRoute({
      method: "PUT",
      path: `${base}/notification-emails`,
      summary: "Say who is told by e-mail",
      need: { at: "path", key, action: "update" },
      onlyPeople: true,
      tag,
      parameters,
      body: emailsSchema,
      answers: { 200: { description: "Set", schema: emailsAnswerSchema } },
      handle: async (call) => {
        const { organizationId } = await requireScope(context, call.parameters);
        const addresses = [...new Set(call.body.addresses.map((address) => address.toLowerCase()))];
        await notifications.setEmails({ organizationId, addresses, author: call.caller.principal });
        return { status: 200, body: { addresses, mailServer: context.mailer !== undefined } };
      },
    }),
  ];
}

async function requireEndpoint(context: ApiContext, organizationId: string, wanted: string): Promise<WebhookEndpoint> {
  const found = (await context.notifications.listEndpoints(organizationId)).find((entry) => entry.id === wanted);
  if (found === undefined) throw notFound(wanted);
  return found;
}

function requireUrl(context: ApiContext, url: string): void {
  const refusal = context.webhooks.refusalOf(url);
  if (refusal === undefined) return;
  throw new Problem("FIELDS_INVALID", `Nothing can be sent there: ${refusal}`, {
    errors: [{ pointer: "/url", message: refusal }],
  });
}

async function newSecret(context: ApiContext, organizationId: string, endpointId: string) {
  const secret = `whsec_${Buffer.from(context.secretRandom.bytes(32)).toString("base64")}`;
  const sealedSecret = await context.secretBox.seal(secret, secretBinding(organizationId, endpointId));
  return { secret, sealedSecret };
}

function endpoint(found: WebhookEndpoint): WebhookDocument {
  const { createdAtMs, failingSinceMs, disabledReason, events, ...rest } = found;
  return {
    ...rest,
    events: [...events],
    createdAt: isoTime(createdAtMs),
    ...(failingSinceMs === undefined ? {} : { failingSince: isoTime(failingSinceMs) }),
    ...(disabledReason === undefined ? {} : { disabledReason }),
  };
}

function delivery(found: Delivery) {
  const { id: wanted, type, state, attempts, body, nextTryAtMs, endedAtMs } = found;
  return {
    id: wanted,
    type,
    state,
    attempts,
    createdAt: isoTime(found.createdAtMs),
    ...(nextTryAtMs === undefined || state !== "pending" ? {} : { nextTryAt: isoTime(nextTryAtMs) }),
    ...(endedAtMs === undefined ? {} : { endedAt: isoTime(endedAtMs) }),
    body,
    answers: found.answers.map(({ atMs, status, text }) => ({
      at: isoTime(atMs),
      ...(status === undefined ? {} : { status }),
      text,
    })),
  };
}

function notification({ id: wanted, type, cause, count, data, openedAtMs, toldAtMs }: Notification) {
  return {
    id: wanted,
    type,
    cause,
    count,
    summary: data.summary,
    openedAt: isoTime(openedAtMs),
    ...(toldAtMs === undefined ? {} : { toldAt: isoTime(toldAtMs) }),
    items: data.items.map(({ id: about, text, path: link, deadlineMs }) => ({
      id: about,
      text,
      ...(link === undefined ? {} : { link }),
      ...(deadlineMs === undefined ? {} : { deadline: isoTime(deadlineMs) }),
    })),
  };
}

function notFound(wanted: string): Problem {
  return new Problem("NOT_FOUND", `There is no webhook ${wanted} in this organization`);
}
