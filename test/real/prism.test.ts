import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Http } from "../../src/ports/http.ts";
import { createHttpClient } from "../../src/runtime/http-client.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { worldToken } from "../../src/world/account-book.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { type Between, walkHetznerClient, walkIonosClient } from "../support/client-walks.ts";
import { type Ask, HetznerWalk } from "../support/hetzner-walk.ts";
import { IonosWalk } from "../support/ionos-walk.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { requirePeer } from "./requirement.ts";

const read = (file: string) => readFileSync(new URL(`../specs/${file}`, import.meta.url));

interface About {
  readonly file: string;
  readonly basePath: string;
  readonly change: (text: string) => string;
}

const hetzner: About = {
  file: "hetzner-cloud.openapi.json.gz",
  basePath: "/v1",
  // OpenAPI writes a range of status codes in capitals, and Prism knows no other way.
  change: (text) => text.replaceAll('"4xx"', '"4XX"').replaceAll('"5xx"', '"5XX"'),
};
const ionos: About = { file: "ionos-cloud-v6.openapi.json.gz", basePath: "/cloudapi/v6", change: withDeviations };

/** Prism between a client and the world: it refuses what the specification does not allow, on both sides. */
async function startPrism(program: string, specification: string, upstream: string) {
  const port = await freePort();
  const words = [program, "proxy", "-h", "127.0.0.1", "-p", String(port), specification, upstream, "--errors"];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const ready = (async () => {
    for await (const line of createInterface({ input: child.stdout })) if (line.includes("listening")) return;
    throw new Error("Prism ended before it listened.");
  })();
  await ready;
  child.stdout.resume();
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly patch?: { readonly requestBody?: unknown } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Record<string, unknown>>> };
}

/** The specification of IONOS with the deviations that are listed in test/specs/deviations.ts. */
function withDeviations(text: string): string {
  const document = JSON.parse(text) as Document;
  const patched = JSON.stringify(Object.values(document.paths).map(({ patch }) => patch?.requestBody));
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const isElement = JSON.stringify(schema["required"]) === '["properties"]';
    if (isElement || patched.includes(`/${name}"`)) delete schema["required"];
    const properties = schema["properties"] as Record<string, Record<string, unknown>> | undefined;
    const type = properties?.["type"];
    if (type?.["allOf"] !== undefined) delete type["type"];
    if (name === "FirewallruleProperties")
      for (const field of ["sourceIp", "targetIp"]) delete properties?.[field]?.["pattern"];
  }
  return JSON.stringify(document).replaceAll(
    '"https://[apiBaseUri]/requests/[requestId]/status"',
    '"/requests/.+/status$"',
  );
}

/** Prism before a world that is served for it. */
async function prismBefore(world: World, program: string, about: About) {
  await using undo = new AsyncDisposableStack();
  const folder = undo.use(temporaryFolder());
  world.clouds.find(({ name }) => name === "ionos")?.configure("demo", { requestsPerMinute: 60_000 });
  const server = undo.use(await serveWorld(world, systemClock, 0));
  const file = join(folder.path, "specification.json");
  writeFileSync(file, about.change(gunzipSync(read(about.file)).toString("utf8")));
  const { url } = undo.use(await startPrism(program, file, `${server.url}${about.basePath}`));
  const open = undo.move();
  return { url, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** What Prism found wrong: it says so in a header where it lets an answer through, and with a problem where it does not. */
function complaintIn(headers: Readonly<Record<string, string | undefined>>, text: string): string | undefined {
  const isProblem = headers["content-type"]?.includes("problem") === true;
  return headers["sl-violations"] ?? (isProblem ? text : undefined);
}

/** HTTP as the product makes it, led through Prism. */
function leading(http: Http, prismUrl: string, basePath: string) {
  const complaints: string[] = [];
  const asked = new Set<string>();
  const led: Http = {
    request: async (request) => {
      const { pathname, search } = new URL(request.url);
      const path = pathname.slice(basePath.length);
      asked.add(`${request.method} ${path.replaceAll(/\/[0-9a-f-]*[0-9][0-9a-f-]*/g, "/ID")}`);
      const answer = await http.request({ ...request, url: `${prismUrl}${path}${search}` });
      const complaint = answer.answered ? complaintIn(answer.headers, answer.text) : answer.message;
      if (complaint !== undefined) complaints.push(`${request.method} ${path}: ${complaint}`);
      return answer;
    },
  };
  return { led, complaints, asked };
}

/** Our own client with Prism between it and the world. */
async function clientBehindPrism(
  program: string,
  about: About,
  walk: (between: Between) => Promise<void>,
): Promise<ReadonlySet<string>> {
  await using undo = new AsyncDisposableStack();
  const http = undo.use(createHttpClient());
  const seen: ReturnType<typeof leading>[] = [];
  const between: Between = async (world) => {
    const { url } = undo.use(await prismBefore(world, program, about));
    const way = leading(http, url, about.basePath);
    seen.push(way);
    return way.led;
  };
  const [ended] = await Promise.allSettled([walk(between)]);
  assert.deepEqual(
    seen.flatMap(({ complaints }) => complaints),
    [],
  );
  if (ended.status === "rejected") assert.ifError(ended.reason);
  return new Set(seen.flatMap(({ asked }) => [...asked]));
}

const requirePrism = (t: TestContext) => requirePeer(t, "@stoplight/prism-cli/dist/index.js");

test("Prism finds nothing to complain about between our client for Hetzner Cloud and the world", async (t) => {
  const program = requirePrism(t);
  if (program === undefined) return;
  const asked = await clientBehindPrism(program, hetzner, walkHetznerClient);
  assert.ok(asked.size > 40, [...asked].join("\n"));
});

test("Prism finds nothing to complain about between our client for IONOS and the world", async (t) => {
  const program = requirePrism(t);
  if (program === undefined) return;
  const asked = await clientBehindPrism(program, ionos, walkIonosClient);
  assert.ok(asked.size > 18, [...asked].join("\n"));
});

/** Whoever asks for everything that the world can, behind Prism, and what Prism complained about. */
function asking(url: string): { readonly ask: Ask; readonly complaints: string[] } {
  const complaints: string[] = [];
  const ask: Ask = async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${worldToken("demo")}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const complaint = complaintIn(Object.fromEntries(answer.headers), text);
    if (complaint !== undefined) complaints.push(`${method} ${path}: ${complaint}`);
    return { status: answer.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  };
  return { ask, complaints };
}

async function behindPrism(program: string, about: About, walk: (ask: Ask) => Promise<void>): Promise<void> {
  await using prism = await prismBefore(new World(systemClock, { pace: 0 }), program, about);
  const { ask, complaints } = asking(prism.url);
  await walk(ask);
  assert.deepEqual(complaints, []);
  const path = about.basePath === "/v1" ? "/servers" : "/datacenters";
  const bad = await ask("POST", path, { name: 7, properties: 7 });
  assert.ok(bad.status >= 400 && complaints.length === 1, "a request that is wrong is found");
}

test("Prism finds nothing to complain about in everything that the world can of Hetzner Cloud", async (t) => {
  const program = requirePrism(t);
  if (program === undefined) return;
  const certificate = {
    certificate: read("example-certificate.pem").toString("utf8"),
    privateKey: "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n",
  };
  await behindPrism(program, hetzner, (ask) => new HetznerWalk(ask, certificate).all());
});

test("Prism finds nothing to complain about in everything that the world can of IONOS", async (t) => {
  const program = requirePrism(t);
  if (program === undefined) return;
  await behindPrism(program, ionos, (ask) => new IonosWalk(ask).all());
});
