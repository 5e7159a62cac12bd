import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Config } from "../config.ts";
import { thrownMessage } from "../kernel/errors.ts";
import { createHttpClient } from "../runtime/http-client.ts";
import { serveFrom } from "../world/http-server.ts";
import { controlApi } from "./demo/control-api.ts";
import { demoPortOf, keepDemoPort } from "./demo/demo-port.ts";
import { startNameServers } from "./demo/name-servers.ts";
import { Outside } from "./demo/outside.ts";
import { type DemoWorld, troubleSeconds } from "./demo/scenario.ts";
import { scenarios } from "./demo/scenarios.ts";
import { type Seeding, seedDemo } from "./demo/seed.ts";
import { SeededChapters } from "./demo/seeded-chapters.ts";
import { listenAddress, portError } from "./port-error.ts";
import { type RoleHost, type RunningRole, runRoleProcess } from "./role-process.ts";
import { StartError } from "./start-error.ts";
import { readToken } from "./token-file.ts";
import type { World } from "./world.ts";

export function runDemo(config: Config & { readonly databaseUrl: string }, world: World): Promise<number> {
  return runRoleProcess("demo", { config, world, start: (host) => start(config, world, host) });
}

/** The demo: simulated providers, an organization that uses them, and somebody who breaks things on request. */
async function start(config: Config, { clock }: World, { log }: RoleHost): Promise<RunningRole> {
  const folder = join(config.dataDirectory, "demo");
  const outside = new Outside(folder, clock);
  const world: DemoWorld = {
    outside,
    clock,
    api: controlApi(
      createHttpClient(),
      `http://${listenAddress}:${config.port}`,
      config.operatorToken ?? readToken(config.dataDirectory),
    ),
    killWorker: () => process.send?.({ type: "kill", role: "worker" }),
  };
  const stopping = new AbortController();
  const run = breaking(world, stopping.signal);
  const server = createServer((request, response) => {
    serve({ world, run, stopping: stopping.signal }, request, response).catch(() => response.destroy());
  });
  const port = demoPortOf(config);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(takenError(error, port)));
    server.listen(port, listenAddress, resolve);
  });
  keepDemoPort(config, port);
  const zones = () => outside.dns.state.zones;
  const nameServers = await startNameServers({ zones, port: port + 1, clock, stopping: stopping.signal });
  if (nameServers.length === 0) log.warn("demo.no-name-servers", { ports: [port + 1, port + 2] });
  const outsideUrl = `http://${listenAddress}:${port}`;
  const seeding = { api: world.api, clock, outsideUrl, nameServers, chapters: new SeededChapters(folder) };
  void seed(seeding, stopping.signal, log);
  return {
    detail: `simulated DNS and clouds at http://${listenAddress}:${port}`,
    metrics: async () => "",
    stop: async () => {
      stopping.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      outside.save("clouds");
    },
  };
}

/** The accounts of the demo name this port, so that no other one will do. */
function takenError(thrown: NodeJS.ErrnoException, port: number): Error {
  if (thrown.code !== "EADDRINUSE") return portError(thrown, port);
  return new StartError(
    `The simulated clouds of the demo listen on port ${port} of ${listenAddress}, which another program uses. Stop that one, start without the demo (npm start -- --empty), or begin anew (npm start -- --reset).`,
    { cause: thrown },
  );
}

/** Runs a scenario; trouble of the DNS server that it made ends by itself. */
function breaking(world: DemoWorld, stopping: AbortSignal): (id: string) => Promise<void> {
  const { outside, clock } = world;
  let troubles = 0;
  // Each trouble lasts its own time: one that began later is not ended by the timer of one before.
  const endTrouble = async () => {
    troubles += 1;
    const mine = troubles;
    await clock.wait(troubleSeconds * 1_000, stopping);
    if (mine === troubles) outside.trouble = "none";
  };
  return async (id) => {
    const before = outside.trouble;
    await scenarios.find((scenario) => scenario.id === id)?.run(world);
    if (outside.trouble !== before) void endTrouble();
    outside.save("dns");
    outside.save("clouds");
  };
}

/** The API starts at the same time: it is asked again until it answers. */
async function seed(seeding: Seeding, stopping: AbortSignal, log: RoleHost["log"]): Promise<void> {
  const { api, clock } = seeding;
  for (let tries = 0; tries < 120 && !stopping.aborted; tries++) {
    if ((await api.send("GET", "/v1/me")).status === 200) {
      for (const problem of await seedDemo(seeding)) log.warn("demo.not-declared", { problem });
      return;
    }
    await clock.wait(250, stopping);
  }
}

interface Served {
  readonly world: DemoWorld;
  readonly run: (id: string) => Promise<void>;
  readonly stopping: AbortSignal;
}

async function serve(
  { world, run, stopping }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { outside, clock } = world;
  const { method = "GET", url = "/" } = request;
  const { pathname, searchParams } = new URL(url, "http://demo");
  // No page in a browser has business here: whatever it asks carries its origin.
  if (request.headers.origin !== undefined) return answer(response, { status: 403 });
  const scenario = /^\/_demo\/scenarios\/([a-z-]+)$/.exec(pathname)?.[1];
  if (scenario !== undefined && method === "POST") return answer(response, await outcomeOf(run(scenario)));
  if (/^\/(v1|cloudapi|_world)(\/|$)/.test(pathname)) {
    if (/^\/v1\/servers\/[0-9]+\/metrics$/.test(pathname)) outside.spreadTraffic();
    await serveFrom(outside.clouds, { clock, stopping }, request, response);
    if (method !== "GET") outside.save("clouds");
    return;
  }
  const body = await text(request);
  // Nothing is said, until whoever asked gives up.
  if (outside.trouble === "silent") return;
  if (outside.trouble === "failing") return answer(response, { status: 503, body: { error: "broken on purpose" } });
  answer(response, outside.dns.handle(method, pathname, searchParams, body));
  if (method !== "GET") outside.save("dns");
}

/** What cannot be broken says why, in words for whoever tried. */
async function outcomeOf(running: Promise<void>): Promise<Answer> {
  try {
    await running;
    return { status: 204 };
  } catch (thrown) {
    return { status: 409, body: thrownMessage(thrown) };
  }
}

interface Answer {
  readonly status: number;
  /** Text is sent as it stands. */
  readonly body?: unknown;
}

function answer(response: ServerResponse, { status, body }: Answer): void {
  if (body === undefined) response.writeHead(status).end();
  else if (typeof body === "string") response.writeHead(status, { "content-type": "text/plain" }).end(body);
  else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
