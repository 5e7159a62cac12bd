import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { findProgram } from "../../scripts/find-program.mjs";
import type { DnsReader, DnsWriter } from "../../src/ports/dns.ts";
import { type DnsProxy, type Fault, startDnsProxy } from "../support/dns-proxy.ts";
import { type NameServer, startNameServer } from "../support/name-server.ts";
import { openRfc2136 } from "../support/rfc2136.ts";
import { requireReal } from "./requirement.ts";

const zone = "example.test.";
const other = "other.test.";
/** Long enough for a transfer of several messages. */
const lines = Array.from({ length: 4_000 }, (_, index) => `host-${index} A 192.0.2.${index % 250}`);
const records = lines.length + 3;

/** The code of an answer is in the last four bits of its flags. */
function withCode(message: Buffer, code: number): Buffer {
  const changed = Buffer.from(message);
  changed[3] = ((changed[3] ?? 0) & 0xf0) | code;
  return changed;
}

function tampered(message: Buffer): Buffer {
  const changed = Buffer.from(message);
  changed[200] = (changed[200] ?? 0) ^ 1;
  return changed;
}

for (const [name, program] of [
  ["BIND", "named"],
  ["Knot", "knotd"],
] as const) {
  describe(name, () => {
    const undo = new AsyncDisposableStack();
    let scene: { server: NameServer; proxy: DnsProxy; reader: DnsReader; writer: DnsWriter } | undefined;
    before(async () => {
      const path = findProgram(program);
      if (path === undefined) return;
      const server = undo.use(await startNameServer(name, path, [{ zone, lines }, { zone: other }]));
      const proxy = undo.use(await startDnsProxy(server.port));
      scene = { server, proxy, ...openRfc2136({ ...server, port: proxy.port }) };
    });
    after(() => undo.disposeAsync());
    const sceneOf = (t: TestContext) => {
      if (requireReal(t, name) === undefined || scene === undefined) return undefined;
      scene.proxy.fault = undefined;
      scene.proxy.asked = [];
      return { ...scene, signal: AbortSignal.timeout(30_000) };
    };

    test("a transfer in several messages is whole, and an unchanged serial costs none", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { reader, proxy, signal } = scene;
      let messages = 0;
      proxy.fault = (message) => {
        messages++;
        return message;
      };
      const first = await reader.zone(zone, signal);
      assert.equal(first?.length, records);
      assert.ok(messages > 2, `the answer came in ${messages} messages`);
      assert.deepEqual(proxy.asked, ["AXFR"]);
      assert.equal(await reader.zone(zone, signal), first, "the very list of the last read");
      assert.deepEqual(proxy.asked, ["AXFR", "SOA"]);
      await reader.zone(zone, signal, { fresh: true });
      assert.deepEqual(proxy.asked, ["AXFR", "SOA", "AXFR"]);
    });

    test("after a change only what changed is asked for, and it leads to the whole zone", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { reader, server, proxy, signal } = scene;
      await reader.zone(zone, signal, { fresh: true });
      server.nsupdate("update add new.example.test. 60 A 192.0.2.1", "update delete host-1.example.test. A");
      server.nsupdate("update delete host-2.example.test. A", "update add host-2.example.test. 77 A 192.0.2.2");
      proxy.asked = [];
      const changed = await reader.zone(zone, signal);
      assert.deepEqual(proxy.asked, ["SOA", "IXFR"]);
      const byKey = (sets: typeof changed) => (sets ?? []).map((set) => JSON.stringify(set)).toSorted();
      assert.deepEqual(byKey(changed), byKey(await reader.zone(zone, signal, { fresh: true })));
      assert.equal(changed?.find((set) => set.name.startsWith("host-2."))?.ttlSeconds, 77);
    });

    const faults: readonly (readonly [string, Fault, RegExp])[] = [
      [
        "SERVFAIL half-way",
        (message, index) => (index === 1 ? withCode(message, 2) : message),
        /SERVFAIL|cannot be used/,
      ],
      ["a cut connection", (message, index) => (index === 1 ? "cut" : message), /closed before the answer was whole/],
      [
        "a message that was changed on the way",
        (message, index) => (index === 1 ? tampered(message) : message),
        /cannot be used/,
      ],
      ["a message that is missing", (message, index) => (index === 1 ? "silent" : message), /cannot be used|closed/],
      [
        "an answer to another question",
        (message) => Buffer.concat([Buffer.of(0, 0), message.subarray(2)]),
        /another question|cannot be used/,
      ],
      ["an answer that is cut to nothing", (message) => message.subarray(0, 20), /cannot be used/],
    ];
    for (const [fault, spoil, words] of faults)
      test(`${fault} is an error, and never a shorter zone`, async (t) => {
        const scene = sceneOf(t);
        if (scene === undefined) return;
        const { reader, proxy, signal } = scene;
        proxy.fault = spoil;
        await assert.rejects(reader.zone(zone, signal, { fresh: true }), (error: Error & { code?: string }) => {
          assert.match(error.message, words);
          assert.match(error.code ?? "", /PROVIDER_UNAVAILABLE|TIMED_OUT/);
          return true;
        });
        proxy.fault = undefined;
        assert.ok(((await reader.zone(zone, signal))?.length ?? 0) >= records - 1);
      });

    test("a batch is carried out whole or not at all, and only on what was seen", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { server, writer, signal } = scene;
      const before = server.records(other);
      const set = (host: string, value: string) => ({
        name: `${host}.${other}`,
        type: "A",
        ttlSeconds: 60,
        values: [value],
      });
      await writer.change(other, [{ action: "replace", seen: "absent", recordSet: set("a", "192.0.2.1") }], signal);
      const stale = [
        { action: "replace", seen: "absent", recordSet: set("b", "192.0.2.2") },
        { action: "replace", seen: ["192.0.2.9"], recordSet: set("a", "192.0.2.3") },
      ] as const;
      await assert.rejects(writer.change(other, stale, signal), { code: "PRECONDITION_FAILED" });
      assert.deepEqual(
        server.records(other).filter((line) => / A 192/.test(line)),
        [`a.${other} 60 IN A 192.0.2.1`],
        "not even the half whose condition held",
      );
      await writer.change(other, [{ action: "delete", name: `a.${other}`, type: "A", seen: ["192.0.2.1"] }], signal);
      assert.deepEqual(server.records(other).slice(1), before.slice(1), "but for the serial it is as before");
    });

    test("the SOA and the zone's own NS are refused, and so is an empty record set", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { writer, signal, proxy } = scene;
      const soa = { name: other, type: "SOA", ttlSeconds: 60, values: ["a. b. 1 2 3 4 5"] };
      await assert.rejects(
        writer.change(other, [{ action: "replace", recordSet: soa }], signal),
        /belongs to the server/,
      );
      await assert.rejects(
        writer.change(other, [{ action: "delete", name: other, type: "NS" }], signal),
        /belongs to the server/,
      );
      const empty = { name: `a.${other}`, type: "A", ttlSeconds: 60, values: [] };
      await assert.rejects(writer.change(other, [{ action: "replace", recordSet: empty }], signal), /empty record set/);
      assert.deepEqual(proxy.asked, [], "nothing was sent");
    });

    test("a thousand record sets are more than one message, and all of them arrive", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { server, writer, signal, proxy } = scene;
      const changes = Array.from({ length: 1_000 }, (_, index) => ({
        action: "replace" as const,
        seen: "absent" as const,
        recordSet: { name: `many-${index}.${other}`, type: "TXT", ttlSeconds: 60, values: [`"${"x".repeat(60)}"`] },
      }));
      await writer.change(other, changes, signal);
      assert.ok(proxy.asked.length > 1 && proxy.asked.every((asked) => asked === "UPDATE"), proxy.asked.join());
      assert.equal(server.records(other).filter((line) => line.startsWith("many-")).length, 1_000);
    });

    test("a key that the server does not know, and a wrong secret, are refused in words", async (t) => {
      const scene = sceneOf(t);
      if (scene === undefined) return;
      const { server, signal } = scene;
      const unknown = openRfc2136({ ...server, keyName: "nobody" });
      await assert.rejects(unknown.reader.zone(zone, signal), { code: "CREDENTIAL_REFUSED" });
      const wrong = openRfc2136({ ...server, secret: Buffer.from("x".repeat(32)).toString("base64") });
      await assert.rejects(wrong.reader.zone(zone, signal), { code: "CREDENTIAL_REFUSED", message: /secret|key/ });
      const open = openRfc2136(server, { sentinelZone: "other.test" });
      assert.equal((await open.identity(signal)).sentinel, undefined);
      await open.claim?.({ installationId: "installation-1", incarnation: 3 }, signal);
      assert.deepEqual((await open.identity(signal)).sentinel, { installationId: "installation-1", incarnation: 3 });
    });
  });
}
