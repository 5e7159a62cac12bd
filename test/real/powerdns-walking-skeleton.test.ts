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

const zone = "example.test.";

/** One YAML document; JSON is YAML. */
function manifest(kind: string, metadata: object, spec: object): string {
  return `---\n${JSON.stringify({ apiVersion: "setpoint/v1", kind, metadata, spec })}\n`;
}

function address(name: string, ...values: readonly string[]): string {
  return manifest("DnsRecord", { name }, { zone: "example", name, type: "A", values, ttlSeconds: 60 });
}

/** The product, the server beside it, and short words for both. */
interface Scene {
  readonly dns: PowerDns;
  readonly must: Product["must"];
  readonly setpoint: Product["setpoint"];
  readonly apply: (...documents: readonly string[]) => Promise<string>;
  readonly ready: () => Promise<string>;
  readonly heldIds: () => Promise<readonly string[]>;
  /** What the server holds, asked through its own API. */
  readonly values: (name: string, type: string) => Promise<readonly string[] | undefined>;
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
  scene = sceneWith(dns, product, join(folder.path, "manifests.yaml"));
});
after(() => undo.disposeAsync());

function sceneWith(dns: PowerDns, product: Product, file: string): Scene {
  const { must, setpoint } = product;
  return {
    dns,
    must,
    setpoint,
    apply: (...documents) => {
      writeFileSync(file, documents.join(""));
      return must("apply", "-f", file);
    },
    ready: () => must("wait", "dnszone/example", "--timeout", "60s"),
    heldIds: async () => (await must("held", "list", "-o", "name")).split("\n").filter((line) => line !== ""),
    values: async (name, type) => {
      const found = (await dns.recordSets(zone)).find((set) => set.name === name && set.type === type);
      return found?.records?.map(({ content }) => content).sort();
    },
  };
}

/** Each test goes on from where the one before it ended: they are the steps of one walk. */
function sceneOf(t: TestContext): Scene | undefined {
  return requireReal(t, "PowerDNS") === undefined ? undefined : scene;
}

test("in observe mode it is looked at, and nothing is written", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, must, apply } = scene;
  await dns.createZone(zone);
  await dns.change(zone, [
    {
      name: `stranger.${zone}`,
      type: "A",
      ttl: 60,
      changetype: "REPLACE",
      records: [{ content: "192.0.2.99", disabled: false }],
    },
  ]);
  await must(
    "account",
    "add",
    "lab",
    "--provider",
    "powerdns",
    "--set",
    `url=${dns.apiUrl}`,
    "--credential",
    `file:${dns.keyFile}`,
  );
  const untouched = await dns.recordSets(zone);
  const printed = await apply(
    manifest(
      "DnsZone",
      { name: "example", mode: "observe" },
      { account: "lab", zone: "example.test", nameservers: ["ns1.example.test"] },
    ),
    address("www", "192.0.2.10", "192.0.2.11"),
    manifest(
      "DnsRecord",
      { name: "spf" },
      { zone: "example", name: "@", type: "TXT", values: ['v=spf1 include:"x" -all é'] },
    ),
    manifest(
      "DnsRecord",
      { name: "mail" },
      { zone: "example", name: "@", type: "MX", values: ["10 MAIL.example.test"] },
    ),
    ...Array.from({ length: 12 }, (_, index) => address(`host-${index}`, `192.0.2.${100 + index}`)),
  );
  assert.match(printed, /DnsZone\/example created/);
  const why = await until(
    "the first look",
    () => must("why", "dnszone/example"),
    (text) => text.includes("mode: "),
  );
  assert.match(why, /mode observe \(its own declaration\): it is looked at and nothing is written/);
  assert.match(why, /1 item there is not ours and left alone: stranger\.example\.test\. A/);
  assert.deepEqual(await dns.recordSets(zone), untouched);
  assert.deepEqual((await dns.call("GET", "/tsigkeys")).body, [], "not even a sentinel is left in observe mode");
});

test("in enforce mode what is declared is created, and the name server answers with it", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, must, apply, ready, values } = scene;
  await must("mode", "dnszone/example", "enforce");
  await ready();
  assert.deepEqual((await dns.resolver.resolve4("www.example.test")).sort(), ["192.0.2.10", "192.0.2.11"]);
  assert.deepEqual(await dns.resolver.resolve4("host-11.example.test"), ["192.0.2.111"]);
  const [mail] = await dns.resolver.resolveMx("example.test");
  assert.deepEqual([mail?.exchange, mail?.priority], ["mail.example.test", 10]);
  assert.equal((await values(zone, "TXT"))?.length, 1);
  const keys = (await dns.call("GET", "/tsigkeys")).body as { name: string }[];
  assert.match(keys[0]?.name ?? "", /^setpoint-sentinel\.1\./);
  assert.match(await apply(address("www", "192.0.2.10", "192.0.2.11")), /DnsRecord\/www unchanged/);
});

