import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { RetryableError } from "../../../src/kernel/errors.ts";
import { defineKind } from "../../../src/kernel/kind.ts";
import { defineLoop } from "../../../src/kernel/loop.ts";
import { recordFits } from "../../../src/kinds/dns-record/fits.ts";
import { dnsRecordKind } from "../../../src/kinds/dns-record/kind.ts";
import { dnsRecordSchema } from "../../../src/kinds/dns-record/schema.ts";
import { recordReport } from "../../../src/kinds/dns-record/report.ts";
import { dnsZoneKind } from "../../../src/kinds/dns-zone/kind.ts";
import { hostKind } from "../../../src/kinds/host/kind.ts";
import { Bench } from "../../kit/index.ts";
import { CloudLab } from "../../support/cloud-lab.ts";
import { MemoryDns } from "../../support/memory-dns.ts";
import { around } from "../../support/surroundings.ts";

const zone = "example.test.";
const spec = { zone: "example", name: "www", type: "A", valuesFrom: [{ kind: "Source", name: "web", field: "ipv4" }] };

/** What somebody else's status shows: an address, none although all was seen, half a look, or no look at all. */
type Shown = `192.0.2.${number}` | "empty" | "partial" | "failed";

async function scene() {
  const dns = new MemoryDns(zone);
  const source: { shows: Shown } = { shows: "192.0.2.1" };
  const loop = defineLoop<{ readonly size: number }, { readonly ip: string }>({
    kind: "Source",
    everySeconds: 60,
    desired: () => ({ known: true, items: [], zero: true }),
    observe: async (ctx) => {
      const { shows } = source;
      if (shows === "failed") throw new RetryableError("PROVIDER_UNAVAILABLE", "the source does not answer");
      const seen = await ctx.look(async () =>
        shows === "empty" || shows === "partial" ? [] : [{ key: "one", externalId: "one", item: { ip: shows } }],
      );
      return shows === "partial" ? { ...seen, completeness: "partial", proof: "half of it" } : seen;
    },
    read: async () => "absent",
    same: () => [],
    publishes: (seen) => (seen[0] === undefined ? {} : { ipv4: [seen[0].item.ip] }),
    create: async () => ({ externalId: "one" }),
    update: async () => {},
    remove: async () => {},
  });
  const sourceKind = defineKind<{ readonly size: number }>({
    kind: "Source",
    plural: "sources",
    schema: z.strictObject({ size: z.int() }),
    permission: "project.source",
    scopes: ["organization"],
    modeRequired: false,
    accounts: () => [],
    links: () => [],
    publishes: { ipv4: "ipv4" },
    loop,
  });
  const bench = await Bench.start({
    kinds: [dnsZoneKind, dnsRecordKind, sourceKind] as never,
    providers: [dns.provider()],
    accounts: [{ name: "lab", provider: "memory" }],
  });
  await bench.declare("Source/web", { size: 1 });
  await bench.declare("DnsZone/example", { account: "lab", zone: "example.test" }, { mode: "enforce" });
  const served = () => dns.sets.get(`www.${zone} A`)?.values;
  const stale = () => bench.statuses("DnsZone/example")[0]?.stale ?? [];
  return { bench, dns, source, served, stale, [Symbol.asyncDispose]: () => bench.stop() };
}

describe("a value that comes from another resource", () => {
  test("is written, and follows without anybody asking", async () => {
    await using world = await scene();
    await world.bench.declare("DnsRecord/www", spec);
    await world.bench.pass({ minutes: 2 });
    assert.deepEqual(world.served(), ["192.0.2.1"]);
    world.source.shows = "192.0.2.2";
    // A look at the source and one at the zone: the zone's own interval is five minutes, so that it was woken.
    await world.bench.pass({ seconds: 75 });
    assert.deepEqual(world.served(), ["192.0.2.2"]);
    assert.match(world.bench.ready("DnsZone/example"), /Converged/);
  });

  test("is held while the source shows nothing, marked stale since when, and goes on after", async () => {
    await using world = await scene();
    await world.bench.declare("DnsRecord/www", spec);
    await world.bench.pass({ minutes: 2 });
    world.source.shows = "empty";
    await world.bench.pass({ minutes: 2 });
    const [held] = world.stale();
    assert.equal(held?.key, `www.${zone} A`);
    assert.match(held?.reason ?? "", /Source\/web shows no ipv4/);
    await world.bench.pass({ hours: 2 });
    assert.deepEqual(world.served(), ["192.0.2.1"], "an empty source never deletes");
    assert.equal(world.stale()[0]?.sinceMs, held?.sinceMs, "since when stands");
    assert.deepEqual(world.bench.heldChanges(), [], "nobody is asked to approve a deletion either");
    world.source.shows = "192.0.2.9";
    await world.bench.pass({ minutes: 3 });
    assert.deepEqual(world.served(), ["192.0.2.9"]);
    assert.deepEqual(world.stale(), []);
  });

  test("that was never known is not written, and what is there is left alone", async () => {
    await using world = await scene();
    world.source.shows = "empty";
    world.dns.put(`www.${zone}`, "A", ["198.51.100.1"]);
    await world.bench.declare("DnsRecord/www", spec);
    await world.bench.pass({ hours: 2 });
    assert.deepEqual(world.served(), ["198.51.100.1"]);
    assert.equal(world.stale().length, 1);
  });

  test("among others keeps the whole record set as it was: none of the values is lost", async () => {
    await using world = await scene();
    await world.bench.declare("DnsRecord/www", { ...spec, values: ["192.0.2.50"] });
    await world.bench.pass({ minutes: 2 });
    assert.deepEqual(world.served(), ["192.0.2.1", "192.0.2.50"]);
    world.source.shows = "empty";
    await world.bench.pass({ minutes: 20 });
    assert.deepEqual(world.served(), ["192.0.2.1", "192.0.2.50"]);
  });

  test("an empty source never deletes, whatever it shows in whatever order", async () => {
    const shown = fc.constantFrom<Shown>("192.0.2.1", "192.0.2.2", "192.0.2.3", "empty", "partial", "failed");
    await fc.assert(
      fc.asyncProperty(fc.array(shown, { minLength: 1, maxLength: 8 }), async (sequence) => {
        await using world = await scene();
        await world.bench.declare("DnsRecord/www", spec);
        await world.bench.pass({ minutes: 2 });
        let last = "192.0.2.1";
        for (const shows of sequence) {
          world.source.shows = shows;
          await world.bench.pass({ minutes: 6 });
          if (/^\d/.test(shows)) last = shows;
          assert.deepEqual(world.served(), [last], `after ${sequence.join(", ")}`);
        }
      }),
      { numRuns: 10 },
    );
  });
});

