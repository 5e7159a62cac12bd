import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { worldToken } from "../../src/world/account-book.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { type Ask, HetznerWalk } from "../support/hetzner-walk.ts";
import { IonosWalk } from "../support/ionos-walk.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { requirePeer, requireReal } from "./requirement.ts";

const read = (file: string) => readFileSync(new URL(`../specs/${file}`, import.meta.url));

test("Hetzner's Python library works against the world", async (t) => {
  if (requireReal(t, "python3-hcloud") === undefined) return;
  await using server = await serveWorld(new World(systemClock, { pace: 0.02 }), systemClock, 0);
  const script = fileURLToPath(new URL("python-hcloud.py", import.meta.url));
  const words = [script, `${server.url}/v1`, worldToken("demo")];
  const { stdout } = await promisify(execFile)("/usr/bin/python3", words, { timeout: 120_000 });
  assert.equal(stdout.trim(), "done");
});

test("IONOS's own SDK works against the world", async (t) => {
  if (requirePeer(t, "@ionos-cloud/sdk-nodejs/package.json") === undefined) return;
  const world = new World(systemClock, { pace: 0.005 });
  world.clouds.find(({ name }) => name === "ionos")?.configure("demo", { requestsPerMinute: 60_000 });
  await using server = await serveWorld(world, systemClock, 0);
  const script = fileURLToPath(new URL("peers/ionos-sdk.mjs", import.meta.url));
  const words = [script, `${server.url}/cloudapi/v6`, worldToken("demo")];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 120_000 });
  assert.equal(stdout.trim(), "done");
});

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
    const type = (schema["properties"] as Record<string, Record<string, unknown>> | undefined)?.["type"];
    if (type?.["allOf"] !== undefined) delete type["type"];
  }
  return JSON.stringify(document).replaceAll(
    '"https://[apiBaseUri]/requests/[requestId]/status"',
    '"/requests/.+/status$"',
  );
}

/** A client behind Prism, and what Prism complained about. */
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
    const isProblem = answer.headers.get("content-type")?.includes("problem") === true;
    const violations = answer.headers.get("sl-violations") ?? (isProblem ? text : null);
    if (violations !== null) complaints.push(`${method} ${path}: ${violations}`);
    return { status: answer.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  };
  return { ask, complaints };
}

async function behindPrism(
  program: string,
  about: { readonly file: string; readonly basePath: string; readonly change: (text: string) => string },
  walk: (ask: Ask) => Promise<void>,
): Promise<void> {
  using folder = temporaryFolder();
  const world = new World(systemClock, { pace: 0 });
  world.clouds.find(({ name }) => name === "ionos")?.configure("demo", { requestsPerMinute: 60_000 });
  await using server = await serveWorld(world, systemClock, 0);
  const file = join(folder.path, "specification.json");
  writeFileSync(file, about.change(gunzipSync(read(about.file)).toString("utf8")));
  await using prism = await startPrism(program, file, `${server.url}${about.basePath}`);
  const { ask, complaints } = asking(prism.url);
  await walk(ask);
  assert.deepEqual(complaints, []);
  const path = about.basePath === "/v1" ? "/servers" : "/datacenters";
  const bad = await ask("POST", path, { name: 7, properties: 7 });
  assert.ok(bad.status >= 400 && complaints.length === 1, "a request that is wrong is found");
}

test("Prism finds nothing to complain about between a client of Hetzner Cloud and the world", async (t) => {
  const program = requirePeer(t, "@stoplight/prism-cli/dist/index.js");
  if (program === undefined) return;
  // OpenAPI writes a range of status codes in capitals, and Prism knows no other way.
  const change = (text: string) => text.replaceAll('"4xx"', '"4XX"').replaceAll('"5xx"', '"5XX"');
  const certificate = {
    certificate: read("example-certificate.pem").toString("utf8"),
    privateKey: "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n",
  };
  const about = { file: "hetzner-cloud.openapi.json.gz", basePath: "/v1", change };
  await behindPrism(program, about, (ask) => new HetznerWalk(ask, certificate).all());
});

test("Prism finds nothing to complain about between a client of IONOS and the world", async (t) => {
  const program = requirePeer(t, "@stoplight/prism-cli/dist/index.js");
  if (program === undefined) return;
  const about = { file: "ionos-cloud-v6.openapi.json.gz", basePath: "/cloudapi/v6", change: withDeviations };
  await behindPrism(program, about, (ask) => new IonosWalk(ask).all());
});
