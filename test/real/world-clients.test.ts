import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { worldToken } from "../../src/world/account-book.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { requirePeer, requireReal } from "./requirement.ts";

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
