import assert from "node:assert/strict";
import { test } from "node:test";
import { EngineError } from "../../../src/kernel/errors.ts";
import type { DnsChange, DnsZoneReader, DnsZoneWriter } from "../../../src/ports/dns.ts";
import type { JsonObject } from "../../../src/ports/json.ts";
import type { ProviderAccount } from "../../../src/ports/provider.ts";
import { everyRecordType } from "../../support/every-record-type.ts";
import type { FirstSet } from "../../support/dns-outside.ts";
import { type HetznerDnsOutside, startHetznerDns } from "../../support/hetzner-dns-outside.ts";
import { startZoneBench } from "../../support/zone-bench.ts";
import { becomes, widen } from "../../support/zone-property.ts";

const zone = "example.test.";
const { signal } = new AbortController();

function open({ provider, settings }: HetznerDnsOutside): ProviderAccount<DnsZoneReader, DnsZoneWriter> {
  const account = { id: "a", organizationId: "o", name: "a", provider: provider.name, settings };
  const record = { ...account, credentialRef: "env:SECRET", fingerprint: undefined, claimedIncarnation: undefined };
  return provider.open(record) as ProviderAccount<DnsZoneReader, DnsZoneWriter>;
}

const put = (host: string, values: readonly string[], change: Partial<DnsChange> = {}, ttlSeconds = 300) =>
  ({
    action: "replace",
    recordSet: { name: `${host}.${zone}`, type: "A", ttlSeconds, values },
    ...change,
  }) as DnsChange;

const hosts = (count: number): readonly FirstSet[] =>
  Array.from({ length: count }, (_, index) => ({
    host: `host-${index}`,
    ttlSeconds: 300,
    type: "A",
    value: `192.0.2.${index % 250}`,
  }));

const refusal = (code: string, words: RegExp) => (thrown: unknown) =>
  thrown instanceof EngineError && thrown.code === code && words.test(thrown.message);

test("a zone of many pages is read whole, and not again while its serial stands", async () => {
  const outside = startHetznerDns(hosts(950));
  const { reader, writer } = open(outside);
  assert.equal((await reader.zone(zone, signal))?.length, 952);
  const before = { ...outside.calls() };
  const first = await reader.zone(zone, signal);
  assert.equal(outside.calls().calls - before.calls, 1);
  assert.equal(outside.calls().transfers, before.transfers);
  await writer.change(zone, [put("host-1", ["198.51.100.1"])], signal);
  const next = await reader.zone(zone, signal);
  assert.notEqual(next, first);
  assert.deepEqual(next?.find(({ name }) => name === `host-1.${zone}`)?.values, ["198.51.100.1"]);
  assert.equal(await reader.zone("other.test.", signal), undefined, "only the API itself says that there is none");
  assert.deepEqual(outside.faults, []);
});

for (const [what, fault] of [
  ["ends in its middle", { kind: "half-list" }],
  ["says that more is there than came", { kind: "half-list", total: "kept" }],
  ["repeats a page", { kind: "repeated-page" }],
  ["shows one twice", { kind: "duplicate-page" }],
  ["lags behind", { kind: "stale-list", ageSeconds: 60 }],
  ["fails on its way", { kind: "error", chance: 0.5 }],
  ["is not allowed any more", { kind: "rate-limit", retryAfterSeconds: 30 }],
] as const) {
  test(`a list that ${what} says nothing`, async () => {
    const outside = startHetznerDns(hosts(450));
    const { reader, writer } = open(outside);
    await writer.change(zone, [put("new", ["192.0.2.1"])], signal);
    outside.place({ ...fault, method: "GET", path: "/rrsets$" });
    await assert.rejects(reader.zone(zone, signal), (thrown) => thrown instanceof EngineError);
    outside.repair();
    assert.equal((await reader.zone(zone, signal))?.length, 453);
  });
}

