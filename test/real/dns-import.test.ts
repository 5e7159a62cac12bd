import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { zoneText } from "../support/name-server.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type PowerDns, startPowerDns } from "../support/powerdns.ts";
import { type Product, startProduct, until } from "../support/product.ts";
import { requireReal } from "./requirement.ts";

const zone = "big.test.";
const records = 300;
const undo = new AsyncDisposableStack();
/** The manifests of the records that were imported from the live zone. */
let live: readonly string[] = [];
let scene: { readonly dns: PowerDns; readonly product: Product; readonly folder: string } | undefined;

before(async () => {
  const program = findProgram("pdns_server");
  if (program === undefined) return;
  const dns = undo.use(await startPowerDns(program));
  const folder = undo.use(temporaryFolder()).path;
  const product = startProduct({ dataDirectory: join(folder, "data"), port: await freePort() });
  undo.defer(async () => void (await product.end("SIGTERM")));
  await product.ready();
  await dns.createZone(zone);
  await dns.change(
    zone,
    Array.from({ length: records }, (_, index) => ({
      name: `host-${index}.${zone}`,
      type: index % 10 === 0 ? "TXT" : "A",
      ttl: 300 + (index % 7),
      changetype: "REPLACE" as const,
      records: [{ content: index % 10 === 0 ? `"text ${index}" "cut"` : `192.0.2.${index % 250}`, disabled: false }],
    })),
  );
  scene = { dns, product, folder };
});
after(() => undo.disposeAsync());

function recordsIn(manifests: string): readonly string[] {
  return manifests
    .split(/^---\n/m)
    .filter((manifest) => manifest.includes("kind: DnsRecord"))
    .map((manifest) => manifest.trim())
    .toSorted();
}

function sceneOf(t: TestContext): NonNullable<typeof scene> | undefined {
  return requireReal(t, "PowerDNS") === undefined ? undefined : scene;
}

test("a live zone is imported whole, and nothing differs afterwards", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, product, folder } = scene;
  const account = ["account", "add", "lab", "--provider", "powerdns", "--set", `url=${dns.apiUrl}`];
  await product.must(...account, "--credential", `file:${dns.keyFile}`);
  const before = await dns.recordSets(zone);
  const imported = await product.setpoint("import", "dns", "--zone", "big.test", "--account", "lab");
  assert.equal(imported.code, 0, imported.stderr);
  assert.equal(imported.stdout.match(/kind: DnsRecord/g)?.length, records);
  assert.match(imported.stdout, /kind: DnsZone\n[\s\S]{0,120}mode: observe/);
  assert.match(imported.stderr, /300 record sets/);
  live = recordsIn(imported.stdout);
  const file = join(folder, "imported.yaml");
  writeFileSync(file, imported.stdout);
  await product.must("apply", "-f", file);
  const status = await until(
    "a look after the last of them",
    async () => JSON.parse(await product.must("get", "dnszone", "big.test", "-o", "json")) as object,
    (document) => /"Synced","status":"True"/.test(JSON.stringify(document)),
    120,
  );
  assert.match(JSON.stringify(status), /"differences":0/, "nothing differs");
  const again = await product.setpoint("import", "dns", "--zone", "big.test");
  assert.equal(again.stdout.match(/kind: DnsRecord/g), null, "everything is declared by now");
  assert.deepEqual(await dns.recordSets(zone), before, "nothing was written");
});

test("the same zone as a file gives the very same records, and a mistake in it is named by its line", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, product, folder } = scene;
  const lines = (await dns.recordSets(zone)).flatMap((set) =>
    set.type === "SOA" || set.type === "NS"
      ? []
      : (set.records ?? []).map(({ content }) => `${set.name} ${set.ttl} IN ${set.type} ${content}`),
  );
  const file = join(folder, "big.test.zone");
  writeFileSync(file, zoneText(zone, lines));
  const imported = await product.setpoint("import", "dns", "--zone", "big.test", "--account", "lab", "--file", file);
  assert.equal(imported.code, 0, imported.stderr);
  // The zone file has the address of its name server beside the others.
  assert.equal(imported.stdout.match(/kind: DnsRecord/g)?.length, records + 1);
  const fromFile = recordsIn(imported.stdout);
  assert.deepEqual(
    fromFile.filter((manifest) => !manifest.includes("ns1")),
    live,
  );
  writeFileSync(file, zoneText(zone, ["www A 192.0.2.1", "www A 192.0.2.999"]));
  const wrong = await product.setpoint("import", "dns", "--zone", "big.test", "--account", "lab", "--file", file);
  assert.equal(wrong.code, 64);
  assert.match(wrong.stderr, /big\.test\.zone:7: "192\.0\.2\.999" is not an IPv4 address.*RFC 1035/);
});
