import assert from "node:assert/strict";
import { test } from "node:test";
import type { InspectContext, Seen, Subject } from "../../../src/kernel/loop.ts";
import { inspectPropagation } from "../../../src/kinds/dns-zone/propagation.ts";
import { propagationReportSchema } from "../../../src/kinds/dns-zone/propagation-report.ts";
import type { RecordSet } from "../../../src/kinds/dns-zone/record-set.ts";
import { type DnsZoneSpec, dnsZoneSchema } from "../../../src/kinds/dns-zone/schema.ts";
import type { DnsAnswer, DnsQuestion } from "../../../src/ports/dns-queries.ts";
import type { DnsReader } from "../../../src/ports/dns.ts";
import type { Json } from "../../../src/ports/json.ts";
import { hostAndPort } from "../../../src/providers/dns-query/queries.ts";

const hour = 3_600_000;

interface World {
  /** What each server has: the serial, and values where they are not those of the zone. */
  readonly servers: Readonly<
    Record<string, { readonly serial: number; readonly values?: Readonly<Record<string, string>> }>
  >;
  readonly spec?: object;
  readonly seen: readonly Seen<RecordSet>[];
  readonly nowMs?: number;
  readonly before?: Json | undefined;
  readonly written?: Readonly<Record<string, number>>;
}

function address(host: string, value: string): Seen<RecordSet> {
  const item = { name: `${host}.example.test.`, type: "A", ttlSeconds: 300, values: [value] };
  const key = `${item.name} A`;
  return { key, externalId: key, item };
}

async function inspect(world: World) {
  const asked: DnsQuestion[] = [];
  const ask = async (question: DnsQuestion): Promise<DnsAnswer> => {
    asked.push(question);
    const server = world.servers[question.server];
    if (server === undefined) return { answered: false, message: "no whole answer within 2000 ms" };
    const key = `${question.name} ${question.type}`;
    const own = question.type === "SOA" ? `ns1. host. ${server.serial} 1 1 1 1` : server.values?.[key];
    const value = own ?? world.seen.find((one) => one.key === key)?.item.values[0];
    return { answered: true, authoritative: true, values: value === undefined || value === "" ? [] : [value] };
  };
  const spec: DnsZoneSpec = dnsZoneSchema.parse({
    account: "lab",
    zone: "example.test",
    propagation: { servers: Object.keys(world.servers) },
    ...world.spec,
  });
  const recordSet: DnsReader["recordSet"] = async ({ name, type }) => ({
    name,
    type,
    ttlSeconds: 300,
    values: type === "SOA" ? ["ns1. host. 7 1 1 1 1"] : ["ns1.example.test.", "ns2.elsewhere.test."],
    disabledValues: [],
  });
  const reader = { queries: { ask, addresses: async () => ["198.51.100.2"] }, recordSet } as unknown as DnsReader;
  const signal = new AbortController().signal;
  const ctx: InspectContext<DnsReader> = {
    reader,
    signal,
    nowMs: world.nowMs ?? 100 * hour,
    fresh: false,
    before: world.before,
    account: undefined,
    writtenAtMs: () => new Map(Object.entries(world.written ?? {})),
    read: async (_what, work) => await work(signal),
  };
  const subject: Subject<DnsZoneSpec> = {
    uid: "z",
    name: "example",
    scope: "organization/o",
    organizationId: "o",
    generation: 1,
    spec,
  };
  const answer = await inspectPropagation(ctx, subject, world.seen);
  return { answer, asked, report: propagationReportSchema.safeParse(answer?.report).data };
}

const two = { "192.0.2.1": { serial: 7 }, "192.0.2.2": { serial: 7 } };

test("without propagation in the spec nobody is asked, and nothing is reported", async () => {
  const { answer, asked } = await inspect({
    servers: two,
    seen: [address("a", "192.0.2.9")],
    spec: { propagation: undefined },
  });
  assert.deepEqual([answer, asked], [{ conditions: [], report: null }, []]);
});

test("a zone of 50,000 record sets costs a bounded number of questions, and the same answers report the same", async () => {
  const seen = Array.from({ length: 50_000 }, (_, index) => address(`h${index}`, `192.0.2.${index % 250}`));
  const first = await inspect({ servers: two, seen });
  assert.equal(first.asked.length, 2 * (1 + 10));
  assert.deepEqual(first.report?.sets, [], "what is everywhere and was not changed lately is not listed");
  assert.deepEqual(first.answer?.conditions, []);
  const later = await inspect({
    servers: two,
    seen,
    nowMs: 100 * hour + 300_000,
    before: first.answer?.report,
  });
  assert.deepEqual(later.answer?.report, first.answer?.report, "nothing is written for it");
  const names = (asked: readonly DnsQuestion[]) =>
    new Set(asked.filter(({ type }) => type === "A").map(({ name }) => name));
  assert.equal(names(first.asked).intersection(names(later.asked)).size, 0, "other ones come in turn");
});