test("a record set is written where it is as last seen, its labels and comments of others left alone", async () => {
  const outside = startHetznerDns();
  const { reader, writer } = open(outside);
  const path = "/zones/example.test/rrsets";
  outside.ask("POST", path, { name: "www", type: "A", labels: { team: "web" }, records: [{ value: "192.0.2.1" }] });
  await writer.change(zone, [put("www", ["192.0.2.2"], { seen: ["192.0.2.1"] }, 120)], signal);
  const { rrset } = outside.ask("GET", `${path}/www/A`) as { rrset: JsonObject };
  assert.deepEqual(rrset["labels"], { team: "web" });
  assert.equal(rrset["ttl"], 120);
  for (const [change, words] of [
    [put("www", ["192.0.2.3"], { seen: ["192.0.2.1"] }), /not what was last seen/],
    [put("www", ["192.0.2.3"], { seen: "absent" }), /not what was last seen/],
    [put("new", ["192.0.2.3"], { seen: ["192.0.2.1"] }), /not what was last seen/],
    [{ action: "delete", name: `www.${zone}`, type: "A", seen: ["192.0.2.9"] } as const, /not what was last seen/],
  ] as const)
    await assert.rejects(writer.change(zone, [change], signal), refusal("PRECONDITION_FAILED", words));
  const { calls } = outside.calls();
  await writer.change(zone, [put("www", ["192.0.2.2"], { seen: ["192.0.2.1"] }, 120)], signal);
  assert.equal(outside.calls().calls - calls, 1, "what is so already is read, and not written");
  const seen = await reader.recordSet({ zone, name: `www.${zone}`, type: "A" }, signal);
  assert.deepEqual(typeof seen === "object" && [seen.ttlSeconds, seen.values], [120, ["192.0.2.2"]]);
  assert.equal(await reader.recordSet({ zone, name: `no.${zone}`, type: "A" }, signal), "absent");
  const elsewhere = { zone: "other.test.", name: "a.other.test.", type: "A" };
  assert.equal(await reader.recordSet(elsewhere, signal), "no-zone");
  await writer.change(zone, [{ action: "delete", name: `www.${zone}`, type: "A", seen: ["192.0.2.2"] }], signal);
  await writer.change(zone, [{ action: "delete", name: `www.${zone}`, type: "A" }], signal);
  assert.equal(await reader.recordSet({ zone, name: `www.${zone}`, type: "A" }, signal), "absent");
  assert.deepEqual(outside.faults, []);
});

test("nothing empty is ever written, and nothing without a name is asked for", async () => {
  const { reader, writer } = open(startHetznerDns());
  const refused = refusal("WILDCARD_REFUSED", /./);
  await assert.rejects(writer.change(zone, [put("www", [])], signal), refused);
  await assert.rejects(writer.change(zone, [{ action: "delete", name: "", type: "A" }], signal), refused);
  await assert.rejects(writer.change(zone, [put("www", ["192.0.2.1"]), put("x", [])], signal), refused);
  assert.equal(await reader.recordSet({ zone, name: `www.${zone}`, type: "A" }, signal), "absent", "nor half of it");
  await assert.rejects(async () => await reader.zone(".", signal), refused);
  await assert.rejects(async () => await reader.recordSet({ zone, name: "", type: "A" }, signal), refused);
  await assert.rejects(async () => await writer.deleteZone("", signal), refused);
});

test("what is protected at the provider is locked, and a refusal says so", async () => {
  const outside = startHetznerDns(hosts(1));
  const { reader, writer } = open(outside);
  outside.ask("POST", "/zones/example.test/rrsets/host-0/A/actions/change_protection", { change: true });
  const seen = (await reader.zone(zone, signal, { fresh: true }))?.find(({ name }) => name === `host-0.${zone}`);
  assert.match(seen?.lockedBy ?? "", /protection/);
  await assert.rejects(
    writer.change(zone, [put("host-0", ["192.0.2.9"])], signal),
    refusal("PROVIDER_REFUSED", /protected/),
  );
});

