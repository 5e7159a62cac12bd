import { spawn, spawnSync } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { freeDnsPort, printedBy, stopServer, untilAnswers } from "./dns-process.ts";

const schemaFile = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql";

export interface RrSet {
  readonly name: string;
  readonly type: string;
  readonly ttl?: number;
  readonly records?: readonly { readonly content: string; readonly disabled: boolean }[];
  readonly changetype?: "REPLACE" | "DELETE";
}

/** A real PowerDNS of its own, with an SQLite database that goes away with it. */
export interface PowerDns extends AsyncDisposable {
  readonly apiUrl: string;
  readonly apiKey: string;
  /** A file that holds the API key, for `--credential file:…`. */
  readonly keyFile: string;
  /** Asks the server itself, by DNS. */
  readonly resolver: Resolver;
  /** The server's own API, as somebody beside Setpoint would use it. */
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  createZone(name: string): Promise<void>;
  change(zone: string, rrsets: readonly RrSet[]): Promise<void>;
  recordSets(zone: string): Promise<readonly RrSet[]>;
}

export async function startPowerDns(program: string): Promise<PowerDns> {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "setpoint-powerdns-"));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const [dnsPort, apiPort] = [await freeDnsPort(), await freePort()];
  const apiKey = "key-of-the-test";
  makeDatabase(join(folder, "zones.sqlite3"));
  writeFileSync(join(folder, "pdns.conf"), settings(folder, { dnsPort, apiPort, apiKey }));
  writeFileSync(join(folder, "api.key"), apiKey, { mode: 0o600 });
  const server = spawn(program, [`--config-dir=${folder}`, "--daemon=no", "--guardian=no", "--write-pid=no"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = printedBy(server);
  undo.defer(() => stopServer(server));
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const call = (method: string, path: string, body?: unknown) => callApi(apiUrl, apiKey, method, path, body);
  await untilAnswers(server, "PowerDNS", async () => (await call("GET", "")).status === 200, printed);
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${dnsPort}`]);
  const owned = undo.move();
  return {
    apiUrl,
    apiKey,
    keyFile: join(folder, "api.key"),
    resolver,
    call,
    createZone: async (name) => {
      await expectStatus(201, call("POST", "/zones", { name, kind: "Native", nameservers: [`ns1.${name}`] }));
    },
    change: async (zone, rrsets) => {
      await expectStatus(204, call("PATCH", `/zones/${zone}`, { rrsets }));
    },
    recordSets: async (zone) => {
      const { body } = await call("GET", `/zones/${zone}`);
      return (body as { rrsets: RrSet[] }).rrsets;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function makeDatabase(file: string): void {
  const { status, stderr } = spawnSync("sqlite3", [file], { input: readFileSync(schemaFile), encoding: "utf8" });
  if (status !== 0) throw new Error(`sqlite3 could not make the database of PowerDNS: ${stderr}`);
}

/** Without caches, so that a change is seen by the next query. */
function settings(
  folder: string,
  about: { readonly dnsPort: number; readonly apiPort: number; readonly apiKey: string },
): string {
  return [
    "launch=gsqlite3",
    `gsqlite3-database=${join(folder, "zones.sqlite3")}`,
    "gsqlite3-dnssec=yes",
    // The file goes away with the server: nothing has to reach a disk.
    "gsqlite3-pragma-synchronous=0",
    "local-address=127.0.0.1",
    `local-port=${about.dnsPort}`,
    `socket-dir=${folder}`,
    "api=yes",
    `api-key=${about.apiKey}`,
    "webserver-address=127.0.0.1",
    `webserver-port=${about.apiPort}`,
    "webserver-allow-from=127.0.0.1",
    "setuid=",
    "setgid=",
    "cache-ttl=0",
    "query-cache-ttl=0",
    "negquery-cache-ttl=0",
    "zone-cache-refresh-interval=0",
    "default-soa-content=ns1.@ hostmaster.@ 0 10800 3600 604800 300",
    "",
  ].join("\n");
}

async function callApi(apiUrl: string, apiKey: string, method: string, path: string, body: unknown) {
  const answer = await fetch(`${apiUrl}/api/v1/servers/localhost${path}`, {
    method,
    headers: { "x-api-key": apiKey },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    body: text.startsWith("{") || text.startsWith("[") ? (JSON.parse(text) as unknown) : text,
  };
}

async function expectStatus(
  expected: number,
  calling: Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<void> {
  const { status, body } = await calling;
  if (status !== expected) throw new Error(`PowerDNS answered ${status}, not ${expected}: ${JSON.stringify(body)}`);
}
