import type { Command } from "commander";
import {
  acceptedInviteSchema,
  createdInviteSchema,
  explanationSchema,
  inviteListSchema,
  type MemberDocument,
  memberListSchema,
  memberSchema,
  roleListSchema,
  roleSchema,
} from "../../control-api/schemas/access.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { findKind } from "../kind-names.ts";
import { table } from "../output.ts";
import { type OutputOptions, type RecordOptions, showOne, showRecords, withOutput, withRecords } from "../records.ts";
import { organizationOf, organizationPath, placeOf, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

type Listing = ScopeOptions & RecordOptions;

/** member, role, invite, can-i: who may do what. */
export function registerAccess(program: Command, world: CliWorld, client: ApiClient): void {
  registerMembers(program, world, client);
  registerRoles(program, world, client);
  registerInvites(program, world, client);
  registerCanI(program, world, client);
}

function registerMembers(program: Command, world: CliWorld, client: ApiClient): void {
  const member = program.command("member").description("members of an organization and their roles");
  const path = (options: ScopeOptions, person = "") =>
    `${organizationPath(world, options)}/members${person === "" ? "" : `/${encodeURIComponent(person)}`}`;
  withRecords(withScope(member.command("list")))
    .description("list members with their roles")
    .action((options: Listing) =>
      showRecords(world, options, async () => {
        const items = await allMembers(client, path(options));
        return {
          value: { items },
          items,
          name: ({ email }) => `member/${email}`,
          head: ["E-MAIL", "ROLES"],
          row: ({ email, bindings }) => [email, bindings.map(bindingText).join(", ")],
          empty: "Nobody is a member. Invite somebody with: setpoint invite create E-MAIL --role member",
        };
      }),
    );
  withScope(member.command("grant"))
    .description("give a member a role in the organization, or in --project or --workspace")
    .argument("<e-mail>")
    .argument("<role>")
    .action(async (person: string, role: string, options: ScopeOptions) => {
      await client.send("POST", `${path(options, person)}/bindings`, { body: bindingOf(role, options) });
      world.writeData(`member/${person} has the role ${role}\n`);
    });
  withScope(member.command("revoke"))
    .description("take a role from a member, where it was given")
    .argument("<e-mail>")
    .argument("<role>")
    .action(async (person: string, role: string, options: ScopeOptions) => {
      const { bindings } = memberSchema.parse(await client.get(path(options, person)));
      const wanted = bindingText(bindingOf(role, options));
      const found = bindings.find((binding) => bindingText(binding) === wanted);
      if (found === undefined)
        throw new CliError(
          `${person} does not have ${wanted}. They have: ${bindings.map(bindingText).join(", ") || "no role"}`,
          exitCodes.notFound,
        );
      await client.send("DELETE", `${path(options, person)}/bindings/${encodeURIComponent(found.id)}`);
      world.writeData(`member/${person} no longer has ${wanted}\n`);
    });
  withScope(member.command("remove"))
    .description("remove somebody from the organization")
    .argument("<e-mail>")
    .action(async (person: string, options: ScopeOptions) => {
      await client.send("DELETE", path(options, person));
      world.writeData(`member/${person} removed\n`);
    });
  withScope(member.command("confirm"))
    .description(
      "after a restore: say that somebody still belongs to the organization (administrators of the platform)",
    )
    .argument("<e-mail>")
    .action(async (person: string, options: ScopeOptions) => {
      await client.send("POST", `${path(options, person)}:confirm`);
      world.writeData(`member/${person} confirmed\n`);
    });
  withScope(member.command("leave"))
    .description("leave an organization yourself")
    .action(async (options: ScopeOptions) => {
      await client.send("POST", `${organizationPath(world, options)}:leave`);
      world.writeData(`you no longer belong to ${organizationOf(world, options)}\n`);
    });
}

function registerRoles(program: Command, world: CliWorld, client: ApiClient): void {
  const role = program.command("role").description("roles: those that came with Setpoint, and an organization's own");
  const path = (options: ScopeOptions) => `${organizationPath(world, options)}/roles`;
  withRecords(withScope(role.command("list")))
    .description("list roles")
    .action((options: Listing) =>
      showRecords(world, options, async () => {
        const { items } = roleListSchema.parse(await client.get(path(options)));
        return {
          value: { items },
          items,
          name: ({ name }) => `role/${name}`,
          head: ["NAME", "WHOSE", "RULES", "DESCRIPTION"],
          row: ({ name, seed, rules, description }) => [
            name,
            seed ? "Setpoint's" : "own",
            rules.some(({ key }) => key === "*") ? "everything" : `${rules.length} keys`,
            description,
          ],
          empty: "There is no role.",
        };
      }),
    );
  withOutput(withScope(role.command("get")))
    .description("show one role with its rules")
    .argument("<name>")
    .action(async (name: string, options: ScopeOptions & OutputOptions) => {
      const found = roleSchema.parse(await client.get(`${path(options)}/${encodeURIComponent(name)}`));
      const rows = found.rules.map(({ key, actions }) => [key, actions.join(", ")]);
      showOne(world, options, {
        value: found,
        name: `role/${found.name}`,
        text: () => table(world, ["KEY", "ACTIONS"], rows),
      });
    });
  for (const act of ["create", "update"] as const) {
    withScope(role.command(act))
      .description(act === "create" ? "make a role out of what you may do yourself" : "replace the rules of a role")
      .argument("<name>")
      .option("--allow <key=actions>", "such as project.dns_zone=read,create; repeat it", collect, [])
      .option("--description <text>", "what it is for", "")
      .action(
        async (
          name: string,
          options: ScopeOptions & { readonly allow: readonly string[]; readonly description: string },
        ) => {
          const body = { description: options.description, rules: options.allow.map(ruleOf) };
          if (act === "create") await client.send("POST", path(options), { body: { name, ...body } });
          else await client.send("PUT", `${path(options)}/${encodeURIComponent(name)}`, { body });
          world.writeData(`role/${name} ${act}d\n`);
        },
      );
  }
  withScope(role.command("delete"))
    .description("delete a role that nobody has")
    .argument("<name>")
    .action(async (name: string, options: ScopeOptions) => {
      await client.send("DELETE", `${path(options)}/${encodeURIComponent(name)}`);
      world.writeData(`role/${name} deleted\n`);
    });
}

function registerInvites(program: Command, world: CliWorld, client: ApiClient): void {
  const invite = program.command("invite").description("invites: single use, for one e-mail, expiring");
  const path = (options: ScopeOptions) => `${organizationPath(world, options)}/invites`;
  withScope(invite.command("create"))
    .description("invite somebody; the link is mailed, or shown once where no mail server is set")
    .argument("<e-mail>")
    .option("--role <name>", "the role they will have, in the organization or in --project or --workspace")
    .option("--for <duration>", "how long the invite lasts", "7d")
    .action(async (email: string, options: ScopeOptions & { readonly role?: string; readonly for: string }) => {
      const bindings = options.role === undefined ? [] : [bindingOf(options.role, options)];
      const body = { email, bindings, forSeconds: parseSeconds(options.for) };
      const made = createdInviteSchema.parse((await client.send("POST", path(options), { body })).body);
      if (made.link === undefined) return world.writeNote(`The invite was mailed to ${email}\n`);
      world.writeNote(`Give this link to ${email}. It is shown this once and ends at ${made.expiresAt}.\n`);
      world.writeData(`${made.link}\n`);
    });
  withRecords(withScope(invite.command("list")))
    .description("list invites")
    .action((options: Listing) =>
      showRecords(world, options, async () => {
        const { items } = inviteListSchema.parse(await client.get(path(options)));
        return {
          value: { items },
          items,
          name: ({ id }) => `invite/${id}`,
          head: ["ID", "E-MAIL", "STATE", "ROLES", "INVITED BY", "EXPIRES"],
          row: (item) => [
            item.id,
            item.email,
            item.state,
            item.bindings.map(bindingText).join(", "),
            item.invitedBy,
            item.expiresAt,
          ],
          empty: "There is no invite. Make one with: setpoint invite create E-MAIL --role member",
        };
      }),
    );
  withScope(invite.command("revoke"))
    .description("revoke an invite that nobody accepted yet")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions) => {
      await client.send("DELETE", `${path(options)}/${encodeURIComponent(id)}`);
      world.writeData(`invite/${id} revoked\n`);
    });
  invite
    .command("accept")
    .description("accept an invite that was made for your e-mail")
    .argument("<link or secret>")
    .action(async (text: string) => {
      const secret = text.slice(text.lastIndexOf("#") + 1);
      const answer = await client.send("POST", "/v1/invites/accept", { body: { secret } });
      world.writeData(`you belong to ${acceptedInviteSchema.parse(answer.body).organization}\n`);
    });
}

