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
import { HetznerWalk } from "../support/hetzner-walk.ts";
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

test("Prism finds nothing to complain about between a client of Hetzner Cloud and the world", async (t) => {
  const program = requirePeer(t, "@stoplight/prism-cli/dist/index.js");
  if (program === undefined) return;
  using folder = temporaryFolder();
  await using server = await serveWorld(new World(systemClock, { pace: 0 }), systemClock, 0);
  const file = join(folder.path, "hetzner-cloud.json");
  // OpenAPI writes a range of status codes in capitals, and Prism knows no other way.
  const text = gunzipSync(read("hetzner-cloud.openapi.json.gz")).toString("utf8");
  writeFileSync(file, text.replaceAll('"4xx"', '"4XX"').replaceAll('"5xx"', '"5XX"'));
  await using prism = await startPrism(program, file, `${server.url}/v1`);
  const complaints: string[] = [];
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${prism.url}${path}`, {
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
  const certificate = {
    certificate: read("example-certificate.pem").toString("utf8"),
    privateKey: "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n",
  };
  await new HetznerWalk(ask, certificate).all();
  assert.deepEqual(complaints, []);
  const bad = await ask("POST", "/servers", { name: 7 });
  assert.ok(bad.status >= 400 && complaints.length === 1, "a request that is wrong is found");
});
