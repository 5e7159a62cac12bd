import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import { resourceSchema } from "../../src/control-api/schemas/resource.ts";
import { propagationReportSchema } from "../../src/kinds/dns-zone/propagation-report.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { type NameServer, startNameServer } from "../support/name-server.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type PowerDns, startPowerDns } from "../support/powerdns.ts";
import { type Product, startProduct, until } from "../support/product.ts";
import { requireReal } from "./requirement.ts";

const zone = "example.test.";
const undo = new AsyncDisposableStack();

interface Scene {
  readonly product: Product;
  readonly first: PowerDns;
  /** Serves the same zone, and nobody brings it up to date. */
  readonly second: NameServer;
  readonly servers: { readonly first: string; readonly second: string };
  readonly file: string;
}
let scene: Scene | undefined;

before(async () => {
  const [powerDns, bind] = [findProgram("pdns_server"), findProgram("named")];
  if (powerDns === undefined || bind === undefined) return;
  const first = undo.use(await startPowerDns(powerDns));
  const second = undo.use(await startNameServer("BIND", bind, [{ zone }]));
  const folder = undo.use(temporaryFolder());
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port: await freePort() });
  undo.defer(async () => void (await product.end("SIGTERM")));
  await product.ready();
  const [asked = ""] = first.resolver.getServers();
  const servers = { first: asked, second: `127.0.0.1:${second.port}` };
  scene = { product, first, second, servers, file: join(folder.path, "manifests.yaml") };
});
after(() => undo.disposeAsync());

/** Each test goes on from where the one before it ended: they are the steps of one walk. */
function sceneOf(t: TestContext): Scene | undefined {
  const there = ["PowerDNS", "BIND"].every((name) => requireReal(t, name) !== undefined);
  return there ? scene : undefined;
}

async function read({ product }: Scene, name: string) {
  return resourceSchema.parse(JSON.parse(await product.must("get", name, "-o", "json")));
}

async function matrix(scene: Scene) {
  const { status } = await read(scene, "dnsrecord/www");
  const report = propagationReportSchema.safeParse(status.report).data;
  const at = (server: string) => report?.sets[0]?.answers.find((one) => one.server === server);
  const serialAt = (server: string) => report?.servers.find((one) => one.server === server);
  const { first, second } = scene.servers;
  return {
    answers: [at(first), at(second)].map((one) => `${one?.state} ${one?.answer}`),
    since: at(second)?.sinceMs,
    states: [serialAt(first), serialAt(second)].map((one) => one?.state),
    split: status.conditions.find(({ type }) => type === "Report/Split"),
  };
}

async function zoneSplit(scene: Scene) {
  return (await read(scene, "dnszone/example")).status.conditions.find(({ type }) => type === "Report/Split");
}

function manifest(kind: string, metadata: object, spec: object): string {
  return `---\n${JSON.stringify({ apiVersion: "setpoint/v1", kind, metadata, spec })}\n`;
}

test("a server that is behind is a split, with since when, and the record shows what each server answers", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product, first, servers, file } = scene;
  await first.createZone(zone);
  await product.must(
    "account",
    "add",
    "lab",
    "--provider",
    "powerdns",
    "--set",
    `url=${first.apiUrl}`,
    "--credential",
    `file:${first.keyFile}`,
  );
  const spec = { account: "lab", zone, propagation: { servers: [servers.first, servers.second] } };
  const record = { zone: "example", name: "www", type: "A", values: ["192.0.2.10"] };
  writeFileSync(
    file,
    manifest("DnsZone", { name: "example", mode: "enforce" }, spec) + manifest("DnsRecord", { name: "www" }, record),
  );
  await product.must("apply", "-f", file);
  const seen = await until(
    "the split",
    () => matrix(scene),
    ({ split }) => split !== undefined,
  );
  assert.deepEqual(seen.answers, ["current 192.0.2.10", "old nothing"]);
  assert.deepEqual(seen.states, ["current", "old"]);
  assert.match(seen.split?.message ?? "", new RegExp(`${servers.second} answers nothing`));
  const whole = await zoneSplit(scene);
  assert.equal(whole?.reason, "ServersOld");
  assert.match(
    whole?.message ?? "",
    new RegExp(`${servers.second} \\(serial 1\\) of 2 servers.*www\\.example\\.test\\. A`),
  );
  const since = [seen.since, whole?.since];
  await product.must("reconcile", "dnszone/example");
  await product.must("wait", "dnszone/example", "--timeout", "60s");
  assert.deepEqual(
    [(await matrix(scene)).since, (await zoneSplit(scene))?.since],
    since,
    "it dates from its beginning",
  );
});

test("asking never writes: neither server has changed by it", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product, first, second } = scene;
  const state = async () => JSON.stringify([await first.recordSets(zone), second.records(zone)]);
  const before = await state();
  await product.must("reconcile", "dnszone/example");
  await product.must("wait", "dnszone/example", "--timeout", "60s");
  assert.equal(await state(), before);
});

test("once the server has caught up, nothing is split any more", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product, first, second } = scene;
  const { serial } = await first.resolver.resolveSoa("example.test");
  second.nsupdate("update add www.example.test. 300 A 192.0.2.10");
  second.nsupdate(
    `update add example.test. 3600 SOA ns1.example.test. hostmaster.example.test. ${serial} 10800 3600 604800 300`,
  );
  await product.must("reconcile", "dnszone/example");
  const seen = await until(
    "the end of the split",
    () => matrix(scene),
    ({ split }) => split === undefined,
  );
  assert.deepEqual(seen.answers, ["current 192.0.2.10", "current 192.0.2.10"]);
  assert.deepEqual(seen.states, ["current", "current"]);
  assert.equal(await zoneSplit(scene), undefined);
});

test("a server that is silent is no split, and is named", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product, second, servers } = scene;
  await second[Symbol.asyncDispose]();
  await product.must("reconcile", "dnszone/example");
  const silent = await until(
    "the silence",
    async () => (await read(scene, "dnszone/example")).status.conditions.find(({ type }) => type === "Report/Silent"),
    (condition) => condition !== undefined,
  );
  assert.match(silent?.message ?? "", new RegExp(servers.second));
  assert.equal(await zoneSplit(scene), undefined);
  // The zone itself is as declared all the same.
  await product.must("wait", "dnszone/example", "--timeout", "60s");
});
