import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { everyRecordType } from "../support/every-record-type.ts";
import { type NameServer, startNameServer } from "../support/name-server.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type Product, startProduct, until } from "../support/product.ts";
import { requireReal } from "./requirement.ts";

const zone = "example.test.";
const undo = new AsyncDisposableStack();
let product: Product | undefined;
let folder = "";

before(async () => {
  if (findProgram("named") === undefined && findProgram("knotd") === undefined) return;
  folder = undo.use(temporaryFolder()).path;
  const started = startProduct({ dataDirectory: join(folder, "data"), port: await freePort() });
  undo.defer(async () => void (await started.end("SIGTERM")));
  await started.ready();
  product = started;
});
after(() => undo.disposeAsync());

function manifest(kind: string, metadata: object, spec: object): string {
  return `---\n${JSON.stringify({ apiVersion: "setpoint/v1", kind, metadata, spec })}\n`;
}

for (const [name, program] of [
  ["BIND", "named"],
  ["Knot", "knotd"],
] as const) {
  /** Each test goes on from where the one before it ended: they are the steps of one walk. */
  describe(name, () => {
    const account = name.toLowerCase();
    const resource = `zone-on-${account}`;
    const ended = new AsyncDisposableStack();
    let server: NameServer | undefined;
    before(async () => {
      const path = findProgram(program);
      const lines = ["stranger A 192.0.2.99"];
      if (path !== undefined) server = ended.use(await startNameServer(name, path, [{ zone, lines }]));
    });
    after(() => ended.disposeAsync());

    const sceneOf = (t: TestContext) => {
      if (requireReal(t, name) === undefined || server === undefined || product === undefined) return undefined;
      const { must, setpoint } = product;
      const file = join(folder, `${account}.yaml`);
      const apply = (...documents: readonly string[]) => {
        writeFileSync(file, documents.join(""));
        return must("apply", "-f", file);
      };
      const record = (called: string, spec: object) =>
        manifest("DnsRecord", { name: `${account}-${called}` }, { zone: resource, ...spec });
      const ready = () => must("wait", `dnszone/${resource}`, "--timeout", "60s");
      return { server, must, setpoint, apply, record, ready };
    };

    test("connect looks and writes nothing", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { server: dns, setpoint } = scene;
      const before = dns.records(zone);
      const where = ["--name", account, "--port", String(dns.port), "--key-name", dns.keyName];
      const unasked = await setpoint("connect", "rfc2136", ...where, "--zone", "example.test");
      assert.equal(unasked.code, 64, "without a terminal nobody is asked for the secret");
      const added = await setpoint("connect", "rfc2136", ...where, "--secret-file", dns.keyFile);
      assert.equal(added.code, 0, added.stderr);
      assert.match(added.stderr, /Name the zones to look at: setpoint connect rfc2136 --name/);
      assert.deepEqual(dns.records(zone), before);
    });

    test("every type of record is made, read back as it was declared, and planned for no more", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { server: dns, must, apply, record, ready } = scene;
      await apply(
        manifest(
          "DnsZone",
          { name: resource, mode: "enforce" },
          { account, zone: "example.test", nameservers: ["ns1.example.test"] },
        ),
        ...everyRecordType.map((spec, index) => record(`every-${index}`, spec)),
      );
      await ready();
      await must("reconcile", `dnszone/${resource}`);
      await ready();
      assert.match(await must("plan", `dnszone/${resource}`), /: done\n$/);
      assert.deepEqual((await dns.resolver.resolve4("www.example.test")).sort(), ["192.0.2.10", "192.0.2.11"]);
      const texts = await dns.resolver.resolveTxt("long.example.test");
      assert.ok(texts.some((strings) => strings.join("") === `k=${"0123456789".repeat(70)}`));
      const lines = dns.records(zone);
      assert.ok(lines.includes("stranger.example.test. 300 IN A 192.0.2.99"), "what is not ours stays");
      assert.ok(lines.some((line) => line.startsWith("never-cached.example.test. 0 IN A")));
      for (const type of ["MX", "SRV", "CAA", "PTR", "SVCB", "HTTPS", "TLSA", "NS", "CNAME", "AAAA"])
        assert.ok(
          lines.some((line) => line.split(" ")[3] === type),
          `${type} is served`,
        );
    });

    test("an edit by hand is healed; a deleted record goes; the serial only grew by what was changed", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { server: dns, must, apply, record, ready } = scene;
      dns.nsupdate(
        "update delete www.example.test. A",
        "update add www.example.test. 60 A 192.0.2.66",
        "update delete _sip._tcp.example.test. SRV",
        "update add other.example.test. 60 A 192.0.2.67",
      );
      await must("reconcile", `dnszone/${resource}`);
      await until(
        "the healed records",
        async () => dns.records(zone),
        (lines) =>
          lines.includes("www.example.test. 60 IN A 192.0.2.10") &&
          !lines.some((line) => line.endsWith("192.0.2.66")) &&
          lines.some((line) => line.startsWith("_sip._tcp.example.test.")),
      );
      await ready();
      assert.ok(
        dns.records(zone).some((line) => line.startsWith("other.example.test.")),
        "nobody declared it",
      );
      await apply(record("every-0", { name: "www", type: "A", values: ["192.0.2.20"], ttlSeconds: 60 }));
      await ready();
      assert.deepEqual(await dns.resolver.resolve4("www.example.test"), ["192.0.2.20"]);
      await must("delete", `dnsrecord/${account}-every-1`);
      await until(
        "the deleted record",
        async () => dns.records(zone),
        (lines) => !lines.some((line) => line.startsWith("never-cached.")),
      );
      await ready();
      const serial = (await dns.resolver.resolveSoa("example.test")).serial;
      await must("reconcile", `dnszone/${resource}`);
      await ready();
      assert.equal((await dns.resolver.resolveSoa("example.test")).serial, serial, "a look changes nothing");
    });
  });
}
