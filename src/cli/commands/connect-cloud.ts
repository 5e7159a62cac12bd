import type { Command } from "commander";
import { resourceNameSchema } from "../../kinds/naming/resource-name-schema.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds } from "../duration.ts";
import { organizationPath, withScope } from "../scope-path.ts";
import { targetText } from "../seen-items.ts";
import type { CliWorld } from "../world.ts";
import { type ConnectOptions, offer, requireAccount, requireBeginning } from "./connect-steps.ts";
import { targetPath } from "./declare.ts";
import { beginZones } from "./connect-zones.ts";
import { firstLook, resourceNameOf } from "./declared-zone.ts";

interface CloudOptions extends ConnectOptions {
  readonly zone?: readonly string[];
  readonly url: string;
  readonly tokenFile?: string;
}

const clouds = [
  {
    word: "hetzner",
    family: "hetzner-cloud",
    title: "a project of Hetzner Cloud",
    url: "https://api.hetzner.cloud/v1",
    zones: true,
  },
  {
    word: "ionos",
    family: "ionos",
    title: "a contract of IONOS",
    url: "https://api.ionos.com/cloudapi/v6",
    zones: false,
  },
] as const;

/** connect hetzner, connect ionos: from a token to servers that are kept. */
export function registerConnectCloud(connect: Command, world: CliWorld, client: ApiClient): void {
  for (const cloud of clouds) {
    const command = withScope(connect.command(cloud.word))
      .description(`connect ${cloud.title}: nothing is written there before you let something act`)
      .option("--name <account>", "what the account is called here", cloud.word)
      .option("--url <url>", "where its API listens, with its version", cloud.url)
      .option("--token-file <path>", "the file that holds the token, or - for stdin; asked for on a terminal")
      .option("--mode <mode>", "observe or propose", "observe")
      .option("--timeout <duration>", "how long to wait for the first look", "60s")
      .action(async (options: CloudOptions) => connectCloud(world, client, options, cloud));
    if (cloud.zones) command.option("--zone <name...>", "zones of the project to begin with");
  }
}

async function connectCloud(
  world: CliWorld,
  client: ApiClient,
  options: CloudOptions,
  { word, family }: (typeof clouds)[number],
): Promise<void> {
  const mode = requireBeginning(options.mode);
  const { name, url, tokenFile: file } = options;
  if (!resourceNameSchema.safeParse(name).success)
    throw usageError(`"${name}" cannot be the name of an account: use lower-case letters, digits and hyphens`);
  const timeoutMs = parseSeconds(options.timeout) * 1_000;
  const secret = { what: "API token", flag: "--token-file", file };
  (options.zone ?? []).forEach(resourceNameOf);
  const command = `setpoint connect ${word} --name ${name} --url ${url}`;
  await requireAccount(world, client, options, { provider: family, settings: { url }, secret, command });
  await declareProvider(world, client, options, family);
  const target = await targetPath(world, client, `computeprovider/${name}`, {});
  const items = await firstLook(world, client, target, timeoutMs);
  const inMode = items.map((item) =>
    item.manifest === undefined
      ? item
      : { ...item, manifest: { ...item.manifest, metadata: { ...item.manifest.metadata, mode } } },
  );
  const chosen = await offer(world, client, { target, items: inMode }, options);
  // Each server is taken over by itself, when its own Host is let act.
  for (const { manifest } of chosen)
    if (manifest !== undefined)
      world.writeNote(`Let it act when you are ready: setpoint mode host/${manifest.metadata.name} enforce\n`);
  world.writeNote(`Claim the account when you are ready: setpoint mode ${targetText(target)} enforce\n`);
  if (options.zone !== undefined) await beginZones(world, client, options.zone, options);
}

async function declareProvider(
  world: CliWorld,
  client: ApiClient,
  options: CloudOptions,
  family: string,
): Promise<void> {
  const { name, mode } = options;
  const metadata = { name, mode };
  const body = { apiVersion: "setpoint/v1", kind: "ComputeProvider", metadata, spec: { account: name, family } };
  try {
    await client.send("POST", `${organizationPath(world, options)}/computeproviders?fieldManager=cli`, { body });
    world.writeData(`ComputeProvider/${name} declared in mode ${mode}\n`);
  } catch (thrown) {
    // One that is declared already stays as it is: its mode may be somebody's decision.
    if (!(thrown instanceof CliError) || thrown.problem?.code !== "ALREADY_EXISTS") throw thrown;
    world.writeData(`ComputeProvider/${name} is declared already\n`);
  }
}
