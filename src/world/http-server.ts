import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Clock } from "../ports/clock.ts";
import type { WorldAnswer, WorldRequest } from "./exchange.ts";
import type { World } from "./world.ts";

/** Nothing outside this machine is to take the world for a cloud. */
const listenAddress = "127.0.0.1";

export interface WorldServer extends AsyncDisposable {
  readonly port: number;
  /** Such as http://127.0.0.1:7790, without a path. */
  readonly url: string;
}

/** Serves a world over HTTP, on this machine alone. Port 0: any that is free. */
export async function serveWorld(world: World, clock: Clock, port: number): Promise<WorldServer> {
  const stopping = new AbortController();
  const server = createServer((request, response) => {
    void serveFrom(world, { clock, stopping: stopping.signal }, request, response);
  });
  // Clients of a cloud keep their connections; a world that hangs up first looks like one that fails.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, listenAddress, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    port: taken,
    url: `http://${listenAddress}:${taken}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        stopping.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Serving {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** Answers one request from a world, whoever listens. */
export async function serveFrom(
  world: World,
  serving: Serving,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await serve(world, serving, incoming, response).catch((thrown: unknown) => {
    const detail = `The world itself failed: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`;
    if (response.headersSent) response.destroy();
    else send(response, { status: 500, headers: {}, body: { status: 500, detail } });
  });
}

async function serve(
  world: World,
  { clock, stopping }: Serving,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(incoming);
  // A page in a browser must not reach the world by a name that it made point here.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(incoming.headers.host ?? "")) {
    const detail = "The world answers to 127.0.0.1 and localhost only.";
    return send(response, { status: 421, headers: {}, body: { status: 421, detail } });
  }
  const reaction = world.handle(requestOf(incoming, body));
  if (reaction.waitMs > 0) await clock.wait(reaction.waitMs, stopping);
  if (reaction.send === "cut") response.destroy();
  else if (reaction.send === "answer") send(response, reaction.answer);
  // Otherwise nothing is said, until the caller gives up or the world ends.
}

function requestOf(incoming: IncomingMessage, body: string): WorldRequest {
  const [path = "/", query = ""] = (incoming.url ?? "/").split(/\?(.*)/s, 2);
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
  return { method: incoming.method ?? "GET", path, query: new URLSearchParams(query), headers, body };
}

function send(response: ServerResponse, { status, headers, body }: WorldAnswer): void {
  if (body === undefined) {
    response.writeHead(status, { ...headers }).end();
    return;
  }
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  response.writeHead(status, { "Content-Type": type, "Content-Length": bytes.length, ...headers }).end(bytes);
}