test("a hand edit through the server's own API is healed, and the record says what was seen", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, must, ready, values } = scene;
  await dns.change(zone, [
    {
      name: `www.${zone}`,
      type: "A",
      ttl: 60,
      changetype: "REPLACE",
      records: [{ content: "192.0.2.66", disabled: false }],
    },
    { name: `host-0.${zone}`, type: "A", changetype: "DELETE" },
  ]);
  await must("reconcile", "dnszone/example");
  await until(
    "the healed record",
    () => values(`www.${zone}`, "A"),
    (found) => found?.join() === "192.0.2.10,192.0.2.11",
  );
  await until(
    "the record that was taken away",
    () => values(`host-0.${zone}`, "A"),
    (found) => found?.join() === "192.0.2.100",
  );
  await ready();
  const why = await must("why", "dnsrecord/www");
  assert.match(
    why,
    /update www\.example\.test\. A: done.*\/values \["192\.0\.2\.66"\] → \["192\.0\.2\.10","192\.0\.2\.11"\]; declared by operator/,
  );
});

test("what the stranger made, the SOA and the zone's NS were never touched", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, values } = scene;
  assert.deepEqual(await dns.resolver.resolve4("stranger.example.test"), ["192.0.2.99"]);
  assert.deepEqual(await values(zone, "NS"), ["ns1.example.test."]);
  assert.match((await values(zone, "SOA"))?.[0] ?? "", /^ns1\.example\.test\. hostmaster\.example\.test\. /);
});

test("one deleted record goes; many deleted at once wait for a person", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, must, setpoint, ready, heldIds, values } = scene;
  await must("delete", "dnsrecord/host-11");
  await until(
    "the deleted record",
    () => values(`host-11.${zone}`, "A"),
    (found) => found === undefined,
  );
  await ready();
  // Paused while they are deleted one by one, so that they meet the guard together.
  const pause = (await must("pause", "dnszones/example", "--reason", "deleting many", "--level", "writes")).trim();
  for (let index = 0; index < 8; index++) await must("delete", `dnsrecord/host-${index}`);
  await must("resume", pause, "--yes");
  const [id] = await until("the held change", heldIds, (ids) => ids.length === 1);
  const shown = await must("held", "show", id ?? "");
  assert.match(shown, /guard delete-budget: 8 deletes, this subject's budget is 2 per cycle/);
  assert.match(shown, /numbers: .*asked 8, allowed 2/);
  const waited = await setpoint("wait", "dnszone/example", "--timeout", "1s");
  assert.equal(waited.code, 10, waited.stderr);
  assert.deepEqual(await dns.resolver.resolve4("host-7.example.test"), ["192.0.2.107"], "nothing of it was done");
});

test("an approval binds to the digest that was shown, and only that", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, must, setpoint, ready, heldIds } = scene;
  const [id = ""] = await heldIds();
  const wrong = await setpoint("approve", id, "--digest", "0123456789abcdef");
  assert.equal(wrong.code, 12, wrong.stderr);
  assert.match(wrong.stderr, /not what this digest names/);
  const { digest } = JSON.parse(await must("held", "show", id, "-o", "json")) as { digest: string };
  await must("approve", id, "--digest", digest);
  await ready();
  const left = (await dns.recordSets(zone))
    .map(({ name }) => name)
    .filter((name) => name.startsWith("host-"))
    .sort();
  assert.deepEqual(left, [`host-10.${zone}`, `host-8.${zone}`, `host-9.${zone}`]);
  await assert.rejects(dns.resolver.resolve4("host-3.example.test"), { code: "ENOTFOUND" });
  assert.match(await must("why", "dnszone/example"), /delete host-3\.example\.test\. A: done.*approved/);
  assert.equal((await setpoint("get", "dnsrecord", "host-3")).code, 6, "the tombstone went with the record");
});

test("a freeze stops writes, says so, and resuming shows what would run", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, must, setpoint, apply, ready } = scene;
  await must("freeze", "--reason", "provider incident", "--for", "10m");
  await apply(address("www", "192.0.2.20"));
  const why = await until(
    "the pause in the explanation",
    () => must("why", "dnszone/example"),
    (text) => text.includes("pause: "),
  );
  assert.match(why, /writes paused at platform by operator for another \d+ min: provider incident/);
  assert.match(why, /→ setpoint resume/);
  assert.deepEqual((await dns.resolver.resolve4("www.example.test")).sort(), ["192.0.2.10", "192.0.2.11"]);
  const unasked = await setpoint("resume");
  assert.equal(unasked.code, 64, "nobody can be asked, so it says which flag to add");
  assert.match(unasked.stderr, /would run: DnsZone\/example: 1 difference \(/);
  assert.match(unasked.stderr, /add --yes/);
  await must("resume", "--yes");
  await until(
    "the change after the freeze",
    () => dns.resolver.resolve4("www.example.test"),
    (found) => found.join() === "192.0.2.20",
  );
  await ready();
});

test("a server that is gone is unknown, never an empty zone; when it is back, work goes on", async (t) => {
  const scene = sceneOf(t);
  if (scene === undefined) return;
  const { dns, must } = scene;
  const gone = await dns.call("DELETE", `/zones/${zone}`);
  assert.equal(gone.status, 204);
  await must("reconcile", "dnszone/example");
  const why = await until(
    "the missing zone",
    () => must("why", "dnszone/example"),
    (text) => text.includes("DEPENDENCY_NOT_READY"),
  );
  assert.match(why, /The zone example\.test\. does not exist on the server of account 'lab': create it there/);
  await dns.createZone(zone);
  await must("reconcile", "dnszone/example");
  await until(
    "the records, made again",
    () => dns.resolver.resolve4("www.example.test"),
    (found) => found.join() === "192.0.2.20",
  );
});
