import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freeDnsPort, stopServer, untilAnswers } from "./dns-process.ts";

/** A real name server of its own that takes signed updates, with zones that go away with it. */
export interface NameServer extends AsyncDisposable {
  readonly product: "BIND" | "Knot";
  readonly port: number;
  readonly keyName: string;
  readonly secret: string;
  /** A file that holds the secret, for `--credential file:…`. */
  readonly keyFile: string;
  readonly resolver: Resolver;
  readonly pid: number;
  /** Changes by hand, as an administrator would make them: lines of nsupdate. */
  nsupdate(...lines: readonly string[]): void;
  /** What a transfer by somebody else's program shows: one line per record. */
  records(zone: string): readonly string[];
}

const secret = Buffer.from("a-secret-of-thirty-two-bytes-now").toString("base64");
const keyName = "setpoint-key";

export interface ZoneFile {
  readonly zone: string;
  /** Lines of a zone file beside SOA and NS. */
  readonly lines?: readonly string[];
}

export async function startNameServer(
  product: NameServer["product"],
  program: string,
  zones: readonly ZoneFile[],
): Promise<NameServer> {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), `setpoint-${product.toLowerCase()}-`));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freeDnsPort();
  for (const { zone, lines = [] } of zones) writeFileSync(fileOf(folder, zone), zoneText(zone, lines));
  mkdirSync(join(folder, "db"));
  const config = join(folder, "server.conf");
  writeFileSync(config, (product === "BIND" ? bindConfig : knotConfig)(folder, port, zones));
  writeFileSync(join(folder, "key"), `${secret}\n`, { mode: 0o600 });
  const args = product === "BIND" ? ["-g", "-c", config] : ["-c", config];
  // Into a file and not into a pipe: nobody reads that while a command is waited for, and a server that prints much would stand still.
  const log = openSync(join(folder, "log"), "a");
  const server: ChildProcess = spawn(program, args, { stdio: ["ignore", log, log] });
  closeSync(log);
  const printed = () => readFileSync(join(folder, "log"), "utf8");
  undo.defer(() => stopServer(server));
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const [first] = zones;
  const answers = async () => (await resolver.resolveSoa(first?.zone ?? "")).serial > 0;
  await untilAnswers(server, product, answers, printed);
  const owned = undo.move();
  const key = `hmac-sha256:${keyName}:${secret}`;
  return {
    product,
    port,
    keyName,
    secret,
    keyFile: join(folder, "key"),
    resolver,
    pid: server.pid ?? 0,
    nsupdate: (...lines) => {
      const input = [`server 127.0.0.1 ${port}`, ...lines, "send", ""].join("\n");
      const ran = spawnSync("nsupdate", ["-v", "-y", key], { input, encoding: "utf8" });
      if (ran.status !== 0) throw new Error(`nsupdate: ${ran.stdout}${ran.stderr}`);
    },
    records: (zone) => {
      const args = ["@127.0.0.1", "-p", String(port), "-y", key, "+onesoa", "+noall", "+answer", zone, "AXFR"];
      const ran = spawnSync("dig", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
      if (ran.status !== 0 || /failed/.test(ran.stdout)) throw new Error(`dig: ${ran.stdout}${ran.stderr}`);
      return ran.stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.replaceAll(/\s+/g, " ")]));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function fileOf(folder: string, zone: string): string {
  return join(folder, `${zone.replace(/\.$/, "")}.zone`);
}

export function zoneText(zone: string, lines: readonly string[]): string {
  const apex = `${zone.replace(/\.$/, "")}.`;
  return [
    `$ORIGIN ${apex}`,
    "$TTL 300",
    `@ 3600 IN SOA ns1.${apex} hostmaster.${apex} 1 10800 3600 604800 300`,
    `@ 3600 IN NS ns1.${apex}`,
    `ns1 3600 IN A 127.0.0.1`,
    ...lines,
    "",
  ].join("\n");
}

function bindConfig(folder: string, port: number, zones: readonly ZoneFile[]): string {
  const stanzas = zones.map(
    ({ zone }) =>
      `zone "${zone.replace(/\.$/, "")}" { type primary; file "${fileOf(folder, zone)}"; update-policy { grant ${keyName} zonesub ANY; }; };`,
  );
  return [
    `key "${keyName}" { algorithm hmac-sha256; secret "${secret}"; };`,
    "options {",
    `  directory "${folder}"; pid-file none; session-keyfile none;`,
    `  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };`,
    `  recursion no; dnssec-validation no; notify no; allow-transfer { key ${keyName}; }; max-records 0;`,
    "};",
    "controls { };",
    ...stanzas,
    "",
  ].join("\n");
}

function knotConfig(folder: string, port: number, zones: readonly ZoneFile[]): string {
  return [
    "server:",
    `  rundir: ${folder}`,
    `  listen: 127.0.0.1@${port}`,
    "log:",
    "  - target: stderr",
    "    any: warning",
    "control:",
    `  listen: ${join(folder, "knot.sock")}`,
    "database:",
    `  storage: ${join(folder, "db")}`,
    "key:",
    `  - id: ${keyName}`,
    "    algorithm: hmac-sha256",
    `    secret: ${secret}`,
    "acl:",
    "  - id: signed",
    `    key: ${keyName}`,
    "    action: [transfer, update]",
    "zone:",
    ...zones.flatMap(({ zone }) => [
      `  - domain: ${zone}`,
      `    file: ${fileOf(folder, zone)}`,
      "    acl: signed",
      "    zonefile-sync: -1",
      "    zonefile-load: difference",
      "    journal-content: changes",
    ]),
    "",
  ].join("\n");
}
