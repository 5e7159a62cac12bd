import type { Command } from "commander";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { parseSeconds } from "../duration.ts";
import { withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { registerConnectCloud } from "./connect-cloud.ts";
import { type ConnectOptions, requireAccount, requireBeginning, type Server } from "./connect-steps.ts";
import { beginZones } from "./connect-zones.ts";
import { resourceNameOf } from "./declared-zone.ts";

interface ZoneOptions extends ConnectOptions {
  readonly zone?: readonly string[];
}

interface PowerDnsOptions extends ZoneOptions {
  readonly url: string;
  readonly server: string;
  readonly apiKeyFile?: string;
}

interface Rfc2136Options extends ZoneOptions {
  readonly server: string;
  readonly port: string;
  readonly keyName: string;
  readonly algorithm: string;
  readonly secretFile?: string;
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
  registerConnectCloud(connect, world, client);
}

const zoneOption = ["--zone <name...>", "zones to begin with; asked for on a terminal"] as const;
const modeOption = ["--mode <mode>", "observe or propose", "observe"] as const;
const timeoutOption = ["--timeout <duration>", "how long to wait for the first look at each zone", "60s"] as const;

async function connectServer(world: CliWorld, client: ApiClient, options: ZoneOptions, server: Server): Promise<void> {
  requireBeginning(options.mode);
  parseSeconds(options.timeout);
  (options.zone ?? []).forEach(resourceNameOf);
  await requireAccount(world, client, options, server);
  const zones = options.zone ?? (await askZones(world));
  if (zones.length === 0) return world.writeNote(`Name the zones to look at: ${server.command} --zone example.com\n`);
  await beginZones(world, client, zones, options);
}

async function askZones(world: CliWorld): Promise<readonly string[]> {
  if (!world.interactive) return [];
  const zones = (await world.ask("Zones to look at, with spaces between them: ")).split(/[\s,]+/).filter(Boolean);
  zones.forEach(resourceNameOf);
  return zones;
}
