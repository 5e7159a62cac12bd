import type { Command } from "commander";
import { accountListSchema } from "../../control-api/schemas/organization.ts";
import type { SeenItemDocument } from "../../control-api/schemas/resource.ts";
import { adoptionOf, declareSeen, tellAdoption } from "../adoption.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { safeText, table } from "../output.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import { pickItems, type Target, targetText, undeclared } from "../seen-items.ts";
import type { CliWorld } from "../world.ts";
import { setResourceMode } from "./administer.ts";
import { everything } from "./adopt.ts";
import { declareZone, firstLook, resourceNameOf } from "./declared-zone.ts";
import { fromFile, trimmed } from "./secret.ts";

interface ConnectOptions extends ScopeOptions {
  readonly name: string;
  readonly zone?: readonly string[];
  readonly mode: string;
  readonly timeout: string;
}

interface PowerDnsOptions extends ConnectOptions {
  readonly url: string;
  readonly server: string;
  readonly apiKeyFile?: string;
}

interface Rfc2136Options extends ConnectOptions {
  readonly server: string;
  readonly port: string;
  readonly keyName: string;
  readonly algorithm: string;
  readonly secretFile?: string;
}

/** What differs from provider to provider: how the server is named, and what its credential is called. */
interface Server {
  readonly provider: string;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly secret: { readonly what: string; readonly flag: string; readonly file: string | undefined };
  /** The command without its zones, to be repeated. */
  readonly command: string;
}

/** connect: from a credential to records that are kept, one step at a time. */
export function registerConnect(program: Command, world: CliWorld, client: ApiClient): void {
  const connect = program.command("connect").description("begin with a provider: credential, look, adopt, enforce");
  withScope(connect.command("powerdns"))
    .description("connect a PowerDNS server: nothing is written there before you let a zone act")
    .option("--name <account>", "what the account is called here", "powerdns")
    .option("--url <url>", "where its HTTP API listens, without /api/v1", "http://127.0.0.1:8081")
    .option("--server <id>", "the server's id in its own API", "localhost")
    .option("--api-key-file <path>", "the file that holds the API key, or - for stdin; asked for on a terminal")
    .option(...zoneOption)
    .option(...modeOption)
    .option(...timeoutOption)
    .action(async (options: PowerDnsOptions) => {
      const { name, url, server, apiKeyFile: file } = options;
      await connectServer(world, client, options, {
        provider: "powerdns",
        settings: { url, server },
        secret: { what: "API key", flag: "--api-key-file", file },
        command: `setpoint connect powerdns --name ${name} --url ${url}`,
      });
    });
  withScope(connect.command("rfc2136"))
    .description(
      "connect a name server that takes signed updates, as BIND and Knot: nothing is written there before you let a zone act",
    )
    .option("--name <account>", "what the account is called here", "rfc2136")
    .option("--server <address>", "the primary name server, the one that takes updates", "127.0.0.1")
    .option("--port <number>", "its port", "53")
    .requiredOption("--key-name <name>", "the name of the TSIG key, as the server's configuration has it")
    .option("--algorithm <name>", "the algorithm of the key", "hmac-sha256")
    .option("--secret-file <path>", "the file that holds the secret in base64, or - for stdin; asked for on a terminal")
    .option(...zoneOption)
    .option(...modeOption)
    .option(...timeoutOption)
    .action(async (options: Rfc2136Options) => {
      const { name, server, port, keyName, algorithm, secretFile: file } = options;
      if (!/^\d{1,5}$/.test(port)) throw usageError(`"${port}" is no port: write a number from 1 to 65535`);
      await connectServer(world, client, options, {
        provider: "rfc2136",
        settings: { server, port: Number(port), keyName, algorithm },
        secret: { what: "secret of the key", flag: "--secret-file", file },
        command: `setpoint connect rfc2136 --name ${name} --server ${server} --port ${port} --key-name ${keyName}`,
      });
    });
}

const zoneOption = ["--zone <name...>", "zones to begin with; asked for on a terminal"] as const;
const modeOption = ["--mode <mode>", "observe or propose", "observe"] as const;
const timeoutOption = ["--timeout <duration>", "how long to wait for the first look at each zone", "60s"] as const;

async function connectServer(
  world: CliWorld,
  client: ApiClient,
  options: ConnectOptions,
  server: Server,
): Promise<void> {
  if (options.mode !== "observe" && options.mode !== "propose")
    throw usageError(
      `"${options.mode}" is no mode to begin with: write observe or propose, and let a zone act once you have seen what it would do`,
    );
  const timeoutMs = parseSeconds(options.timeout) * 1_000;
  (options.zone ?? []).forEach(resourceNameOf);
  await requireAccount(world, client, options, server);
  const zones = options.zone ?? (await askZones(world));
  if (zones.length === 0) return world.writeNote(`Name the zones to look at: ${server.command} --zone example.com\n`);
  const targets: Target[] = [];
  for (const zone of zones) targets.push(await declareZone(world, client, zone, options));
  for (const target of targets) {
    const items = await firstLook(world, client, target, timeoutMs);
    const chosen = await offer(world, client, { target, items }, options);
    await goOn(world, client, { target, chosen, timeoutMs }, options);
  }
}

/** An account of this name at this server is used again, so that the command can be repeated after a mistake. */
async function requireAccount(
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

async function askZones(world: CliWorld): Promise<readonly string[]> {
  if (!world.interactive) return [];
  const zones = (await world.ask("Zones to look at, with spaces between them: ")).split(/[\s,]+/).filter(Boolean);
  zones.forEach(resourceNameOf);
  return zones;
}

/** Shows what is there, and on a terminal asks what to adopt. Answers with what was declared. */
async function offer(
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
async function goOn(
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
  world.writeData(`DnsZone/${target.name} is in mode enforce\n`);
  if (chosen.length === 0) return;
  tellAdoption(world, target, await adoptionOf(world, client, target, { chosen, timeoutMs, scope: options }));
}
