import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { type KeyGateway, startKeyGateway } from "../support/key-gateway.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type PowerDns, startPowerDns } from "../support/powerdns.ts";
import { type Product, startProduct, until } from "../support/product.ts";
import { requireReal } from "./requirement.ts";
import { zoneManifests } from "../support/zone-manifests.ts";

const keys = {
  read: "a-key-that-can-only-look-5127",
  write: "a-key-that-can-act-9034",
  newer: "a-newer-key-that-acts-7781",
};
const undo = new AsyncDisposableStack();
interface Scene {
  readonly dns: PowerDns;
  readonly gateway: KeyGateway;
  readonly product: Product;
  readonly folder: string;
}
let scene: Scene | undefined;

before(async () => {
  const program = findProgram("pdns_server");
  if (program === undefined) return;
  const dns = undo.use(await startPowerDns(program));
  await dns.createZone("sealed.test.");
  // PowerDNS has one key. In front of it stands what providers with finer rights do.
  const gateway = undo.use(await startKeyGateway({ url: dns.apiUrl, key: dns.apiKey }));
  gateway.allow("read", keys.read, ["GET"]);
  gateway.allow("write", keys.write, ["POST", "PUT", "PATCH", "DELETE"]);
  const folder = undo.use(temporaryFolder()).path;
  const product = startProduct({ dataDirectory: join(folder, "data"), port: await freePort() });
  undo.defer(async () => void (await product.end("SIGTERM")));
  await product.ready();
  scene = { dns, gateway, product, folder };
});
after(() => undo.disposeAsync());

/** Each test goes on from where the one before it ended. */
function sceneOf(t: TestContext): Scene | undefined {
  return requireReal(t, "PowerDNS") === undefined ? undefined : scene;
}

function fileOf({ folder }: Scene, name: keyof typeof keys): string {
  const file = join(folder, `${name}.key`);
  writeFileSync(file, `${keys[name]}\n`, { mode: 0o600 });
  return file;
}

async function declare({ product, folder }: Scene, address: string): Promise<void> {
  const file = join(folder, "zone.yaml");
  writeFileSync(file, zoneManifests("sealed", address));
  await product.must("apply", "-f", file, "--yes");
}

const resolved = ({ dns }: Scene, address: string) =>
  until(
    `www.sealed.test to be ${address}`,
    () => dns.resolver.resolve4("www.sealed.test"),
    (found) => found.join() === address,
  );

test("the scheduler looks with the one stored credential and acts with the other", { timeout: 180_000 }, async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { gateway, product } = scene;
  await product.must("account", "add", "lab", "--provider", "powerdns", "--set", `url=${gateway.url}`);
  const stored = await product.setpoint(
    "secret",
    "set-credential",
    "lab",
    "--write-file",
    fileOf(scene, "write"),
    "--read-file",
    fileOf(scene, "read"),
  );
  assert.equal(stored.code, 0, stored.stderr);
  assert.match(stored.stderr, /read and write credential sealed to the engine key/);
  await declare(scene, "192.0.2.10");
  await product.must("wait", "dnszone/sealed", "--timeout", "60s");
  await resolved(scene, "192.0.2.10");
  const looked = gateway.calls.filter(({ method }) => method === "GET");
  const acted = gateway.calls.filter(({ method }) => method !== "GET");
  assert.ok(looked.length > 0 && acted.length > 0);
  assert.deepEqual([...new Set(looked.map(({ key }) => key))], ["read"], "whoever looks cannot change anything");
  assert.deepEqual([...new Set(acted.map(({ key }) => key))], ["write"]);
  assert.deepEqual(
    gateway.calls.filter(({ status }) => status === 401),
    [],
    "neither was tried for what it cannot do",
  );
});

test("what is stored opens nothing: not in what the API says, not in the log, not in the files of the database", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product } = scene;
  const said = await product.must("api", "GET", "/v1/organizations/default/accounts");
  const audit = await product.must("audit", "export");
  const files = readdirSync(product.dataDirectory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  assert.ok(
    files.some((text) => text.includes("sealed:")),
    "the database's files are among them",
  );
  for (const text of [said, audit, product.printed(), ...files])
    for (const key of Object.values(keys)) assert.ok(!text.includes(key));
});

test("a write credential that no longer counts stops writes and not looks; a new one is taken up at once", {
  timeout: 180_000,
}, async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, gateway, product } = scene;
  gateway.allow("write", keys.write, []);
  const before = gateway.calls.length;
  await declare(scene, "192.0.2.20");
  const why = await until(
    "the refusal to be explained",
    () => product.must("why", "dnszone/sealed"),
    (text) => /CREDENTIAL_REFUSED|credential/i.test(text),
  );
  assert.match(why, /credential/i);
  const since = gateway.calls.slice(before);
  assert.ok(since.some(({ method, key, status }) => method === "GET" && key === "read" && status === 200));
  assert.ok(since.some(({ method, key, status }) => method !== "GET" && key === "write" && status === 401));
  assert.deepEqual(await dns.resolver.resolve4("www.sealed.test"), ["192.0.2.10"], "nothing was changed");

  gateway.allow("newer", keys.newer, ["POST", "PUT", "PATCH", "DELETE"]);
  await product.must(
    "secret",
    "set-credential",
    "lab",
    "--write-file",
    fileOf(scene, "newer"),
    "--read-file",
    fileOf(scene, "read"),
  );
  await resolved(scene, "192.0.2.20");
  assert.ok(gateway.calls.some(({ method, key, status }) => method === "PATCH" && key === "newer" && status === 204));
});

test("a credential outlives the processes: it is opened again after a start", { timeout: 180_000 }, async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { gateway, product, folder } = scene;
  await product.end("SIGTERM");
  const again = startProduct({ dataDirectory: join(folder, "data"), port: Number(new URL(product.url).port) });
  undo.defer(async () => void (await again.end("SIGTERM")));
  await again.ready();
  const before = gateway.calls.length;
  await declare({ ...scene, product: again }, "192.0.2.30");
  await resolved(scene, "192.0.2.30");
  const since = gateway.calls.slice(before);
  assert.deepEqual([...new Set(since.map(({ method, key }) => `${method === "GET" ? "look" : "act"} ${key}`))].sort(), [
    "act newer",
    "look read",
  ]);
});
