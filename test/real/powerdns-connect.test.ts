import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { findProgram } from "../../scripts/find-program.mjs";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type PowerDns, type RrSet, startPowerDns } from "../support/powerdns.ts";
import { type Product, startProduct, until } from "../support/product.ts";
import { requireReal } from "./requirement.ts";

const zone = "shop.test.";
const undo = new AsyncDisposableStack();
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
  await dns.change(zone, [
    there("www", "A", "192.0.2.10", "192.0.2.11"),
    there("mail", "A", "192.0.2.25"),
    there("note", "TXT", '"kept \\"as it is\\""'),
    there("host", "SSHFP", `1 1 ${"ab".repeat(20)}`),
  ]);
  scene = { dns, product, folder };
});
after(() => undo.disposeAsync());

function there(name: string, type: string, ...contents: readonly string[]): RrSet {
  const records = contents.map((content) => ({ content, disabled: false }));
  return { name: `${name}.${zone}`, type, ttl: 60, changetype: "REPLACE", records };
}

/** Each test goes on from where the one before it ended: they are the steps of one walk. */
function sceneOf(t: TestContext): NonNullable<typeof scene> | undefined {
  return requireReal(t, "PowerDNS") === undefined ? undefined : scene;
}

const connect = (dns: PowerDns, ...more: readonly string[]) => [
  "connect",
  "powerdns",
  "--name",
  "lab",
  "--url",
  dns.apiUrl,
  ...more,
];

test("a credential from a file, then what is there and what would be adopted; nothing is written", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, product } = scene;
  const before = await dns.recordSets(zone);
  const unasked = await product.setpoint(...connect(dns, "--zone", "shop.test"));
  assert.equal(unasked.code, 64, "without a terminal nobody is asked for the key");
  assert.match(unasked.stderr, /--api-key-file/);
  const ran = await product.setpoint(...connect(dns, "--api-key-file", dns.keyFile, "--zone", "shop.test"));
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /account\/lab added\nDnsZone\/shop\.test declared in mode observe/);
  assert.match(ran.stdout, /www\.shop\.test\. A +shop\.test-www-a/);
  assert.match(ran.stdout, /host\.shop\.test\. SSHFP +no: a DnsRecord cannot be of the type SSHFP/);
  assert.match(ran.stderr, /setpoint adopt dnszone\/shop\.test --all/);
  assert.match(ran.stderr, /setpoint mode dnszone\/shop\.test enforce/);
  assert.ok(!`${ran.stdout}${ran.stderr}`.includes(dns.apiKey), "the key is shown nowhere");
  assert.deepEqual(await dns.recordSets(zone), before);
  assert.deepEqual((await dns.call("GET", "/tsigkeys")).body, [], "not even a sentinel is left");
  const again = await product.setpoint(...connect(dns, "--zone", "shop.test"));
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /account\/lab is there already\nDnsZone\/shop\.test is declared already/);
});

test("what is imported is what is there, as manifests that can be applied", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { product, folder } = scene;
  const { code, stdout, stderr } = await product.setpoint("import", "dnszone/shop.test");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /left out: host\.shop\.test\. SSHFP/);
  const names = parseAllDocuments(stdout).map(
    (document) => (document.toJS() as { metadata: { name: string } }).metadata.name,
  );
  assert.deepEqual(names.toSorted(), ["shop.test-mail-a", "shop.test-note-txt", "shop.test-www-a"]);
  const file = join(folder, "imported.yaml");
  writeFileSync(file, stdout);
  const plan = await product.must("plan", "-f", file);
  assert.match(plan, /takeover www\.shop\.test\. A/);
  assert.doesNotMatch(plan, /^ {8}\//m, "each is declared just as it is");
});

test("what is adopted waits for a person, by digest; what is not stays a stranger", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, product } = scene;
  const before = await dns.recordSets(zone);
  const observing = await product.setpoint("adopt", "dnszone/shop.test", "www.shop.test./A");
  assert.equal(observing.code, 0, observing.stderr);
  assert.equal(observing.stdout, "DnsRecord/shop.test-www-a declared: www.shop.test. A\n");
  assert.match(observing.stderr, /only looked at, so nothing is taken over yet/);
  await product.must("mode", "dnszone/shop.test", "enforce");
  const waiting = await product.setpoint("adopt", "dnszone/shop.test", "note.shop.test. TXT");
  assert.equal(waiting.code, 10, waiting.stderr);
  const approvals = [...waiting.stderr.matchAll(/setpoint (approve \S+ --digest \S+)/g)].map(([, line = ""]) => line);
  assert.equal(approvals.length, 1, waiting.stderr);
  for (const approval of approvals) await product.must(...approval.split(" "));
  await until(
    "both to be ours",
    () => product.must("api", "GET", "/v1/organizations/default/dnszones/shop.test/observation"),
    (text) => (text.match(/"owned": ?true/g) ?? []).length === 2,
    60,
  );
  await product.must("wait", "dnszone/shop.test", "--timeout", "60s");
  assert.deepEqual(await dns.recordSets(zone), before, "taking over changes nothing outside");
});

test("what is ours is kept from now on, and what is released is left there and left alone", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, product } = scene;
  await dns.change(zone, [there("www", "A", "192.0.2.66"), there("mail", "A", "192.0.2.66")]);
  await product.must("reconcile", "dnszone/shop.test");
  await until(
    "the healed record",
    () => dns.resolver.resolve4("www.shop.test"),
    (found) => found.toSorted().join() === "192.0.2.10,192.0.2.11",
  );
  assert.deepEqual(await dns.resolver.resolve4("mail.shop.test"), ["192.0.2.66"], "nobody declared it");
  const released = await product.must("release", "dnszone/shop.test", "www.shop.test. A");
  assert.equal(released, "DnsRecord/shop.test-www-a released: www.shop.test. A\n");
  await product.must("wait", "dnsrecord/shop.test-www-a", "--for", "Deleted", "--timeout", "60s");
  assert.deepEqual((await dns.resolver.resolve4("www.shop.test")).toSorted(), ["192.0.2.10", "192.0.2.11"]);
  const why = await product.must("why", "dnszone/shop.test");
  assert.match(why, /not ours and left alone: .*www\.shop\.test\. A/);
});
