import assert from "node:assert/strict";
import { test } from "node:test";
import type { Desired, InputResource, Subject } from "../../../src/kernel/loop.ts";
import { type DnsRecordSpec, dnsRecordSchema } from "../../../src/kinds/dns-record/schema.ts";
import { DesiredMemory } from "../../../src/kinds/dns-zone/desired-memory.ts";
import type { RecordSet } from "../../../src/kinds/dns-zone/record-set.ts";
import type { PublishedSource } from "../../../src/ports/records.ts";
import { type DnsZoneSpec, dnsZoneSchema } from "../../../src/kinds/dns-zone/schema.ts";

const spec = (change: Partial<DnsRecordSpec> = {}): DnsRecordSpec => ({
  ...dnsRecordSchema.parse({ zone: "shop", name: "www", type: "A", values: ["192.0.2.1", "192.0.2.2"] }),
  ...change,
});
const zoneSpec = dnsZoneSchema.parse({ account: "lab", zone: "shop.test" });

function record(change: Partial<InputResource<DnsRecordSpec>> = {}): InputResource<DnsRecordSpec> {
  const author = { name: "ada", type: "person" as const };
  const declared = { kind: "DnsRecord", labels: {}, author, declaredAtMs: 0, deletion: undefined };
  return { ...declared, uid: "r1", name: "www", scope: "project/p", generation: 1, spec: spec(), ...change };
}

function zone(change: Partial<Subject<DnsZoneSpec>> = {}): Subject<DnsZoneSpec> {
  return { uid: "z1", name: "shop", scope: "project/p", spec: zoneSpec, ...change } as Subject<DnsZoneSpec>;
}

/** How often it was worked out what each of these wants, one after the other. */
function workedOut(
  memory: DesiredMemory,
  ...looks: readonly (readonly [
    Subject<DnsZoneSpec>,
    readonly InputResource<DnsRecordSpec>[],
    (readonly PublishedSource[])?,
  ])[]
) {
  let times = 0;
  const wants = looks.map(([subject, records, published = []]) =>
    memory.of({ zone: subject, records, published }, (): Desired<RecordSet> => {
      times += 1;
      return { known: true, items: [], zero: true };
    }),
  );
  return { times, wants };
}

test("what is wanted of an unchanged zone is worked out once, though it is read anew", () => {
  const { times, wants } = workedOut(new DesiredMemory(), [zone(), [record()]], [zone(), [record()]]);
  assert.equal(times, 1);
  assert.equal(wants[0], wants[1]);
});

const changed: Readonly<Record<string, InputResource<DnsRecordSpec>>> = {
  uid: record({ uid: "r2" }),
  generation: record({ generation: 2 }),
  name: record({ name: "web" }),
  scope: record({ scope: "project/q" }),
  "spec.name": record({ spec: spec({ name: "web" }) }),
  "spec.type": record({ spec: spec({ type: "AAAA" }) }),
  "spec.ttlSeconds": record({ spec: spec({ ttlSeconds: 61 }) }),
  "one of spec.values": record({ spec: spec({ values: ["192.0.2.1", "192.0.2.3"] }) }),
  "spec.valuesFrom": record({ spec: spec({ valuesFrom: [{ kind: "Host", name: "web", field: "ipv4" }] }) }),
  "the number of spec.values": record({ spec: spec({ values: ["192.0.2.1"] }) }),
};
for (const [what, other] of Object.entries(changed))
  test(`a record with another ${what} alone is worked out anew`, () => {
    assert.equal(workedOut(new DesiredMemory(), [zone(), [record()]], [zone(), [other]]).times, 2);
  });

test("a value that was added is worked out anew", () => {
  const one = record({ spec: spec({ values: ["192.0.2.1"] }) });
  assert.equal(workedOut(new DesiredMemory(), [zone(), [one]], [zone(), [record()]]).times, 2);
});

test("a record more, a record less and another zone are worked out anew", () => {
  const two = [record(), record({ uid: "r2" })];
  const other = zone({ spec: { ...zoneSpec, zone: "other.test" } });
  const looks = [
    [zone(), [record()]],
    [zone(), two],
    [zone(), [record()]],
    [other, [record()]],
  ] as const;
  assert.equal(workedOut(new DesiredMemory(), ...looks).times, 4);
});

test("over its limit it forgets what was worked out the longest ago", () => {
  const [first, second] = [zone({ uid: "z1" }), zone({ uid: "z2" })];
  const looks = [
    [first, [record()]],
    [second, [record()]],
    [second, [record()]],
    [first, [record()]],
  ] as const;
  assert.equal(workedOut(new DesiredMemory({ mostRecords: 1 }), ...looks).times, 3);
});

test("an address that another resource shows now is worked out anew", () => {
  const shows = (ip: string): readonly PublishedSource[] => [
    { inputUid: "r1", kind: "Host", name: "web", scope: "project/p", values: { ipv4: [ip] } },
  ];
  const look = (ip: string) => [zone(), [record()], shows(ip)] as const;
  assert.equal(workedOut(new DesiredMemory(), look("192.0.2.1"), look("192.0.2.1")).times, 1);
  assert.equal(workedOut(new DesiredMemory(), look("192.0.2.1"), look("192.0.2.2")).times, 2);
});
