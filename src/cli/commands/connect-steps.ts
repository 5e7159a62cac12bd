import { accountListSchema } from "../../control-api/schemas/organization.ts";
import type { SeenItemDocument } from "../../control-api/schemas/resource.ts";
import { adoptionOf, declareSeen, tellAdoption } from "../adoption.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { safeText, table } from "../output.ts";
import { organizationPath, type ScopeOptions } from "../scope-path.ts";
import { pickItems, type Target, targetText, undeclared } from "../seen-items.ts";
import type { CliWorld } from "../world.ts";
import { setResourceMode } from "./administer.ts";
import { everything } from "./adopt.ts";
import { fromFile, trimmed } from "./secret.ts";

export interface ConnectOptions extends ScopeOptions {
  readonly name: string;
  readonly mode: string;
  readonly timeout: string;
}

/** What differs from provider to provider: how the server is named, and what its credential is called. */
export interface Server {
  readonly provider: string;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly secret: { readonly what: string; readonly flag: string; readonly file: string | undefined };
  /** The command without its zones, to be repeated. */
  readonly command: string;
}

/** Nothing acts before somebody has seen what it would do. */
export function requireBeginning(mode: string): "observe" | "propose" {
  if (mode === "observe" || mode === "propose") return mode;
  throw usageError(
    `"${mode}" is no mode to begin with: write observe or propose, and let it act once you have seen what it would do`,
  );
}

/** An account of this name at this server is used again, so that the command can be repeated after a mistake. */
export async function requireAccount(
  world: CliWorld,
  client: ApiClient,
  options: ConnectOptions,
  { provider, settings, secret }: Server,
): Promise<void> {
  const path = `${organizationPath(world, options)}/accounts`;
  const { items } = accountListSchema.parse(await client.get(path));
  const known = items.find(({ name }) => name === options.name);
  if (known === undefined) {
    const credential = { write: await askSecret(world, secret) };
    const body = { name: options.name, provider, settings, credential };
    await client.send("POST", path, { body });
    return world.writeData(`account/${options.name} added\n`);
  }
  const same = Object.entries(settings).every(([setting, value]) => known.settings[setting] === value);
  if (known.provider !== provider || !same)
    throw new CliError(
      `There is already an account "${options.name}", and it is another one (${known.provider}, ${safeText(JSON.stringify(known.settings))}). Choose another --name`,
      exitCodes.conflict,
    );
  if (secret.file === undefined) return world.writeData(`account/${options.name} is there already\n`);
  const write = await askSecret(world, secret);
  await client.send("PUT", `${path}/${encodeURIComponent(options.name)}/credential`, { body: { write } });
  world.writeData(`account/${options.name} has a new credential\n`);
}

/** Never from an argument: every other user of the machine could read it there. */
async function askSecret(world: CliWorld, { what, flag, file }: Server["secret"]): Promise<string> {
  if (file === "-") return trimmed(await world.readStdin(), "the standard input");
  if (file !== undefined) return fromFile(file);
  if (!world.interactive)
    throw usageError(`the ${what} is asked for on a terminal only: give it with ${flag} FILE, or - for stdin`);
  return trimmed(await world.askHidden(`${what}: `), "what was typed");
}

/** Shows what is there, and on a terminal asks what to adopt. Answers with what was declared. */
export async function offer(
  world: CliWorld,
  client: ApiClient,
  { target, items }: { readonly target: Target; readonly items: readonly SeenItemDocument[] },
  options: ConnectOptions,
): Promise<readonly SeenItemDocument[]> {
  const strangers = undeclared(items);
  world.writeNote(`${targetText(target)}: ${items.length} there, ${items.length - strangers.length} declared here\n`);
  if (strangers.length === 0) return [];
  const rows = strangers.map(({ key, manifest, problem }) => [
    key,
    manifest === undefined ? `no: ${problem ?? "no resource of its own can declare it"}` : manifest.metadata.name,
  ]);
  world.writeData(table(world, ["ITEM", "WOULD BE ADOPTED AS"], rows));
  if (!world.interactive) {
    world.writeNote(`Adopt them: setpoint adopt ${targetText(target)} --all\n`);
    return [];
  }
  const answer = (await world.ask("Adopt which? all, none, or items with commas between them: ")).trim();
  if (answer === "" || /^none$/i.test(answer)) return [];
  const names = answer.split(",").map((name) => name.trim());
  const chosen = /^all$/i.test(answer) ? everything(world, items) : pickItems(target, items, names);
  await declareSeen(world, client, chosen, options);
  return chosen;
}

/** Observing until somebody says otherwise; taking over is then still for a person to approve. */
export async function goOn(
  world: CliWorld,
  client: ApiClient,
  step: { readonly target: Target; readonly chosen: readonly SeenItemDocument[]; readonly timeoutMs: number },
  options: ConnectOptions,
): Promise<void> {
  const { target, chosen, timeoutMs } = step;
  const name = targetText(target);
  world.writeNote(`See what it would do: setpoint plan ${name}\n`);
  const answer = world.interactive ? await world.ask(`Let ${name} act now, within the guards? [y/N] `) : "";
  if (!/^y(es)?$/i.test(answer.trim()))
    return world.writeNote(`Let it act when you are ready: setpoint mode ${name} enforce\n`);
  await setResourceMode(world, client, name, "enforce", options);
  world.writeData(`${target.kind.kind}/${target.name} is in mode enforce\n`);
  if (chosen.length === 0) return;
  tellAdoption(world, target, await adoptionOf(world, client, target, { chosen, timeoutMs, scope: options }));
}
