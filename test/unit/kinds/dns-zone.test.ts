import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { InputResource } from "../../../src/kernel/loop.ts";
import { dnsRecordSchema, type DnsRecordSpec } from "../../../src/kinds/dns-record/schema.ts";
import { desiredRecordSets } from "../../../src/kinds/dns-zone/desired.ts";
import { nameOfKey } from "../../../src/kinds/dns-zone/loop.ts";
import { foldSeen, type RecordSet, sameRecordSet } from "../../../src/kinds/dns-zone/record-set.ts";
import { dnsZoneSchema } from "../../../src/kinds/dns-zone/schema.ts";

const zone = { zone: "example.test.", scope: "organization/o", delegations: [] };

function record(uid: string, spec: Partial<DnsRecordSpec>): InputResource<DnsRecordSpec> {
  return {
    uid,
    kind: "DnsRecord",
    name: `record-${uid}`,
    scope: "organization/o",
    generation: 3,
    labels: {},
    author: { name: "ada", type: "person" },
    declaredAtMs: 0,
    spec: { zone: "example", name: "www", type: "A", values: ["192.0.2.1"], ttlSeconds: 300, ...spec },
  };
}

const recordSet = fc.record({
  name: fc.constantFrom("a.example.test.", "b.example.test."),
  type: fc.constantFrom("A", "TXT"),
  ttlSeconds: fc.integer({ min: 1, max: 5 }),
  values: fc.uniqueArray(fc.constantFrom("192.0.2.1", "192.0.2.2", '"x"', '"y"'), { maxLength: 3 }),
  disabledValues: fc.uniqueArray(fc.constantFrom("192.0.2.9"), { maxLength: 1 }),
});

test("the difference of two record sets of one name and type is empty exactly when they are the same", () => {
  fc.assert(
    fc.property(recordSet, recordSet, (left, right) => {
      const a = foldSeen(left);
      const b = { ...foldSeen(right), name: a.name, type: a.type };
      const same =
        a.ttlSeconds === b.ttlSeconds &&
        setEqual(a.values, b.values) &&
        setEqual(a.disabledValues ?? [], b.disabledValues ?? []);
      assert.equal(sameRecordSet(a, b).length === 0, same);
      assert.deepEqual(sameRecordSet(a, a), []);
    }),
  );
});

test("writing what differs makes the difference empty", () => {
  fc.assert(
    fc.property(recordSet, recordSet, (wanted, seen) => {
      const target = foldSeen(wanted);
      const changed = sameRecordSet(target, foldSeen(seen)).reduce<Record<string, unknown>>(
        (item, { field, wanted: value }) => ({ ...item, [field.slice(1)]: value }),
        { ...foldSeen(seen), name: target.name, type: target.type },
      );
      assert.deepEqual(sameRecordSet(target, changed as unknown as RecordSet), []);
    }),
  );
});

test("what must be changed in one call goes by one name: whatever stands at it, and its entries in the registry", () => {
  const names = [
    "www.example.test. CNAME",
    "www.example.test. A",
    "cname-www.example.test. TXT",
    "a-www.example.test. TXT",
  ];
  assert.deepEqual([...new Set(names.map(nameOfKey))], ["www.example.test."]);
  for (const name of ["my-www.example.test. TXT", "a-www.example.test. A", "other.example.test. A"])
    assert.notEqual(nameOfKey(name), "www.example.test.", name);
});

test("the order in which a server lists values and the case of names mean nothing", () => {
  fc.assert(
    fc.property(recordSet, (seen) => {
      const shuffled = { ...seen, name: seen.name.toUpperCase(), values: [...seen.values].reverse() };
      assert.deepEqual(foldSeen(shuffled), foldSeen(seen));
    }),
  );
});

