import type { Command } from "commander";
import type { z } from "zod";
import {
  deliveryListSchema,
  emailsAnswerSchema,
  enqueuedSchema,
  notificationListSchema,
  type WebhookDocument,
  webhookListSchema,
  webhookSchema,
  webhookSecretSchema,
} from "../../control-api/schemas/webhooks.ts";
import type { ApiClient } from "../api-client.ts";
import { safeText, table } from "../output.ts";
import {
  type OutputOptions,
  type RecordOptions,
  type Records,
  showOne,
  showRecords,
  withOutput,
  withRecords,
} from "../records.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

interface About {
  readonly world: CliWorld;
  readonly client: ApiClient;
  readonly path: (options: ScopeOptions, id?: string) => string;
}

/** webhook, notification: who is told, what was told, and what became of it. */
export function registerWebhooks(program: Command, world: CliWorld, client: ApiClient): void {
  const webhook = program.command("webhook").description("webhooks: where people are told, signed");
  const path = (options: ScopeOptions, id = "") =>
    `${organizationPath(world, options)}/webhooks${id === "" ? "" : `/${encodeURIComponent(id)}`}`;
  registerEndpoints(webhook, { world, client, path });
  registerChanges(webhook, { world, client, path });
  registerDeliveries(webhook, { world, client, path });
  registerNotifications(program, world, client);
}

function registerEndpoints(webhook: Command, { world, client, path }: About): void {
  withRecords(withScope(webhook.command("list")))
    .description("list webhooks")
    .action((options: ScopeOptions & RecordOptions) =>
      showRecords(world, options, async () =>
        webhookRecords(webhookListSchema.parse(await client.get(path(options))).items),
      ),
    );
  withOutput(withScope(webhook.command("show")))
    .description("show one webhook")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions & OutputOptions) => {
      const found = webhookSchema.parse(await client.get(path(options, id)));
      const facts = Object.entries(found).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(", ") : String(value),
      ]);
      showOne(world, options, {
        value: found,
        name: `webhook/${found.id}`,
        text: () => table(world, ["", ""], facts).trimStart(),
      });
    });
  withScope(webhook.command("create"))
    .description("be told at a URL; the secret that verifies the signature is shown once")
    .argument("<url>", "https, at a public address")
    .option("--event <type...>", "what to be told of; everything without it")
    .option("--description <text>", "what it is for", "")
    .action(
      async (
        url: string,
        options: ScopeOptions & { readonly event?: readonly string[]; readonly description: string },
      ) => {
        const body = { url, description: options.description, events: options.event ?? ["*"] };
        const made = webhookSecretSchema.parse((await client.send("POST", path(options), { body })).body);
        tellSecret(world, made);
        world.writeNote(`Try it with: setpoint webhook test ${made.webhook.id}\n`);
      },
    );
}

function registerChanges(webhook: Command, { world, client, path }: About): void {
  for (const [act, state] of [
    ["enable", "enabled"],
    ["disable", "disabled"],
  ] as const)
    withScope(webhook.command(act))
      .description(act === "enable" ? "switch a webhook on again" : "tell nobody there until it is switched on again")
      .argument("<id>")
      .action(async (id: string, options: ScopeOptions) => {
        const { url, events, description } = webhookSchema.parse(await client.get(path(options, id)));
        await client.send("PUT", path(options, id), { body: { url, events, description, state } });
        world.writeData(`webhook/${id} ${state}\n`);
      });
  withScope(webhook.command("rotate"))
    .description("a new secret, shown once; for a day the old one signs as well")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions) => {
      tellSecret(world, webhookSecretSchema.parse((await client.send("POST", `${path(options, id)}:rotate`)).body));
    });
  withScope(webhook.command("delete"))
    .description("delete a webhook with the record of its deliveries")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions) => {
      await client.send("DELETE", path(options, id));
      world.writeData(`webhook/${id} deleted\n`);
    });
}

