import type { Command } from "commander";
import {
  type OrganizationDocument,
  organizationListSchema,
  organizationSchema,
  scopeListSchema,
} from "../../control-api/schemas/organization.ts";
import type { ApiClient } from "../api-client.ts";
import { type RecordOptions, type Records, showRecords, withRecords } from "../records.ts";
import { organizationPath, projectPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** org, project, workspace: where everything else lives. */
export function registerOrganizations(program: Command, world: CliWorld, client: ApiClient): void {
  const org = program
    .command("org")
    .description("organizations: create, get, list, delete, submit, verify, block, queue");
  org
    .command("create")
    .description("create an organization; you become its owner")
    .argument("<name>")
    .action(async (name: string) => {
      const made = organizationSchema.parse((await client.send("POST", "/v1/organizations", { body: { name } })).body);
      world.writeData(`organization/${name} created\n`);
      if (made.verification !== "verified")
        world.writeNote(
          `Nothing can be created in it before it is verified. Ask for that: setpoint org submit ${name}\n`,
        );
    });
  withRecords(org.command("get"))
    .description("show one organization with its status")
    .argument("<name>")
    .action((name: string, options: RecordOptions) =>
      showRecords(world, options, async () => {
        const found = organizationSchema.parse(await client.get(pathOf(name)));
        return organizationRecords([found], found);
      }),
    );
  withRecords(org.command("list"))
    .description("list the organizations that you may see")
    .action((options: RecordOptions) =>
      showRecords(world, options, async () => {
        const { items } = organizationListSchema.parse(await client.get("/v1/organizations"));
        return organizationRecords(items, { items });
      }),
    );
  org
    .command("delete")
    .description("delete an organization that is empty; its name stays taken")
    .argument("<name>")
    .action(async (name: string) => {
      await client.send("DELETE", pathOf(name));
      world.writeData(`organization/${name} deleted\n`);
    });
  org
    .command("submit")
    .description("ask for the verification of an organization")
    .argument("<name>")
    .action(async (name: string) => {
      const set = organizationSchema.parse((await client.send("POST", `${pathOf(name)}:submit`)).body);
      world.writeData(`organization/${name} is ${set.verification}\n`);
    });
  registerStatus(org, world, client);
  registerScopes(program, world, client);
}

function registerStatus(org: Command, world: CliWorld, client: ApiClient): void {
  const acts = [
    ["verify", "let an organization create things", { verification: "verified" }],
    ["block", "stop an organization from creating anything", { verification: "blocked" }],
    ["queue", "put an organization on the waiting list", { verification: "waitlist" }],
    ["deactivate", "take an organization out of use", { state: "inactive" }],
    ["activate", "take an organization into use again", { state: "active" }],
  ] as const;
  for (const [act, description, change] of acts) {
    org
      .command(act)
      .description(`${description} (operators of the platform)`)
      .argument("<name>")
      .requiredOption("--reason <text>", "why; its members are told")
      .action(async (name: string, options: { readonly reason: string }) => {
        const body = { ...change, reason: options.reason };
        const set = organizationSchema.parse((await client.send("PUT", `${pathOf(name)}/status`, { body })).body);
        world.writeData(`organization/${name} is ${set.verification} and ${set.state}\n`);
      });
  }
}

function registerScopes(program: Command, world: CliWorld, client: ApiClient): void {
  for (const what of ["project", "workspace"] as const) {
    const noun = program.command(what).description(`${what}s: create, list, delete`);
    const base = (options: ScopeOptions) => {
      if (what === "project") return `${organizationPath(world, options)}/projects`;
      return `${projectPath(world, options)}/workspaces`;
    };
    withScope(noun.command("create"))
      .description(`create a ${what}`)
      .argument("<name>")
      .action(async (name: string, options: ScopeOptions) => {
        await client.send("POST", base(options), { body: { name } });
        world.writeData(`${what}/${name} created\n`);
      });
    withRecords(withScope(noun.command("list")))
      .description(`list the ${what}s that you may see`)
      .action((options: ScopeOptions & RecordOptions) =>
        showRecords(world, options, async () => {
          const { items } = scopeListSchema.parse(await client.get(base(options)));
          return {
            value: { items },
            items,
            name: ({ name }) => `${what}/${name}`,
            head: ["NAME"],
            row: ({ name }) => [name],
            empty: `There is no ${what} here that you may see. Create one with: setpoint ${what} create NAME`,
          };
        }),
      );
    withScope(noun.command("delete"))
      .description(`delete a ${what} that is empty`)
      .argument("<name>")
      .action(async (name: string, options: ScopeOptions) => {
        await client.send("DELETE", `${base(options)}/${encodeURIComponent(name)}`);
        world.writeData(`${what}/${name} deleted\n`);
      });
  }
}

function organizationRecords(items: readonly OrganizationDocument[], value: unknown): Records<OrganizationDocument> {
  return {
    value,
    items,
    name: ({ name }) => `organization/${name}`,
    head: ["NAME", "VERIFICATION", "STATE", "REASON"],
    row: ({ name, verification, state, reason }) => [
      name,
      { text: verification, tone: verification === "verified" ? "good" : "warn" },
      { text: state, tone: state === "active" ? "good" : "warn" },
      reason,
    ],
    empty: "You belong to no organization. Create one with: setpoint org create NAME",
  };
}

function pathOf(name: string): string {
  return `/v1/organizations/${encodeURIComponent(name)}`;
}
