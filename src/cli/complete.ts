import type { Command, Option } from "commander";
import { z } from "zod";
import type { ApiClient } from "./api-client.ts";
import { readContexts } from "./context-file.ts";
import { knownKinds, type KnownKind } from "./kind-names.ts";
import { listAll } from "./list-all.ts";
import { formats } from "./output.ts";
import { organizationPath, projectPath, scopePath, type ScopeOptions } from "./scope-path.ts";
import { seenItems } from "./seen-items.ts";
import type { CliWorld } from "./world.ts";

/** What was typed before the word in question. */
interface Typed {
  readonly world: CliWorld;
  readonly client: ApiClient;
  /** Such as `held show`. */
  readonly words: string;
  readonly positional: readonly string[];
  readonly options: ScopeOptions & Readonly<Record<string, string | undefined>>;
  readonly word: string;
}

type Source = (typed: Typed) => readonly string[] | Promise<readonly string[]>;

/** Whatever goes wrong, completing nothing is better than a message in the middle of a line. */
export async function completions(
  program: Command,
  about: { readonly world: CliWorld; readonly client: ApiClient },
  line: readonly string[],
): Promise<readonly string[]> {
  const word = line.at(-1) ?? "";
  const { command, names, positional, options, pending } = readLine(program, line.slice(0, -1));
  const typed: Typed = { ...about, words: names.join(" "), positional, options, word };
  try {
    const found = await (pending === undefined ? wordsFor(command, typed) : valuesOf(pending, typed));
    return [...new Set(found)].filter((one) => one.startsWith(word)).toSorted();
  } catch {
    return [];
  }
}

/** Follows the words into the commands. An option that waits for its value is what the next word is. */
function readLine(program: Command, words: readonly string[]) {
  let command = program;
  let pending: Option | undefined;
  const names: string[] = [];
  const positional: string[] = [];
  const options: Record<string, string> = {};
  for (const word of words) {
    if (pending !== undefined) {
      options[pending.attributeName()] = word;
      pending = undefined;
    } else if (word.startsWith("-")) {
      const [name, value] = word.split("=");
      const option = command.options.find(({ short, long }) => short === name || long === name);
      if (option === undefined || !(option.required || option.optional)) continue;
      if (value === undefined) pending = option;
      else options[option.attributeName()] = value;
    } else {
      const next = command.commands.find((one) => one.name() === word);
      if (next === undefined) positional.push(word);
      else {
        command = next;
        names.push(word);
      }
    }
  }
  return { command, names, positional, options, pending };
}

function wordsFor(command: Command, typed: Typed): readonly string[] | Promise<readonly string[]> {
  if (typed.word.startsWith("-")) return [...command.options.flatMap(({ long }) => long ?? []), "--help"];
  if (command.commands.length > 0)
    return command.commands.map((one) => one.name()).filter((name) => !name.startsWith("__"));
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const argument = all[typed.positional.length] ?? (last?.variadic === true ? last : undefined);
  if (argument === undefined) return [];
  const source = sources[`${typed.words} ${argument.name()}`] ?? sources[argument.name()];
  return source === undefined ? [] : source(typed);
}

function valuesOf(option: Option, typed: Typed): readonly string[] | Promise<readonly string[]> {
  const name = option.attributeName();
  const source = sources[`${typed.words} --${name}`] ?? sources[`--${name}`];
  return source === undefined ? [] : source(typed);
}

const ids = (path: string) => fromList(path, "id");
const named = (path: string) => fromList(path, "name");
const modes: Source = () => ["observe", "propose", "enforce"];
const scopes: Source = () => ["platform", "organization", "project", "workspace"];
const tokenTypes: Source = () => ["personal", "service", "workspace", "enrolment", "assistant"];
const kindWords: Source = async ({ client }) => (await knownKinds(client)).map(({ kind }) => kind.toLowerCase());
const organizations: Source = async ({ client }) => await itemsAt(client, "/v1/organizations", "name");
const projects: Source = ({ world, client, options }) =>
  itemsAt(client, `${organizationPath(world, options)}/projects`, "name");
const workspaces: Source = ({ world, client, options }) =>
  itemsAt(client, `${projectPath(world, options)}/workspaces`, "name");
const members = fromList("/members", "email");
const roles = named("/roles");
const people: Source = ({ client }) => itemsAt(client, "/v1/people", "email");
const contexts: Source = ({ world }) => Object.keys(readContexts(world).contexts);