function registerCanI(program: Command, world: CliWorld, client: ApiClient): void {
  withOutput(withScope(program.command("can-i")))
    .description("whether you may do something, and why; ends with 3 if not")
    .argument("<action>", "read, create, update, delete or execute")
    .argument("<kind or key>", "a kind such as dnszone, or a permission key such as organization.held_change")
    .option("--as <e-mail>", "ask for another member instead")
    .option("--platform", "ask about the platform instead of an organization")
    .action(
      async (
        action: string,
        what: string,
        options: ScopeOptions & OutputOptions & { readonly as?: string; readonly platform?: boolean },
      ) => {
        const where: ScopeOptions = options.platform === true ? {} : placeOf(world, options);
        const permission = what.includes(".") ? what : (await findKind(client, what)).permission;
        const query = new URLSearchParams({ permission, action });
        for (const name of ["organization", "project", "workspace"] as const)
          if (where[name] !== undefined) query.set(name, where[name]);
        if (options.as !== undefined) query.set("as", options.as);
        const found = explanationSchema.parse(await client.get(`/v1/access/explain?${query.toString()}`));
        const answer = found.allowed ? "yes" : "no";
        showOne(world, options, { value: found, name: answer, text: () => `${answer}\n` });
        if (!found.allowed) throw new CliError(`${found.who}: ${found.because}`, exitCodes.notAllowed);
        world.writeNote(`${found.who}: ${found.because}\n`);
      },
    );
}

