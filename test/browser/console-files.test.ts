import assert from "node:assert/strict";
import { test } from "node:test";
import { readConsole } from "../../src/compose/console-files.ts";
import { startTestApi } from "../support/api.ts";
import { requireConsole } from "../support/console.ts";

/** What a browser loads before it shows the first page: the document, its scripts and styles, and the letters. */
const firstPageAtMostBytes = 250 * 1024;

test("the first page is small, comes from this server alone, and nothing in it is inline", async () => {
  await requireConsole();
  const files = readConsole();
  assert.ok(files);
  const html = files.page.body.toString("utf8");
  assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|https?:/);
  const named = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map(([, name = ""]) => name);
  const first = [...named, ...[...files.assets.keys()].filter((name) => name.startsWith("inter-"))];
  const bytes = [...new Set(first)].reduce(
    (sum, name) => {
      const file = files.assets.get(name);
      assert.ok(file, `${name} is there`);
      return sum + (file.gzip ?? file.body).length;
    },
    (files.page.gzip ?? files.page.body).length,
  );
  assert.ok(bytes <= firstPageAtMostBytes, `the first page has ${bytes} bytes`);
});

test("files are kept for ever, pages never, and both carry the policy or their type", async () => {
  await requireConsole();
  const console = readConsole();
  await using api = await startTestApi({ console });
  const page = await api.app.inject({ method: "GET", url: "/o/default/now", headers: { "accept-encoding": "gzip" } });
  assert.equal(page.statusCode, 200);
  assert.equal(page.headers["cache-control"], "no-cache");
  assert.equal(page.headers["content-encoding"], "gzip");
  const policy = String(page.headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  const [name = ""] = console?.assets.keys() ?? [];
  const file = await api.app.inject({ method: "GET", url: `/assets/${name}` });
  assert.equal(file.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(file.headers["content-security-policy"], policy, "a worker has the policy of its own file");
  assert.equal((await api.app.inject({ method: "GET", url: "/assets/../package.json" })).statusCode, 404);
  assert.equal((await api.app.inject({ method: "GET", url: "/assets/nothing.js" })).statusCode, 404);
  const status = await api.app.inject({ method: "GET", url: "/status" });
  assert.match(status.body, /Services/, "the status page stays, without a script");
  const tray = await api.send("GET", "/demo/scenarios");
  assert.deepEqual(tray.body, { items: [] }, "nothing can be broken where there is no demo");
  assert.equal((await api.send("POST", "/demo/scenarios/freeze", {})).status, 404);
});

test("what the demo can break is for those who keep the installation", async () => {
  const ran: string[] = [];
  const words = {
    title: "t",
    where: "setpoint",
    does: "d",
    expect: "e",
    guard: "g",
    youCan: "y",
    look: "now",
  } as const;
  const scenario = { id: "freeze", ...words };
  const run = async (id: string) => void ran.push(id);
  await using api = await startTestApi({ demo: { organization: "default", scenarios: [scenario], run } });
  const path = "/demo/scenarios";
  assert.equal((await api.app.inject({ method: "GET", url: path })).statusCode, 401);
  assert.equal((await api.app.inject({ method: "POST", url: `${path}/freeze` })).statusCode, 401);
  assert.deepEqual((await api.send("GET", path)).body, { organization: "default", items: [scenario] });
  assert.equal((await api.send("POST", `${path}/nothing`)).status, 404);
  assert.equal((await api.send("POST", `${path}/freeze`)).status, 204);
  assert.deepEqual(ran, ["freeze"]);
});