/** By argument or option, where needed behind the words of the command. */
const sources: Readonly<Record<string, Source>> = {
  "kind/name": (typed) => targets(typed, "/"),
  kind: (typed) => targets(typed, ""),
  "get name": namesOfKind,
  "kind[.path]": kindWords,
  "scope|kind/name": async (typed) => [...(await scopes(typed)), ...(await targets(typed, "/"))],
  scope: scopes,
  mode: modes,
  shell: () => ["bash", "zsh", "fish"],
  items: seen,
  method: () => ["GET", "POST", "PUT", "PATCH", "DELETE"],
  action: () => ["read", "create", "update", "delete", "execute"],
  "kind or key": async (typed) => [
    ...(await targets(typed, "")),
    ...(await itemsAt(typed.client, "/v1/permissions", "key")),
  ],
  what: () => ["list", "organization"],
  "create what": () => ["organization", "project", "workspace"],
  "e-mail": members,
  email: people,
  role: roles,
  "people role role": () => ["none", "operator", "administrator"],
  "held show id": ids("/held-changes"),
  "approve id": ids("/held-changes"),
  "reject id": ids("/held-changes"),
  "withdraw id": ids("/held-changes"),
  "resume id": ids("/pauses"),
  ...Object.fromEntries(
    ["show", "approve", "reject", "withdraw"].map((verb) => [`plans ${verb} id`, ids("/proposals?state=open")]),
  ),
  "plans apply id": ids("/proposals?state=approved"),
  ...Object.fromEntries(
    ["show", "enable", "disable", "rotate", "delete", "test", "deliveries", "replay"].map((verb) => [
      `webhook ${verb} id`,
      ids("/webhooks"),
    ]),
  ),
  "webhook replay delivery": ({ world, client, options, positional: [id = ""] }) =>
    itemsAt(client, `${organizationPath(world, options)}/webhooks/${encodeURIComponent(id)}/deliveries`, "id"),
  "invite revoke id": ids("/invites"),
  "auth revoke id": ({ client }) => itemsAt(client, "/v1/sessions", "id"),
  "token revoke id": ({ world, client, options }) =>
    itemsAt(
      client,
      options["type"] === undefined || options["type"] === "personal"
        ? "/v1/me/tokens"
        : `${organizationPath(world, options)}/tokens`,
      "id",
    ),
  ...Object.fromEntries(
    ["get", "delete", "submit", "verify", "block", "queue", "deactivate", "activate"].map((verb) => [
      `org ${verb} name`,
      organizations,
    ]),
  ),
  "project delete name": projects,
  "workspace delete name": workspaces,
  ...Object.fromEntries(["get", "update", "delete"].map((verb) => [`role ${verb} name`, roles])),
  "context use name": contexts,
  "context set name": contexts,
  "context delete name": contexts,
  "secret set name": named("/secrets"),
  "secret remove name": named("/secrets"),
  account: named("/accounts"),
  "--organization": organizations,
  "--project": projects,
  "--workspace": workspaces,
  "--output": () => formats,
  "--kind": kindWords,
  "--level": () => ["deletes", "writes", "all"],
  "--mode": modes,
  "--role": roles,
  "people add --role": () => ["none", "operator", "administrator"],
  "--as": members,
  "--person": people,
  "wait --for": () => ["Ready", "Synced", "Deleted"],
  "held list --state": () => ["open", "approved", "rejected", "withdrawn", "any"],
  "plans list --state": () => ["open", "approved", "rejected", "applied", "withdrawn", "all"],
  ...Object.fromEntries(["create", "list", "revoke"].map((verb) => [`token ${verb} --type`, tokenTypes])),
  "audit export --format": () => ["ndjson", "csv"],
};

const listSchema = z.object({ items: z.array(z.record(z.string(), z.unknown())) });

async function itemsAt(client: ApiClient, path: string, field: string): Promise<readonly string[]> {
  const { items } = listSchema.parse(await client.get(path));
  return items.flatMap((item) => (typeof item[field] === "string" ? [item[field]] : []));
}

function fromList(path: string, field: string): Source {
  return ({ world, client, options }) => itemsAt(client, organizationPath(world, options) + path, field);
}

/** KIND, or KIND/NAME once a kind is there. */
async function targets(typed: Typed, behind: string): Promise<readonly string[]> {
  const [word = "", rest] = typed.word.split("/");
  const kinds = await knownKinds(typed.client);
  const kind = rest === undefined ? undefined : kindOf(kinds, word);
  if (kind === undefined) return kinds.map((one) => `${one.kind.toLowerCase()}${behind}`);
  return (await resourceNames(typed, kind)).map((name) => `${word}/${name}`);
}

async function namesOfKind(typed: Typed): Promise<readonly string[]> {
  const kind = kindOf(await knownKinds(typed.client), typed.positional[0] ?? "");
  return kind === undefined ? [] : await resourceNames(typed, kind);
}

function kindOf(kinds: readonly KnownKind[], word: string): KnownKind | undefined {
  return kinds.find(({ kind, plural }) => kind.toLowerCase() === word.toLowerCase() || plural === word.toLowerCase());
}

async function resourceNames({ world, client, options }: Typed, { plural }: KnownKind): Promise<readonly string[]> {
  const items = await listAll(client, `${scopePath(world, options)}/${plural}`, undefined);
  return items.map(({ metadata }) => metadata.name);
}

/** Items with their spaces as slashes, so that they are one word in every shell. */
async function seen(typed: Typed): Promise<readonly string[]> {
  const [word = "", name = ""] = (typed.positional[0] ?? "").split("/");
  const kind = kindOf(await knownKinds(typed.client), word);
  if (kind === undefined || name === "") return [];
  const path = `${scopePath(typed.world, typed.options)}/${kind.plural}/${encodeURIComponent(name)}`;
  return (await seenItems(typed.client, { path, kind, name })).map(({ key }) => key.replaceAll(" ", "/"));
}