async function allMembers(client: ApiClient, path: string): Promise<readonly MemberDocument[]> {
  const items: MemberDocument[] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const page = token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`;
    const answer = memberListSchema.parse(await client.get(`${path}?pageSize=500${page}`));
    items.push(...answer.items);
    token = answer.nextPageToken;
  }
  return items;
}

interface RoleAt {
  readonly role: string;
  readonly project?: string | undefined;
  readonly workspace?: string | undefined;
}

function bindingOf(role: string, { project, workspace }: ScopeOptions): RoleAt {
  if (workspace !== undefined && project === undefined)
    throw usageError("--workspace needs --project: a workspace lives in a project");
  return { role, ...(project === undefined ? {} : { project }), ...(workspace === undefined ? {} : { workspace }) };
}

function bindingText({ role, project, workspace }: RoleAt): string {
  return project === undefined ? role : `${role} in ${[project, workspace].filter(Boolean).join("/")}`;
}

function ruleOf(text: string): { readonly key: string; readonly actions: readonly string[] } {
  const [key = "", actions = "", ...rest] = text.split("=");
  if (key === "" || actions === "" || rest.length > 0) throw usageError(`--allow ${text} must be KEY=ACTION,ACTION`);
  return { key, actions: actions.split(",") };
}

function collect(value: string, all: readonly string[]): readonly string[] {
  return [...all, value];
}