test("the desired set does not depend on the order of its records", () => {
  const specs = fc.array(
    fc.record({
      name: fc.constantFrom("a", "b", "@"),
      type: fc.constantFrom("A" as const, "TXT" as const),
      ttlSeconds: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(specs, fc.infiniteStream(fc.nat()), (drawn, order) => {
      const records = drawn.map((spec, index) =>
        record(`u${index}`, { ...spec, values: [spec.type === "A" ? `192.0.2.${index}` : `text ${index}`] }),
      );
      const weights = new Map(records.map((entry) => [entry.uid, order.next().value]));
      const shuffled = [...records].sort((left, right) => (weights.get(left.uid) ?? 0) - (weights.get(right.uid) ?? 0));
      assert.deepEqual(desiredRecordSets(zone, shuffled), desiredRecordSets(zone, records));
    }),
  );
});

test("records of one name and type become one record set that names all its sources", () => {
  const desired = desiredRecordSets(zone, [
    record("1", { values: ["192.0.2.2"], ttlSeconds: 300 }),
    record("2", { name: "WWW.example.test.", values: ["192.0.2.1", "192.0.2.2"], ttlSeconds: 60 }),
  ]);
  assert.deepEqual(desired, {
    known: true,
    items: [
      {
        key: "www.example.test. A",
        item: {
          name: "www.example.test.",
          type: "A",
          ttlSeconds: 60,
          values: ["192.0.2.1", "192.0.2.2"],
        },
        sources: [
          { uid: "1", generation: 3 },
          { uid: "2", generation: 3 },
        ],
      },
    ],
  });
});

test("a record that cannot be in the zone makes the set unknown instead of leaving the record out", () => {
  const desired = desiredRecordSets(zone, [
    record("0", { name: "other" }),
    record("1", { name: "www.elsewhere.test." }),
  ]);
  assert.ok(!desired.known);
  assert.match(desired.reason, /record-1: .*outside the zone/);
});

test("what contradicts a rule or another record keeps its last good value, and the rest of the zone goes on", () => {
  const reason = (...records: InputResource<DnsRecordSpec>[]) => {
    const desired = desiredRecordSets(zone, [record("0", { name: "other" }), ...records]);
    assert.ok(desired.known);
    assert.deepEqual(
      desired.items.map(({ key }) => key),
      ["other.example.test. A"],
    );
    return (desired.stale ?? []).map((entry) => `${entry.key}: ${entry.reason}`).join("\n");
  };
  assert.match(
    reason(record("1", { name: "example.test.", type: "NS", values: ["ns.example.test."] })),
    /^example\.test\. NS: DnsRecord\/record-1: .*belong to the server/,
  );
  const clash = reason(record("1", { type: "CNAME", values: ["a.test"] }), record("2", {}));
  assert.match(clash, /^www\.example\.test\. CNAME: .*record-1 .*record-2 declares A: a CNAME must stand alone/m);
  assert.match(clash, /^www\.example\.test\. A: /m);
  assert.match(
    reason(record("1", { type: "CNAME", values: ["a.test"] }), record("2", { type: "CNAME", values: ["b.test"] })),
    /both declare a CNAME/,
  );
  assert.match(
    reason(record("1", { type: "MX", values: ["0 ."] }), record("2", { type: "MX", values: ["5 mx.test"] })),
    /record-1 and DnsRecord\/record-2 together .*no mail here/,
  );
  assert.match(reason(record("1", { type: "SRV", name: "sip", values: ["0 0 1 a.test"] })), /RFC 2782/);
  assert.match(reason(record("1", { type: "TXT", name: "_setpoint", values: ["x"] })), /marks the zone as its own/);
  assert.equal(reason(), "");
});

test("a TTL below the provider's least is not a difference once the provider holds its least", () => {
  const wanted = foldSeen({
    name: "a.example.test.",
    type: "A",
    ttlSeconds: 5,
    values: ["192.0.2.1"],
    disabledValues: [],
  });
  const seen = { ...wanted, disabledValues: [] };
  assert.deepEqual(sameRecordSet(wanted, foldSeen({ ...seen, ttlSeconds: 60 }, 60)), []);
  assert.equal(sameRecordSet(wanted, foldSeen({ ...seen, ttlSeconds: 60 })).length, 1);
  assert.equal(sameRecordSet(wanted, foldSeen({ ...seen, ttlSeconds: 90 }, 60)).length, 1);
});

test("a disabled value is a difference, because the server does not serve it", () => {
  const desired = desiredRecordSets(zone, [record("1", {})]);
  assert.ok(desired.known);
  const [wanted] = desired.items;
  assert.ok(wanted);
  const seen = foldSeen({
    name: "www.example.test.",
    type: "A",
    ttlSeconds: 300,
    values: [],
    disabledValues: ["192.0.2.1"],
  });
  assert.deepEqual(
    sameRecordSet(wanted.item, seen).map(({ field }) => field),
    ["/values", "/disabledValues"],
  );
});

test("specs are checked strictly, with every field error at once", () => {
  const errors = (spec: unknown) =>
    dnsRecordSchema.safeParse(spec).error?.issues.map((issue) => `/${issue.path.join("/")}`) ?? [];
  assert.deepEqual(errors({ zone: "example", name: "www", type: "A", values: ["192.0.2.1"] }), []);
  assert.deepEqual(errors({ zone: "example", name: "a..b", type: "A", values: ["x", "192.0.2.1", "192.0.2.1"] }), [
    "/name",
    "/values/0",
    "/values/2",
  ]);
  assert.deepEqual(errors({ zone: "example", name: "www", type: "A", values: [], ttlSeconds: -1 }), [
    "/ttlSeconds",
    "/values",
  ]);
  assert.deepEqual(errors({ zone: "example", name: "@", type: "NS", values: ["ns.test."] }), ["/type"]);
  assert.deepEqual(errors({ zone: "example", name: "w", type: "CNAME", values: ["a.test", "b.test"] }), ["/values"]);
  assert.deepEqual(errors({ zone: "Ex ample", name: "w", type: "SOA", values: ["a"], more: 1 }), [
    "/zone",
    "/type",
    "/",
  ]);
  assert.equal(dnsZoneSchema.safeParse({ account: "lab", zone: "example.test" }).success, true);
  assert.equal(dnsZoneSchema.safeParse({ account: "lab", zone: "" }).success, false);
  assert.equal(dnsZoneSchema.safeParse({ account: "lab", zone: ".", nameservers: [] }).success, false);
  assert.equal(dnsZoneSchema.safeParse({ account: "lab", zone: "example.test", soa: 1 }).success, false);
});

function setEqual(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}
