import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type PowerDns, startPowerDns } from "../support/powerdns.ts";
import { type Product, startProduct, until } from "../support/product.ts";
import { requireReal } from "./requirement.ts";

interface Scene {
  readonly dns: PowerDns;
  readonly product: Product;
  apply(...documents: readonly object[]): Promise<string>;
  zone(name: string): Promise<{ readonly status: number; readonly dnssec: boolean; readonly names: readonly string[] }>;
}

const undo = new AsyncDisposableStack();
let scene: Scene | undefined;

before(async () => {
  const program = findProgram("pdns_server");
  if (program === undefined) return;
  const dns = undo.use(await startPowerDns(program));
  const folder = undo.use(temporaryFolder());
  const product = startProduct({ dataDirectory: join(folder.path, "data"), port: await freePort() });
  undo.defer(async () => void (await product.end("SIGTERM")));
  await product.ready();
  const [server = ""] = dns.resolver.getServers();
  const settings = ["--set", `url=${dns.apiUrl}`, "--set", `resolver=${server}`, "--calls-per-second", "200"];
  await product.must(
    "account",
    "add",
    "lab",
    "--provider",
    "powerdns",
    ...settings,
    "--credential",
    `file:${dns.keyFile}`,
  );
  scene = sceneWith(dns, product, join(folder.path, "manifests.yaml"));
});
after(() => undo.disposeAsync());

function sceneWith(dns: PowerDns, product: Product, file: string): Scene {
  return {
    dns,
    product,
    apply: (...documents) => {
      writeFileSync(file, documents.map((document) => `---\n${JSON.stringify(document)}\n`).join(""));
      return product.must("apply", "-f", file);
    },
    zone: async (name) => {
      const { status, body } = await dns.call("GET", `/zones/${name}`);
      const { dnssec = false, rrsets = [] } = body as { dnssec?: boolean; rrsets?: { name: string; type: string }[] };
      return { status, dnssec, names: rrsets.map((set) => `${set.name} ${set.type}`).sort() };
    },
  };
}

function sceneOf(t: TestContext): Scene | undefined {
  return requireReal(t, "PowerDNS") === undefined ? undefined : scene;
}

function zoneManifest(name: string, spec: object = {}, mode = "enforce") {
  const base = { account: "lab", zone: `${name}.test`, nameservers: [`ns1.${name}.test`], makesZone: true };
  return { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name, mode }, spec: { ...base, ...spec } };
}

function recordManifest(zone: string, name: string) {
  const spec = { zone, name, type: "A", values: ["192.0.2.10"], ttlSeconds: 60 };
  return { apiVersion: "setpoint/v1", kind: "DnsRecord", metadata: { name: `${zone}-${name}` }, spec };
}

async function newest({ must }: Product, zone: string): Promise<string> {
  const [id = ""] = (await must("ops", "list", "--on", `dnszone/${zone}`, "-o", "name")).split("\n");
  return id;
}

test("declaring a zone makes it, signs it, fills it, and gives it to its loop", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product, dns } = scene;
  await scene.apply(zoneManifest("made", { dnssec: true }), recordManifest("made", "www"));
  const id = await newest(product, "made");
  await product.must("ops", "watch", id, "--timeout", "60s");
  const { status, dnssec, names } = await scene.zone("made.test.");
  assert.deepEqual({ status, dnssec }, { status: 200, dnssec: true });
  assert.ok(names.includes("www.made.test. A"), names.join(", "));
  assert.deepEqual(await dns.resolver.resolve4("www.made.test"), ["192.0.2.10"]);
  await product.must("wait", "dnszone/made", "--timeout", "60s");
  const steps = await product.must("ops", "steps", id, "-o", "name");
  for (const step of ["admit", "zone", "nameservers", "records", "dnssec", "delegation", "active"])
    assert.match(steps, new RegExp(`\\d+ ${step}\\b`));
});

test("in observe mode the operation ends without having run", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  await scene.apply(zoneManifest("watched", {}, "observe"));
  const id = await newest(scene.product, "watched");
  const { code, stderr } = await scene.product.setpoint("ops", "watch", id, "--timeout", "60s");
  assert.equal(code, 4);
  assert.match(stderr, /not run: observe mode/);
  assert.equal((await scene.zone("watched.test.")).status, 404);
});

test("a zone that somebody else made is refused, and adopted when the spec says so", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  await scene.dns.createZone("there.test.");
  await scene.apply(zoneManifest("there"));
  const refused = await newest(scene.product, "there");
  assert.match((await scene.product.setpoint("ops", "watch", refused, "--timeout", "60s")).stderr, /ownership/);
  await scene.apply(zoneManifest("there", { adopt: true }));
  const adopted = await newest(scene.product, "there");
  assert.notEqual(adopted, refused);
  await scene.product.must("ops", "watch", adopted, "--timeout", "60s");
});

test("deleting drains the delegation first, then deletes the zone with its records", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product } = scene;
  await product.must("delete", "dnszone/made", "--confirm", "1");
  const id = await newest(product, "made");
  await until("the delegation to be asked for", () => product.must("ops", "get", id), isWaiting);
  assert.equal((await scene.zone("made.test.")).status, 200);
  await product.must("ops", "skip", id, "--step", "drained", "--reason", "nobody asks any more");
  await product.must("ops", "watch", id, "--timeout", "60s");
  assert.equal((await scene.zone("made.test.")).status, 404);
  await until(
    "the resource to go",
    () => product.setpoint("get", "dnszone/made"),
    ({ code }) => code === 6,
  );
});

function isWaiting(text: string): boolean {
  return text.includes("still delegated");
}
