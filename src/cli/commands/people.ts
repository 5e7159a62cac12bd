import type { Command } from "commander";
import {
  addedPersonSchema,
  linkSchema,
  type PersonDocument,
  personListSchema,
} from "../../control-api/schemas/identity.ts";
import type { z } from "zod";
import type { ApiClient } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { type RecordOptions, showRecords, withRecords } from "../records.ts";
import type { CliWorld } from "../world.ts";

/** people: who is here, for whoever runs the platform. */
export function registerPeople(program: Command, world: CliWorld, client: ApiClient): void {
  const people = program.command("people").description("the people of this installation");
  withRecords(people.command("list"))
    .description("everybody here")
    .action((options: RecordOptions) =>
      showRecords(world, options, async () => {
        const items = await everybody(client);
        return {
          value: { items },
          items,
          name: ({ email }) => email,
          head: ["E-MAIL", "NAME", "STATE", "ROLE", "SINCE"],
          row: (one) => [one.email, one.name, one.state, one.platformRole, one.createdAt],
          wide: { head: ["ID"], cells: ({ id }) => [id] },
          empty: "Nobody is here yet. Make the first person with: setpoint auth link",
        };
      }),
    );
  people
    .command("add")
    .description("add a person, who sets their password with a one-time link")
    .argument("<email>")
    .requiredOption("--name <name>", "what they are called")
    .option("--role <role>", "on the platform: none, operator or administrator", "none")
    .action(async (email: string, options: { readonly name: string; readonly role: string }) => {
      const body = { email, name: options.name, platformRole: options.role };
      const { person, link } = addedPersonSchema.parse((await client.send("POST", "/v1/people", { body })).body);
      world.writeNote(`${person.email} is added\n`);
      showLink(world, person.email, link);
    });
  for (const [verb, change, about] of changes)
    people
      .command(verb)
      .description(about)
      .argument("<email>")
      .action(async (email: string) => {
        const { id } = await personOf(client, email);
        await client.send("PUT", `/v1/people/${encodeURIComponent(id)}`, { body: change });
        world.writeData(`${email} is ${change.state}\n`);
      });
  people
    .command("role")
    .description("set a person's role on the platform")
    .argument("<email>")
    .argument("<role>", "none, operator or administrator")
    .action(async (email: string, platformRole: string) => {
      const { id } = await personOf(client, email);
      await client.send("PUT", `/v1/people/${encodeURIComponent(id)}`, { body: { platformRole } });
      world.writeData(`${email} has the role ${platformRole} on the platform\n`);
    });
  people
    .command("reset-link")
    .description("a one-time link with which a person sets a new password")
    .argument("<email>")
    .action(async (email: string) => {
      const { id } = await personOf(client, email);
      const answer = await client.send("POST", `/v1/people/${encodeURIComponent(id)}/reset-link`);
      showLink(world, email, linkSchema.parse(answer.body));
    });
}

const changes = [
  ["disable", { state: "disabled" }, "let a person do nothing any more, and sign them out everywhere"],
  ["enable", { state: "active" }, "let a person in again"],
] as const;

function showLink(world: CliWorld, email: string, link: z.output<typeof linkSchema>): void {
  if (link.url !== undefined) world.writeData(`${link.url}\n`);
  const how = link.mailed ? `a link was mailed to ${email}` : `give ${email} the link above: it is not shown again`;
  world.writeNote(`${how}; it works once, until ${link.expiresAt}\n`);
}

async function everybody(client: ApiClient): Promise<readonly PersonDocument[]> {
  const found: PersonDocument[] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const page = token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`;
    const answer = personListSchema.parse(await client.get(`/v1/people?pageSize=500${page}`));
    found.push(...answer.items);
    token = answer.nextPageToken;
  }
  return found;
}

async function personOf(client: ApiClient, email: string): Promise<PersonDocument> {
  const wanted = email.trim().toLowerCase();
  const found = (await everybody(client)).find((one) => one.email === wanted || one.id === email);
  if (found !== undefined) return found;
  throw new CliError(`There is nobody called "${email}" here. See: setpoint people list`, exitCodes.notFound);
}