test("what was written within the hour comes first and is listed, the newest before the others", async () => {
  const seen = Array.from({ length: 40 }, (_, index) => address(`h${index}`, "192.0.2.9"));
  const written = Object.fromEntries(seen.map(({ key }, index) => [key, 100 * hour - index * 120_000]));
  const { report } = await inspect({ servers: two, seen, written });
  assert.deepEqual(
    report?.sets.map(({ key }) => key),
    seen.slice(0, 10).map(({ key }) => key),
  );
  const old = Object.fromEntries(seen.map(({ key }) => [key, 98 * hour]));
  assert.deepEqual((await inspect({ servers: two, seen, written: old })).report?.sets, []);
});

test("an older serial and an older answer are a split that keeps its beginning and is looked at again soon", async () => {
  const seen = [address("www", "192.0.2.9")];
  const servers = { ...two, "192.0.2.2": { serial: 6, values: { "www.example.test. A": "192.0.2.8" } } };
  const first = await inspect({ servers, seen });
  assert.deepEqual(
    first.answer?.conditions.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    ["Split ServersOld: 192.0.2.2 (serial 6) of 2 servers still have an older zone; seen with www.example.test. A"],
  );
  assert.equal(first.answer?.againInMs, 30_000);
  assert.deepEqual(first.report?.sets[0]?.answers, [
    { server: "192.0.2.1", state: "current", answer: "192.0.2.9", sinceMs: 100 * hour },
    { server: "192.0.2.2", state: "old", answer: "192.0.2.8", sinceMs: 100 * hour },
  ]);
  const later = await inspect({ servers, seen, nowMs: 101 * hour, before: first.answer?.report });
  assert.deepEqual(later.answer?.report, first.answer?.report);
  const healed = await inspect({ servers: two, seen, nowMs: 102 * hour, before: later.answer?.report });
  assert.deepEqual([healed.answer?.conditions, healed.report?.sets], [[], []]);
});

test("a hidden primary that is ahead of every server is a split of all of them", async () => {
  const servers = { "192.0.2.1": { serial: 6 }, "192.0.2.2": { serial: 6 } };
  const { report } = await inspect({ servers, seen: [] });
  assert.deepEqual(
    report?.servers.map(({ state }) => state),
    ["old", "old"],
  );
  const wrapped = await inspect({
    servers: { "192.0.2.1": { serial: 4_294_967_290 }, "192.0.2.2": { serial: 7 } },
    seen: [],
  });
  assert.deepEqual(
    wrapped.report?.servers.map(({ state }) => state),
    ["old", "current"],
    "serials go round",
  );
});

test("a silent server is named, asked for nothing more, and is no split; a resolver that is behind is one of its own", async () => {
  const seen = [address("www", "192.0.2.9")];
  const spec = { propagation: { servers: ["192.0.2.1", "192.0.2.3"], resolvers: ["192.0.2.53"] } };
  const servers = { "192.0.2.1": { serial: 7 }, "192.0.2.53": { serial: 7, values: { "www.example.test. A": "" } } };
  const { answer, asked } = await inspect({ servers, seen, spec });
  assert.deepEqual(
    answer?.conditions.map(({ type, reason }) => `${type} ${reason}`),
    ["Split ResolversOld", "Silent NoAnswer"],
  );
  assert.equal(asked.filter(({ server }) => server === "192.0.2.3").length, 1);
  assert.deepEqual(
    new Set(asked.filter(({ recursive }) => recursive).map(({ server }) => server)),
    new Set(["192.0.2.53"]),
  );
});

test("the servers are those of the zone's NS records, by their address in the zone where they have one", async () => {
  const servers = { "192.0.2.77": { serial: 7 }, "198.51.100.2": { serial: 7 } };
  const { report } = await inspect({ servers, seen: [address("ns1", "192.0.2.77")], spec: { propagation: {} } });
  assert.deepEqual(
    report?.servers.map(({ server, state }) => `${server} ${state}`),
    ["ns1.example.test. current", "ns2.elsewhere.test. current"],
  );
});

test("servers are named by address, with or without a port", () => {
  assert.deepEqual(hostAndPort("192.0.2.1"), { server: "192.0.2.1", port: 53 });
  assert.deepEqual(hostAndPort("192.0.2.1:5353"), { server: "192.0.2.1", port: 5353 });
  assert.deepEqual(hostAndPort("[2001:db8::1]:5353"), { server: "2001:db8::1", port: 5353 });
  assert.deepEqual(hostAndPort("2001:db8::1"), { server: "2001:db8::1", port: 53 });
  assert.equal(
    dnsZoneSchema.safeParse({ account: "lab", zone: "a.test", propagation: { servers: ["ns1"] } }).success,
    false,
  );
});
