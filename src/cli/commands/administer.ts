import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { parse } from "yaml";
import { heldChangeSchema, policySchema } from "../../control-api/schemas/governance.ts";
import { accountListSchema, accountSchema } from "../../control-api/schemas/organization.ts";
import { resourceSchema } from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { json, parseFormat, table, yaml } from "../output.ts";
import { organizationPath, scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";

/** account, create, mode, policy: what is set up once and changed rarely. */
export function registerAdminister(program: Command, world: CliWorld, client: ApiClient): void {
  registerAccounts(program, world, client);
  withScope(program.command("create"))
    .description("create an organization, a project or a workspace")
    .argument("<what>", "organization, project or workspace")
    .argument("<name>")
    .action(async (what: string, name: string, options: ScopeOptions) => {
      const paths: Readonly<Record<string, string>> = {
        organization: "/v1/organizations",
        project: `${organizationPath(world, options)}/projects`,
        workspace: `${scopePath(world, { organization: options.organization, project: options.project })}/workspaces`,
      };
      const path = paths[what];
      if (path === undefined) throw usageError(`"${what}" cannot be created: write organization, project or workspace`);
      if (what === "workspace" && options.project === undefined)
        throw usageError("say in which project: --project NAME");
      await client.send("POST", path, { body: { name } });
      world.writeData(`${what}/${name} created\n`);
    });
  withScope(program.command("mode"))
    .description("set the mode of a scope or of one resource: observe, propose or enforce")
    .argument("<scope|kind/name>", "platform, organization, project, workspace, or a resource such as dnszone/example")
    .argument("<mode>")
    .action(async (target: string, mode: string, options: ScopeOptions) => {
      if (target.includes("/")) await setResourceMode(world, client, target, mode, options);
      else await changePolicy(client, policyPath(world, target, options), { mode });
      world.writeNote(`${target} is in mode ${mode}\n`);
    });
  withScope(program.command("policy"))
    .description("show the policy of a scope, or replace it from a YAML file")
    .argument("<scope>", "platform, organization, project or workspace")
    .option("-f, --file <path>", "the new policy; replaces the old one as a whole")
    .action(async (target: string, options: ScopeOptions & { readonly file?: string }) => {
      const path = policyPath(world, target, options);
      if (options.file === undefined) return world.writeData(yaml(policySchema.parse(await client.get(path))));
      await putPolicy(client, path, readPolicy(options.file));
      world.writeNote(`the policy of the ${target} is set\n`);
    });
}

function registerAccounts(program: Command, world: CliWorld, client: ApiClient): void {
  const account = program.command("account").description("accounts: one credential's world at a provider each");
  withScope(account.command("add"))
    .description("add an account; the credential itself stays where it is")
    .argument("<name>")
    .requiredOption("--provider <name>", "such as powerdns")
    .option("--set <key=value...>", "settings of the provider, such as url=http://127.0.0.1:8081")
    .option("--credential <reference>", "where the scheduler finds the credential: env:NAME or file:PATH")
    .option("--calls-per-second <number>", "how many calls the provider allows", "10")
    .addHelpText(
      "after",
      "\nExample:\n  setpoint account add lab --provider powerdns --set url=http://127.0.0.1:8081 --credential file:/etc/setpoint/lab.key\n",
    )
    .action(
      async (
        name: string,
        options: ScopeOptions & {
          readonly provider: string;
          readonly set?: readonly string[];
          readonly credential?: string;
          readonly callsPerSecond: string;
        },
      ) => {
        const body = {
          name,
          provider: options.provider,
          settings: Object.fromEntries((options.set ?? []).map(settingOf)),
          callsPerSecond: Number(options.callsPerSecond),
          ...(options.credential === undefined ? {} : { credentialRef: options.credential }),
        };
        const added = accountSchema.parse(
          (await client.send("POST", `${organizationPath(world, options)}/accounts`, { body })).body,
        );
        world.writeData(`account/${added.name} added\n`);
      },
    );
  withScope(account.command("list"))
    .description("list accounts")
    .option("-o, --output <format>", "table, json, yaml or name", "table")
    .action(async (options: ScopeOptions & { readonly output: string }) => {
      const format = parseFormat(options.output);
      const { items } = accountListSchema.parse(await client.get(`${organizationPath(world, options)}/accounts`));
      if (format === "json") return world.writeData(json({ items }));
      if (format === "yaml") return world.writeData(yaml({ items }));
      if (format === "name") return world.writeData(items.map((item) => `account/${item.name}\n`).join(""));
      const rows = items.map((item) => [
        item.name,
        item.provider,
        JSON.stringify(item.settings),
        String(item.callsPerSecond),
        item.fingerprint ?? "not claimed yet",
      ]);
      if (rows.length === 0) return world.writeNote("There is no account here. Add one with: setpoint account add\n");
      world.writeData(table(world, ["NAME", "PROVIDER", "SETTINGS", "CALLS/S", "FINGERPRINT"], rows));
    });
}

function settingOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`--set ${text} must be KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

export async function setResourceMode(
  world: CliWorld,
  client: ApiClient,
  target: string,
  mode: string,
  options: ScopeOptions,
): Promise<void> {
  const { path } = await targetPath(world, client, target, options);
  const read = await client.send("GET", path);
  const { apiVersion, kind, metadata, spec } = resourceSchema.parse(read.body);
  const body = {
    apiVersion,
    kind,
    metadata: { name: metadata.name, labels: metadata.labels, mode, protect: metadata.protect },
    spec,
  };
  // As the same owner as an apply from here: the next manifest may say otherwise.
  await client.send("PUT", `${path}?fieldManager=cli`, { body, headers: { "if-match": read.headers["etag"] ?? "*" } });
}

async function changePolicy(client: ApiClient, path: string, change: Readonly<Record<string, unknown>>): Promise<void> {
  const current = policySchema.parse(await client.get(path));
  await putPolicy(client, path, { ...current, ...change });
}

/** What loosens a rule waits: the command ends with the code for that and says who can let it through. */
async function putPolicy(client: ApiClient, path: string, body: unknown): Promise<void> {
  const { headers } = await client.send("GET", path);
  const answer = await client.send("PUT", path, { body, headers: { "if-match": headers["etag"] ?? "*" } });
  if (answer.status !== 202) return;
  const held = heldChangeSchema.parse(answer.body);
  throw new CliError(
    `This loosens a rule and waits for a person: ${held.verdict.reason}\nLet it through with: setpoint approve ${held.id} --digest ${held.digest}`,
    exitCodes.waitingForApproval,
  );
}

function policyPath(world: CliWorld, target: string, options: ScopeOptions): string {
  const { organization, project, workspace } = options;
  if (target === "platform") return "/v1/policy";
  if (target === "organization") return `${scopePath(world, { organization })}/policy`;
  if (target === "project" && project !== undefined) return `${scopePath(world, { organization, project })}/policy`;
  if (target === "workspace" && workspace !== undefined)
    return `${scopePath(world, { organization, project, workspace })}/policy`;
  if (target === "project" || target === "workspace") throw usageError(`say which ${target}: --${target} NAME`);
  throw usageError(
    `"${target}" is not a scope: write platform, organization, project or workspace, or KIND/NAME for one resource`,
  );
}

function readPolicy(file: string): unknown {
  try {
    return parse(readFileSync(file, "utf8"), { strict: true });
  } catch (thrown) {
    throw usageError(`${file}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
