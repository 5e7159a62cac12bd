import assert from "node:assert/strict";
import { test } from "node:test";
import { zoneFileSchema } from "../../../src/kinds/dns-zone/zone-file-schema.ts";

function read(text: string) {
  return zoneFileSchema.parse({ text, zone: "example.test", zoneResource: "example" });
}

function specs(text: string): readonly string[] {
  return read(text).records.map(({ spec }) => {
    const { name, type, values, ttlSeconds } = spec as {
      name: string;
      type: string;
      values: string[];
      ttlSeconds: number;
    };
    return `${name} ${ttlSeconds} ${type} ${values.join(" | ")}`;
  });
}

test("a zone file is read as servers read it: origins, TTLs with units, inherited names, parentheses and comments", () => {
  const text = String.raw`
$TTL 1h30m ; for all below
@   IN SOA ns1 hostmaster ( 1 ; serial
        10800 3600
        604800 300 )
    IN NS ns1
ns1 A 192.0.2.53
www 60 IN A 192.0.2.1
    IN 60 A 192.0.2.2
    TXT "one; two" "three \"four\""
$ORIGIN sub.example.test.
*   AAAA 2001:DB8::1
mx  MX 10 mail
@   CAA 0 issue "ca.test; x=y"
svc SVCB 1 . alpn="h2,h3" port=1
_443._tcp TLSA 3 1 1 (
      ${"ab".repeat(16)}
      ${"cd".repeat(16)} )
host.example.test. CNAME www.example.test.
`;
  assert.deepEqual(read(text).problems, []);
  assert.deepEqual(specs(text), [
    "ns1 5400 A 192.0.2.53",
    "www 60 A 192.0.2.1 | 192.0.2.2",
    'www 5400 TXT one; twothree "four"',
    "*.sub 5400 AAAA 2001:db8::1",
    "mx.sub 5400 MX 10 mail.sub.example.test.",
    'sub 5400 CAA 0 issue "ca.test; x=y"',
    "svc.sub 5400 SVCB 1 . alpn=h2,h3 port=1",
    `_443._tcp.sub 5400 TLSA 3 1 1 ${"ab".repeat(16)}${"cd".repeat(16)}`,
    "host 5400 CNAME www.example.test.",
  ]);
});

test("each wrong entry is named with its line and its rule, and what a record cannot say is left out by name", () => {
  const { problems, left } = read(
    [
      "$TTL 60",
      "www A 192.0.2.300",
      "www.other.test. A 192.0.2.1",
      "alias CNAME www",
      "alias A 192.0.2.1",
      "host SSHFP 1 1 abcd",
      "bad NOTATYPE",
      "$INCLUDE other.zone",
      "mx MX mail",
      'txt TXT "open',
      "sip SRV 0 0 1 a",
    ].join("\n"),
  );
  const said = problems.map(({ line, message }) => `${line}: ${message}`).join("\n");
  for (const words of [
    /^2: "192\.0\.2\.300" is not an IPv4 address.*RFC 1035/m,
    /^3: .*outside the zone/m,
    /^4: a CNAME must stand alone, and line 5 has A/m,
    /^7: the NOTATYPE entry has no value/m,
    /^8: \$INCLUDE is not understood/m,
    /^9: .*must look like "10 mail\.example\.com"/m,
    /^10: a quote or an escape is not ended/m,
    /^11: .*RFC 2782/m,
  ])
    assert.match(said, words);
  assert.deepEqual(left, [{ line: 6, message: "host.example.test. SSHFP: a DnsRecord cannot be of the type SSHFP" }]);
});
