import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceNameSchema } from "../../../src/kinds/naming/resource-name-schema.ts";
import { declarationOfRecordSet } from "../../../src/kinds/dns-zone/declaration-of.ts";
import { desiredRecordSets } from "../../../src/kinds/dns-zone/desired.ts";
import { foldSeen, type RecordSet, stableRecordSet } from "../../../src/kinds/dns-zone/record-set.ts";
import type { InputResource } from "../../../src/kernel/loop.ts";
import type { DnsRecordSpec } from "../../../src/kinds/dns-record/schema.ts";

const zone = { name: "example", zone: "example.test" };

function seen(name: string, type: string, ...values: readonly string[]): RecordSet {
  return foldSeen({ name, type, ttlSeconds: 60, values, disabledValues: [] });
}

test("what is declared for a record set wants that very record set", () => {
  const there = [
    seen("www.example.test.", "A", "192.0.2.2", "192.0.2.1"),
    seen("example.test.", "MX", "10 Mail.example.test."),
    seen("example.test.", "TXT", '"v=spf1 -all"', String.raw`"a \"quoted\" \233" "part"`),
    seen("_sip._tcp.example.test.", "SRV", "0 5 5060 sip.example.test."),
    seen("*.example.test.", "CNAME", "www.example.test."),
    seen("v6.example.test.", "AAAA", "2001:DB8:0::1"),
    seen(`${"a".repeat(60)}.example.test.`, "A", "192.0.2.3"),
    seen("example.test.", "CAA", '0 issue "letsencrypt.org"'),
  ];
  const readable = there.filter((recordSet) => recordSet.values.every((value) => !value.includes("\\233")));
  const names = new Set<string>();
  for (const recordSet of readable) {
    const made = declarationOfRecordSet(zone, recordSet);
    assert.ok(made.ok, `${recordSet.name} ${recordSet.type}: ${made.ok ? "" : made.message}`);
    assert.ok(resourceNameSchema.safeParse(made.name).success, made.name);
    names.add(made.name);
    const record = { uid: "u", generation: 1, name: made.name, spec: made.spec as unknown as DnsRecordSpec };
    const desired = desiredRecordSets({ zone: "example.test.", scope: "organization/o", delegations: [] }, [
      { ...record, scope: "organization/o" } as unknown as InputResource<DnsRecordSpec>,
    ]);
    assert.ok(desired.known);
    assert.deepEqual(desired.items[0]?.item, stableRecordSet(recordSet));
  }
  assert.equal(names.size, readable.length, "each has a name of its own");
  assert.equal(declarationOfRecordSet(zone, seen("www.example.test.", "A", "192.0.2.1")).ok, true);
});

test("names are readable where a name can say it", () => {
  const name = (recordSet: RecordSet) => {
    const made = declarationOfRecordSet(zone, recordSet);
    return made.ok ? made.name : made.message;
  };
  assert.equal(name(seen("www.example.test.", "A", "192.0.2.1")), "example-www-a");
  assert.equal(name(seen("example.test.", "MX", "10 mail.example.test.")), "example-mx");
  assert.match(name(seen("*.example.test.", "A", "192.0.2.1")), /^example-wildcard-a-[0-9a-f]{8}$/);
});

test("what a DnsRecord cannot say just as it is is refused with the reason", () => {
  const refusals: readonly (readonly [RecordSet, RegExp])[] = [
    [seen("www.example.test.", "ALIAS", "host.example.test."), /cannot be of the type ALIAS/],
    [{ ...seen("www.example.test.", "A", "192.0.2.1"), disabledValues: ["192.0.2.9"] }, /1 of its values/],
    [seen("www.other.test.", "A", "192.0.2.1"), /outside the zone/],
    [seen("www.example.test.", "TXT", String.raw`"\233"`), /cannot be written in a DnsRecord/],
    [{ ...seen("www.example.test.", "A", "192.0.2.1"), ttlSeconds: -1 }, /.+/],
  ];
  for (const [recordSet, expected] of refusals) {
    const made = declarationOfRecordSet(zone, recordSet);
    assert.equal(made.ok, false, `${recordSet.type} ${recordSet.values.join()}`);
    assert.match(made.ok ? "" : made.message, expected);
  }
});