function registerDeliveries(webhook: Command, { world, client, path }: About): void {
  withScope(webhook.command("test"))
    .description("send a test message")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions) => {
      const answer = await client.send("POST", `${path(options, id)}:test`);
      world.writeData(`${enqueuedSchema.parse(answer.body).delivery}\n`);
      world.writeNote(`on its way; what was answered: setpoint webhook deliveries ${id}\n`);
    });
  withRecords(withScope(webhook.command("deliveries")))
    .description("what was sent to a webhook, newest first, with the last answer to each")
    .argument("<id>")
    .action((id: string, options: ScopeOptions & RecordOptions) =>
      showRecords(world, options, async () => {
        const { items } = deliveryListSchema.parse(await client.get(`${path(options, id)}/deliveries`));
        return {
          value: { items },
          items,
          name: (item) => item.id,
          head: ["ID", "WHAT", "STATE", "TRIES", "MADE", "LAST ANSWER"],
          row: (item) => [
            item.id,
            item.type,
            { text: item.state, tone: toneOf[item.state] },
            String(item.attempts),
            item.createdAt,
            lastAnswer(item.answers),
          ],
          wide: { head: ["NEXT TRY", "MESSAGE"], cells: (item) => [item.nextTryAt ?? "-", item.body] },
          empty: `Nothing was sent there yet. Send a test with: setpoint webhook test ${id}`,
        };
      }),
    );
  withScope(webhook.command("replay"))
    .description("send one message again, under the same id")
    .argument("<id>")
    .argument("<delivery>", "as in: setpoint webhook deliveries ID")
    .action(async (id: string, delivery: string, options: ScopeOptions) => {
      await client.send("POST", `${path(options, id)}/deliveries/${encodeURIComponent(delivery)}:replay`);
      world.writeData(`${delivery} on its way again\n`);
    });
}

const toneOf = { delivered: "good", pending: "warn", failed: "bad" } as const;

function lastAnswer(answers: readonly { readonly status?: number | undefined; readonly text: string }[]): string {
  const last = answers.at(-1);
  if (last === undefined) return "none yet";
  return [last.status ?? "", last.text.slice(0, 100)].join(" ").trim();
}

function webhookRecords(items: readonly WebhookDocument[]): Records<WebhookDocument> {
  return {
    value: { items },
    items,
    name: ({ id }) => `webhook/${id}`,
    head: ["ID", "STATE", "URL", "EVENTS", "DESCRIPTION"],
    row: ({ id, state, url, events, description, disabledReason, failingSince }) => [
      id,
      { text: state, tone: state === "enabled" && failingSince === undefined ? "good" : "warn" },
      url,
      events.join(", "),
      disabledReason ?? (failingSince === undefined ? description : `failing since ${failingSince}`),
    ],
    wide: { head: ["BY", "SINCE"], cells: ({ createdBy, createdAt }) => [createdBy, createdAt] },
    empty: "There is no webhook. Make one with: setpoint webhook create URL",
  };
}

function tellSecret(world: CliWorld, { webhook, secret }: z.output<typeof webhookSecretSchema>): void {
  world.writeNote(`This is the secret of webhook/${webhook.id}. It is shown this once.\n`);
  world.writeData(`${secret}\n`);
}

function registerNotifications(program: Command, world: CliWorld, client: ApiClient): void {
  const notification = program.command("notification").description("what people were told, and who is told by e-mail");
  withRecords(withScope(notification.command("list")))
    .description("what people were told, newest first, by cause")
    .action((options: ScopeOptions & RecordOptions) =>
      showRecords(world, options, async () => {
        const path = `${organizationPath(world, options)}/notifications`;
        const { items } = notificationListSchema.parse(await client.get(path));
        return {
          value: { items },
          items,
          name: ({ id }) => id,
          head: ["OPENED", "WHAT", "COUNT", "SUMMARY"],
          row: ({ openedAt, type, count, summary }) => [openedAt, type, String(count), summary],
          below: (one) =>
            one.items.map(({ text, link }) => `    ${safeText(text)}${link === undefined ? "" : ` ${link}`}`),
          empty: "Nothing was told yet.",
        };
      }),
    );
  withOutput(withScope(notification.command("emails")))
    .description("who is told by e-mail; addresses replace those that are there")
    .argument("[address...]")
    .option("--none", "tell nobody by e-mail")
    .action(
      async (addresses: readonly string[], options: ScopeOptions & OutputOptions & { readonly none?: boolean }) => {
        const path = `${organizationPath(world, options)}/notification-emails`;
        const changes = addresses.length > 0 || options.none === true;
        const body = { addresses: options.none === true ? [] : addresses };
        const answer = changes ? (await client.send("PUT", path, { body })).body : await client.get(path);
        const value = emailsAnswerSchema.parse(answer);
        const lines = value.addresses.map((address) => `${address}\n`).join("");
        showOne(world, options, { value, name: lines.trimEnd(), text: () => lines });
        if (!value.mailServer) world.writeNote("No mail server is set (SETPOINT_SMTP_URL): nothing is mailed.\n");
      },
    );
}
