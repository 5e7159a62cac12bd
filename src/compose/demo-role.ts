import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Config } from "../config.ts";
import { createHttpClient } from "../runtime/http-client.ts";
import { powerDnsStateSchema, SimulatedPowerDns } from "../world/powerdns/simulated-powerdns.ts";
import { controlApi } from "./demo/control-api.ts";
import { demoPortOf } from "./demo/demo-port.ts";
import { type DemoWorld, type Outside, scenarios, troubleMs } from "./demo/scenarios.ts";
import { fillOutside, seedDemo } from "./demo/seed.ts";
import { listenAddress, portError } from "./port-error.ts";
import { type RoleHost, type RunningRole, runRoleProcess } from "./role-process.ts";
import { readToken } from "./token-file.ts";
import type { World } from "./world.ts";

export function runDemo(config: Config & { readonly databaseUrl: string }, world: World): Promise<number> {
  return runRoleProcess("demo", { config, world, start: (host) => start(config, world, host) });
}

/** The demo: a simulated DNS provider, an organization that uses it, and somebody who breaks things on request. */
async function start(config: Config, { clock }: World, { log }: RoleHost): Promise<RunningRole> {
  const folder = join(config.dataDirectory, "demo");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "dns.json");
  const dns = new SimulatedPowerDns(loadState(file));
  if (!existsSync(file)) fillOutside(dns);
  const outside: Outside = { dns, trouble: "none" };
  const http = createHttpClient();
  const url = `http://${listenAddress}:${config.port}`;
  const world: DemoWorld = {
    outside,
    api: controlApi(http, url, config.operatorToken ?? readToken(config.dataDirectory)),
    killWorker: () => process.send?.({ type: "kill", role: "worker" }),
  };
  const stopping = new AbortController();
  let troubles = 0;
  // Each trouble lasts its own time: one that began later is not ended by the timer of one before.
  const endTrouble = async () => {
    troubles += 1;
    const mine = troubles;
    await clock.wait(troubleMs, stopping.signal);
    if (mine === troubles) outside.trouble = "none";
  };
  const run = async (id: string) => {
    const before = outside.trouble;
    await scenarios.find((scenario) => scenario.id === id)?.run(world);
    if (outside.trouble !== before) void endTrouble();
    saveState(file, dns);
  };
  const server = createServer((request, response) => {
    serve({ outside, run, saved: () => saveState(file, dns) }, request, response).catch(() => response.destroy());
  });
  const port = demoPortOf(config);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(portError(error, port)));
    server.listen(port, listenAddress, resolve);
  });
  void seed(world, `http://${listenAddress}:${port}`, stopping.signal, { clock, log });
  return {
    detail: `simulated DNS at http://${listenAddress}:${port}`,
    metrics: async () => "",
    stop: async () => {
      stopping.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The API starts at the same time: it is asked again until it answers. */
async function seed(
  { api }: DemoWorld,
  url: string,
  stopping: AbortSignal,
  { clock, log }: Pick<World, "clock"> & Pick<RoleHost, "log">,
): Promise<void> {
  for (let tries = 0; tries < 120 && !stopping.aborted; tries++) {
    if ((await api.send("GET", "/v1/me")).status === 200) {
      for (const problem of await seedDemo(api, url)) log.warn("demo.not-declared", { problem });
      return;
    }
    await clock.wait(250, stopping);
  }
}

interface Served {
  readonly outside: Outside;
  readonly run: (id: string) => Promise<void>;
  readonly saved: () => void;
}

async function serve(
  { outside, run, saved }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://demo");
  const scenario = /^\/_demo\/scenarios\/([a-z-]+)$/.exec(pathname)?.[1];
  if (scenario !== undefined && request.method === "POST") {
    await run(scenario);
    return answer(response, { status: 204 });
  }
  // Nothing is said, until whoever asked gives up.
  if (outside.trouble === "silent") return;
  if (outside.trouble === "failing")
    return answer(response, { status: 503, body: { error: "out of order, for the demo" } });
  const method = request.method ?? "GET";
  answer(response, outside.dns.handle(method, pathname, searchParams, body));
  if (method !== "GET") saved();
}

function answer(
  response: ServerResponse,
  { status, body }: { readonly status: number; readonly body?: unknown },
): void {
  if (body === undefined) response.writeHead(status).end();
  else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function loadState(file: string) {
  if (!existsSync(file)) return undefined;
  return powerDnsStateSchema.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
}

/** Written beside and put in place, so that nobody reads half of it. */
function saveState(file: string, dns: SimulatedPowerDns): void {
  writeFileSync(`${file}.new`, JSON.stringify(dns.state));
  renameSync(`${file}.new`, file);
}