test("a record shows since when its value is held", () => {
  const whole = { spec: { account: "lab", zone: "example.test" }, report: undefined };
  const parsed = dnsRecordSchema.parse(spec);
  const stale = [{ key: `www.${zone} A`, reason: "Source/web shows no ipv4", sinceMs: 7 }];
  const shown = recordReport(parsed, { ...whole, stale });
  assert.deepEqual(
    shown?.conditions.map(({ type, sinceMs }) => [type, sinceMs]),
    [["Stale", 7]],
  );
  assert.match(shown?.conditions[0]?.message ?? "", /the last good value stands: Source\/web shows no ipv4/);
  assert.equal(recordReport(parsed, { ...whole, stale: [{ ...stale[0], key: "other A" } as never] }), undefined);
});

test("what cannot be taken is refused when it is declared", () => {
  const problems = (change: object) =>
    recordFits(dnsRecordSchema.parse({ ...spec, ...change }), {
      ...around,
      publishes: (kind) => (kind === "Host" ? hostKind.publishes : undefined),
    })
      .map(({ pointer, message }) => `${pointer}: ${message}`)
      .join();
  const from = (field: string, kind = "Host") => ({ valuesFrom: [{ kind, name: "web", field }] });
  assert.equal(problems(from("ipv4")), "");
  assert.equal(problems({ ...from("ipv6"), type: "AAAA" }), "");
  assert.match(problems(from("ipv6")), /^\/spec\/valuesFrom\/0\/field: ipv6 is an ipv6 address, and A holds ipv4/);
  assert.match(problems(from("name")), /a Host shows no "name", only ipv4, ipv6/);
  assert.match(problems(from("ipv4", "Hosts")), /^\/spec\/valuesFrom\/0\/kind: "Hosts" is no kind that shows values/);
  const refused = (change: object) => dnsRecordSchema.safeParse({ ...spec, ...change }).error?.issues[0]?.message ?? "";
  assert.match(refused({ type: "TXT" }), /only A and AAAA/);
  assert.match(refused({ valuesFrom: undefined }), /at least one value/);
  assert.deepEqual(dnsRecordKind.references?.(dnsRecordSchema.parse(spec)), [
    { kind: "Source", name: "web", scope: undefined, pointer: "/spec/valuesFrom/0/name" },
  ]);
});

test("a record takes the address of a host, and holds it when the server is gone", async () => {
  const lab = await CloudLab.open({ pace: 0.1 });
  const { bench } = lab;
  const host = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };
  await bench.declare("Host/web-1", host);
  const { state, message } = await lab.finish(await lab.start("host.create", "Host/web-1"));
  assert.equal(state, "succeeded", message);
  lab.console("POST", "/zones", { name: "example.test", mode: "primary" });
  await bench.declare("DnsZone/example", { account: "demo", zone: "example.test" }, { mode: "enforce" });
  for (const [type, field] of [
    ["A", "ipv4"],
    ["AAAA", "ipv6"],
  ] as const) {
    const valuesFrom = [{ kind: "Host", name: "web-1", field }];
    await bench.declare(`DnsRecord/www-${field}`, { zone: "example", name: "www", type, valuesFrom });
  }
  await bench.pass({ minutes: 12 });
  const servers = lab.list<{ id: number; public_net: Record<"ipv4" | "ipv6", { ip: string }> }>("servers");
  const [server = assert.fail("no server")] = servers;
  const served = (type: string) => {
    const { rrset } = lab.console("GET", `/zones/example.test/rrsets/www/${type}`) as {
      rrset: { records: readonly { value: string }[] };
    };
    return rrset.records.map(({ value }) => value);
  };
  const expected = [[server.public_net.ipv4.ip], [server.public_net.ipv6.ip.replace("::/64", "::1")]];
  assert.deepEqual([served("A"), served("AAAA")], expected);
  lab.console("DELETE", `/servers/${server.id}`);
  await bench.pass({ hours: 2 });
  assert.deepEqual([served("A"), served("AAAA")], expected);
  assert.equal(bench.statuses("DnsZone/example")[0]?.stale?.length, 2);
  await bench.stop();
});
