import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { parse } from "yaml";
import { heldChangeSchema, policySchema } from "../../control-api/schemas/governance.ts";
import { accountListSchema, accountSchema } from "../../control-api/schemas/organization.ts";
import { resourceSchema } from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, thrownMessage, usageError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { yaml } from "../output.ts";
import { type OutputOptions, type RecordOptions, showOne, showRecords, withOutput, withRecords } from "../records.ts";
import { organizationPath, projectPath, ruledPath, type ScopeOptions, withScope } from "../scope-path.ts";
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
        workspace: what === "workspace" ? `${projectPath(world, options)}/workspaces` : "",
      };
      const path = paths[what];
      if (path === undefined) throw usageError(`"${what}" cannot be created: write organization, project or workspace`);
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
  withOutput(withScope(program.command("policy")))
    .description("show the policy of a scope, or replace it from a YAML file")
    .argument("<scope>", "platform, organization, project or workspace")
    .option("-f, --file <path>", "the new policy; replaces the old one as a whole")
    .action(async (target: string, options: ScopeOptions & OutputOptions & { readonly file?: string }) => {
      const path = policyPath(world, target, options);
      if (options.file === undefined) {
        const value = policySchema.parse(await client.get(path));
        return showOne(world, options, { value, name: target, text: () => yaml(value) });
      }
      const { headers } = await client.send("GET", path);
      await putPolicy(client, path, { body: readPolicy(options.file), etag: headers["etag"] });
      world.writeNote(`the policy of the ${target} is set\n`);
    });
}

function registerAccounts(program: Command, world: CliWorld, client: ApiClient): void {
  const account = program.command("account").description("accounts: one credential's world at a provider each");
  withScope(account.command("add"))
    .description("add an account; the credential itself stays where it is")
    .argument("<name>")
    .requiredOption("--provider <name>", "such as powerdns or rfc2136")
    .option("--set <key=value...>", "settings of the provider, such as url=http://127.0.0.1:8081")
    .option(
      "--credential <reference>",
      "where the scheduler finds the credential: env:NAME or file:PATH (administrators of the platform)",
    )
    .option("--calls-per-second <number>", "how many calls the provider allows", "10")
    .option("--from-pool", "one of the operator's pool is claimed for it when something is first made there")
    .action(
      async (
        name: string,
        options: ScopeOptions & {
          readonly fromPool?: boolean;
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
          ...(options.fromPool === true ? { fromPool: true } : {}),
        };
        const added = accountSchema.parse(
          (await client.send("POST", `${organizationPath(world, options)}/accounts`, { body })).body,
        );
        world.writeData(`account/${added.name} added\n`);
      },
    );
  withRecords(withScope(account.command("list")))
    .description("list accounts")
    .action((options: ScopeOptions & RecordOptions) =>
      showRecords(world, options, async () => {
        const { items } = accountListSchema.parse(await client.get(`${organizationPath(world, options)}/accounts`));
        return {
          value: { items },
          items,
          name: (item) => `account/${item.name}`,
          head: ["NAME", "PROVIDER", "SETTINGS", "CALLS/S", "FINGERPRINT"],
          row: (item) => [
            item.name,
            item.provider,
            item.pool === undefined
              ? JSON.stringify(item.settings)
              : `from the pool: ${item.pool.account ?? "none claimed yet"}`,
            String(item.callsPerSecond),
            item.fingerprint ?? "not claimed yet",
          ],
          empty: "There is no account here. Add one with: setpoint account add",
        };
      }),
    );
  registerRelease(account, world, client);
}

function registerRelease(account: Command, world: CliWorld, client: ApiClient): void {
  withScope(account.command("release"))
    .description("give back what an account has of the operator's pool; refused while anything names the account")
    .argument("<name>")
    .action(async (name: string, options: ScopeOptions) => {
      const path = `${organizationPath(world, options)}/accounts/${encodeURIComponent(name)}:release`;
      accountSchema.parse((await client.send("POST", path)).body);
      world.writeData(`account/${name} has nothing of the pool any more\n`);
    });
}

export function settingOf(text: string): readonly [string, string] {
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
  const { headers, body } = await client.send("GET", path);
  await putPolicy(client, path, { body: { ...policySchema.parse(body), ...change }, etag: headers["etag"] });
}

/** What loosens a rule waits: the command ends with the code for that and says who can let it through. */
export async function putPolicy(
  client: ApiClient,
  path: string,
  { body, etag }: { readonly body: unknown; readonly etag: string | undefined },
): Promise<void> {
  const answer = await client.send("PUT", path, { body, headers: { "if-match": etag ?? "*" } });
  if (answer.status !== 202) return;
  const held = heldChangeSchema.parse(answer.body);
  throw new CliError(
    `This loosens a rule and waits for a person: ${held.verdict.reason}\nLet it through with: setpoint approve ${held.id} --digest ${held.digest}`,
    exitCodes.waitingForApproval,
  );
}

function policyPath(world: CliWorld, target: string, options: ScopeOptions): string {
  return `${ruledPath(world, target, options)}/policy`;
}

function readPolicy(file: string): unknown {
  try {
    return parse(readFileSync(file, "utf8"), { strict: true });
  } catch (thrown) {
    throw usageError(`${file}: ${thrownMessage(thrown)}`);
  }
}