test("names in values that end without a dot lie in the zone", async () => {
  const outside = startHetznerDns();
  const path = "/zones/example.test/rrsets";
  outside.ask("POST", path, { name: "www", type: "CNAME", records: [{ value: "web" }] });
  outside.ask("POST", path, {
    name: "@",
    type: "MX",
    records: [{ value: "10 mail" }, { value: "20 mx.example.net." }],
  });
  const found = await open(outside).reader.zone(zone, signal);
  const values = (type: string) => found?.find((set) => set.type === type)?.values;
  assert.deepEqual(values("CNAME"), ["web.example.test."]);
  assert.deepEqual(values("MX"), ["10 mail.example.test.", "20 mx.example.net."]);
});

test("where a later record set of a call fails, nobody takes the whole for undone", async () => {
  const outside = startHetznerDns();
  const { writer } = open(outside);
  outside.place({ kind: "error", status: 422, code: "invalid_input", method: "POST", path: "/b/A|rrsets$", times: 1 });
  await writer.change(zone, [put("a", ["192.0.2.1"])], signal).catch(() => {});
  outside.ask("POST", "/zones/example.test/rrsets", { name: "b", type: "CNAME", records: [{ value: "x.test." }] });
  await assert.rejects(
    writer.change(zone, [put("a", ["192.0.2.1"]), put("b", ["192.0.2.1"])], signal),
    (thrown) => thrown instanceof EngineError && "ambiguous" in thrown && thrown.ambiguous === true,
  );
});

test("a zone is made and deleted; one that cannot be signed says so", async () => {
  const outside = startHetznerDns();
  const { reader, writer } = open(outside);
  await writer.createZone("new.test.", [], signal);
  const facts = await reader.facts("new.test.", signal);
  assert.ok(facts !== "absent" && facts.nameservers.length === 3 && facts.recordSets === 0 && !facts.signed);
  await assert.rejects(async () => await writer.signZone("new.test.", signal), refusal("PROVIDER_REFUSED", /sign/));
  await assert.rejects(writer.createZone("new.test.", [], signal), refusal("ALREADY_EXISTS", /new\.test/));
  await writer.deleteZone("new.test.", signal);
  await writer.deleteZone("new.test.", signal);
  assert.equal(await reader.facts("new.test.", signal), "absent");
  assert.deepEqual(outside.faults, []);
});

test("all record types round-trip through the loop, and the second plan is empty", async () => {
  const outside = startHetznerDns();
  await using bench = await startZoneBench(outside.provider, outside.settings, undefined, (clock) =>
    outside.follow(clock),
  );
  await bench.zone();
  for (const [index, { ttlSeconds = 300, ...spec }] of everyRecordType.entries())
    await bench.record(`record-${index}`, { ...spec, ttlSeconds: Math.max(60, ttlSeconds) });
  await bench.pass({ minutes: 10 });
  assert.match(bench.ready("DnsZone/example"), /Converged/);
  const { writes } = outside.calls();
  await bench.pass({ hours: 1 });
  assert.equal(outside.calls().writes, writes, "nothing is written twice");
  assert.deepEqual([...new Set(outside.faults)], []);
});

test("any zone becomes any other: 60 seeds", async () => {
  const outside = startHetznerDns();
  await using bench = await startZoneBench(outside.provider, outside.settings, undefined, (clock) =>
    outside.follow(clock),
  );
  await widen(bench);
  await bench.zone();
  const { reader } = open(outside);
  const declared = new Map<string, JsonObject>();
  const world = async () => (await reader.zone(zone, signal, { fresh: true })) ?? [];
  for (let seed = 0; seed < 60; seed++)
    await becomes(bench, declared, seed, world, { leastTtlSeconds: 60, seconds: 120 });
  assert.deepEqual([...new Set(outside.faults)], []);
});
