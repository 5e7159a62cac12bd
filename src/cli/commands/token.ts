import type { Command } from "commander";
import {
  newTokenSchema,
  type TokenDocument,
  tokenListSchema,
  tokenSchema,
} from "../../control-api/schemas/credentials.ts";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { parseSeconds, shortDuration } from "../duration.ts";
import {
  type OutputOptions,
  type RecordOptions,
  type Records,
  showOne,
  showRecords,
  withOutput,
  withRecords,
} from "../records.ts";
import { organizationOf, organizationPath, placeOf, scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** What a person calls each type, and the routes it is made by. */
const types = ["personal", "service", "workspace", "enrolment", "assistant"] as const;
type Type = (typeof types)[number];

interface CreateOptions extends ScopeOptions, OutputOptions {
  readonly type: string;
  readonly allow: readonly string[];
  readonly for?: string;
}

/** token create, list, revoke: what machines prove themselves with. */
export function registerTokens(program: Command, world: CliWorld, client: ApiClient): void {
  const token = program.command("token").description("tokens: what machines prove themselves with");
  withOutput(withScope(token.command("create")))
    .description("make a token; it is shown once")
    .argument("<name>", "what it is for")
    .option("--type <type>", types.join(", "), "personal")
    .option("--allow <key=actions>", "what it may do, such as project.dns_zone=read,create; repeat it", collect, [])
    .option("--for <duration>", "how long it lasts, such as 7d; at most 90d, an enrolment token at most 15m")
    .action((name: string, options: CreateOptions) => create(world, client, name, options));
  withRecords(withScope(token.command("list")))
    .description("list tokens: your own, or with --type those of an organization or workspace")
    .option("--type <type>", types.join(", "), "personal")
    .action((options: ScopeOptions & RecordOptions & { readonly type: string }) =>
      showRecords(world, options, async () => {
        const path = pathOf(world, typeOf(options.type), options);
        return tokenRecords(world, tokenListSchema.parse(await client.get(path)).items);
      }),
    );
  withScope(token.command("revoke"))
    .description("end a token; it is refused everywhere within 5 s")
    .argument("<id>")
    .option("--type <type>", types.join(", "), "personal")
    .action(async (id: string, options: ScopeOptions & { readonly type: string }) => {
      const path = pathOf(world, typeOf(options.type), options);
      const answer = await client.send("DELETE", `${path}/${encodeURIComponent(id)}`);
      const { name } = tokenSchema.parse(answer.body);
      world.writeData(`token ${id} (${name}) revoked\n`);
    });
}

async function create(world: CliWorld, client: ApiClient, name: string, options: CreateOptions): Promise<void> {
  const type = typeOf(options.type);
  const body = { name, ...lifeOf(type, options.for), ...accessOf(world, type, options) };
  const answer = await client.send("POST", pathOf(world, type, options), { body });
  const made = newTokenSchema.parse(answer.body);
  world.writeNote(`This is the token. It is shown this once; it ends at ${made.expiresAt}.\n`);
  showOne(world, options, { value: made, name: `token/${made.id}`, text: () => `${made.token}\n` });
}

function tokenRecords(world: CliWorld, items: readonly TokenDocument[]): Records<TokenDocument> {
  return {
    value: { items },
    items,
    name: (item) => `token/${item.id}`,
    head: ["ID", "NAME", "TYPE", "STATE", "MAKER", "ENDS IN", "LAST USE"],
    row: (item) => [
      item.id,
      item.name,
      item.type,
      { text: item.state, tone: item.state === "active" ? "good" : "soft" },
      item.maker,
      endsIn(world, item),
      item.lastUsedAt === undefined ? "never" : `${shortDuration(world.nowMs() - world.timeMs(item.lastUsedAt))} ago`,
    ],
    empty: "There is no token here. Make one with: setpoint token create NAME",
  };
}

function endsIn(world: CliWorld, item: TokenDocument): string {
  return item.state === "active" ? shortDuration(world.timeMs(item.expiresAt) - world.nowMs()) : "-";
}

function typeOf(text: string): Type {
  const type = types.find((entry) => entry === text);
  if (type === undefined) throw usageError(`There is no token type "${text}". Types: ${types.join(", ")}`);
  return type;
}

function pathOf(world: CliWorld, type: Type, options: ScopeOptions): string {
  if (type === "personal") return "/v1/me/tokens";
  if (type === "service" || type === "assistant") return `${organizationPath(world, options)}/tokens`;
  if (placeOf(world, options).workspace === undefined)
    throw usageError(`A ${type} token belongs to a workspace: name it with --project and --workspace`);
  return `${scopePath(world, options)}/${type === "workspace" ? "keys" : "enrolment-tokens"}`;
}

function lifeOf(type: Type, text: string | undefined): object {
  if (text === undefined) return {};
  const seconds = parseSeconds(text);
  return type === "enrolment" ? { expiresInMinutes: seconds / 60 } : { expiresInDays: seconds / 86_400 };
}

function accessOf(world: CliWorld, type: Type, options: CreateOptions): object {
  const rules = options.allow.map(ruleOf);
  if (type === "enrolment") {
    if (rules.length > 0)
      throw usageError("An enrolment token lets one agent join and may do nothing else: leave --allow out");
    return {};
  }
  if (rules.length === 0) {
    if (type === "personal") return {};
    throw usageError("Say what it may do: --allow KEY=ACTIONS, such as project.dns_zone=read,create");
  }
  if (type === "workspace") return { rules };
  const { project, workspace } = options;
  const organization = organizationOf(world, options);
  if (type === "personal") return { access: [{ organization, project, workspace, rules }] };
  return { type: `${type}-token`, access: [{ project, workspace, rules }] };
}

function ruleOf(text: string): { readonly key: string; readonly actions: readonly string[] } {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`--allow ${text} must be KEY=ACTIONS, such as project.dns_zone=read,create`);
  return { key: text.slice(0, at), actions: text.slice(at + 1).split(",") };
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
