import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseAbsoluteName, parseRecordName } from "../../../src/kinds/dns-record/domain-name.ts";
import { recordFits } from "../../../src/kinds/dns-record/fits.ts";
import { foldSeenValue, parseDeclaredValue, type RecordType } from "../../../src/kinds/dns-record/record-value.ts";
import { dnsRecordSchema, type DnsRecordSpec } from "../../../src/kinds/dns-record/schema.ts";
import { around } from "../../support/surroundings.ts";
import { powerDnsCapabilities } from "../../../src/providers/powerdns/capabilities.ts";

const sha256 = "ab".repeat(32);

/** type, what is declared, what is written. */
const accepted: readonly (readonly [RecordType, string, string])[] = [
  ["A", "192.0.2.1", "192.0.2.1"],
  ["AAAA", "2001:DB8:0:0::1", "2001:db8::1"],
  ["CNAME", "WWW.Example.test", "www.example.test."],
  ["CNAME", "bücher.example", "xn--bcher-kva.example."],
  ["CNAME", "sel._domainkey.example.test.", "sel._domainkey.example.test."],
  ["MX", "010 Mail.example.test", "10 mail.example.test."],
  ["MX", "0 .", "0 ."],
  ["NS", "ns1.example.test", "ns1.example.test."],
  ["PTR", "host.example.test", "host.example.test."],
  ["SRV", "0 5 5060 sip.example.test", "0 5 5060 sip.example.test."],
  ["SRV", "0 0 0 .", "0 0 0 ."],
  ["TXT", "v=spf1 -all", '"v=spf1 -all"'],
  ["TXT", "é", '"\\195\\169"'],
  ["CAA", "0 issue letsencrypt.org", '0 issue "letsencrypt.org"'],
  ["CAA", '128 ISSUEWILD ";"', '128 issuewild ";"'],
  ["CAA", '0 issue "ca.test; validationmethods=dns-01"', '0 issue "ca.test; validationmethods=dns-01"'],
  ["CAA", "0 iodef mailto:a@example.test", '0 iodef "mailto:a@example.test"'],
  ["TLSA", `3 1 1 ${sha256.toUpperCase()}`, `3 1 1 ${sha256}`],
  ["TLSA", `3 1 1 ${sha256.slice(0, 30)} ${sha256.slice(30)}`, `3 1 1 ${sha256}`],
  ["HTTPS", "1 .", "1 ."],
  ["HTTPS", "0 pool.example.test", "0 pool.example.test."],
  ["HTTPS", '1 . port=8443 alpn="h2,h3" key65333=x', '1 . alpn=h2,h3 port=8443 key65333="x"'],
  [
    "SVCB",
    "16 foo.test. ipv6hint=2001:DB8::0 ipv4hint=192.0.2.1,192.0.2.2",
    "16 foo.test. ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::",
  ],
  [
    "SVCB",
    "1 a.test mandatory=port,alpn alpn=h2 port=1 no-default-alpn",
    "1 a.test. mandatory=alpn,port alpn=h2 no-default-alpn port=1",
  ],
  ["SVCB", "1 a.test ech=AAAA key1=h2", "1 a.test. alpn=h2 ech=AAAA"],
];

/** type, what is declared, the words of the refusal. */
const refused: readonly (readonly [RecordType, string, RegExp])[] = [
  ["A", "192.0.2.256", /is not an IPv4 address.*RFC 1035/],
  ["A", "010.0.0.1", /is not an IPv4 address/],
  ["AAAA", "192.0.2.1", /is not an IPv6 address.*RFC 4291/],
  ["AAAA", "fe80::1%eth0", /is not an IPv6 address/],
  ["A", " 192.0.2.1", /white space/],
  ["CNAME", "www", /must be written in full/],
  ["CNAME", "a..b", /empty label/],
  ["CNAME", `${"a".repeat(64)}.test`, /longer than 63 characters.*RFC 1035/],
  ["CNAME", `${"a.".repeat(127)}test`, /longer than 253/],
  ["CNAME", "-a.test", /letters, digits, hyphens inside/],
  ["CNAME", "xn--zzzz.test", /encodes nothing/],
  ["CNAME", "٠a.test", /not allowed in an international name.*RFC 5891/],
  ["MX", "mail.example.test", /must look like "10 mail\.example\.com"/],
  ["MX", "65536 mail.example.test", /from 0 to 65535/],
  ["MX", "10 _mail.example.test", /must name a host.*RFC 1123/],
  ["MX", "10 .", /no mail here: its preference is 0 \(RFC 7505/],
  ["NS", ".", /root is not allowed/],
  ["SRV", "0 5 sip.example.test", /must look like "0 5 5060 sip\.example\.com" \(RFC 2782\)/],
  ["TXT", '"quoted"', /without the surrounding quotes/],
  ["CAA", "1 issue a.test", /must be 0, or 128/],
  ["CAA", "0 is-sue a.test", /letters and digits only/],
  ["CAA", "0 issue not_a_name!", /certificate authority/],
  ["CAA", "0 iodef a@example.test", /mailto:/],
  ["CAA", "0 issue", /must look like/],
  ["TLSA", "4 1 1 ab", /usage "4"/],
  ["TLSA", "3 2 1 ab", /selector "2"/],
  ["TLSA", "3 1 3 ab", /matching type "3"/],
  ["TLSA", "3 1 1 abcd", /has 64 hexadecimal digits, not 4/],
  ["TLSA", "3 1 0 abc", /even number/],
  ["HTTPS", "1", /must look like/],
  ["HTTPS", "0 . alpn=h2", /an alias, which has no parameters/],
  ["HTTPS", "1 . alpn=h2 alpn=h3", /twice/],
  ["HTTPS", "1 . mandatory=port", /names port, which is not given/],
  ["HTTPS", "1 . mandatory=mandatory", /must name other parameters/],
  ["HTTPS", "1 . no-default-alpn", /no protocol at all/],
  ["HTTPS", "1 . colour=red", /is no parameter/],
  ["HTTPS", "1 . port=99999", /from 0 to 65535/],
  ["HTTPS", "1 . ipv4hint=1.2.3", /not an IPv4 address/],
  ["SVCB", "70000 .", /from 0 to 65535/],
];

test("each type is written in one form, and that form stays as it is", () => {
  for (const [type, declared, written] of accepted) {
    const parsed = parseDeclaredValue(type, declared);
    assert.ok(parsed.ok, `${type} ${declared}: ${parsed.ok ? "" : parsed.message}`);
    assert.equal(parsed.value, written);
    assert.equal(foldSeenValue(type, written), written, "what was written is read back as it is");
    assert.equal(foldSeenValue(type, `  ${written} `), written);
  }
});

test("each refusal says the rule in plain words", () => {
  for (const [type, declared, words] of refused) {
    const parsed = parseDeclaredValue(type, declared);
    assert.ok(!parsed.ok, `${type} ${declared} was taken as ${parsed.ok ? parsed.value : ""}`);
    assert.match(parsed.message, words, `${type} ${declared}`);
  }
});

test("values that are right alone may be wrong together", () => {
  const messages = (type: string, ...values: readonly string[]) =>
    dnsRecordSchema
      .safeParse({ zone: "example", name: "www", type, values })
      .error?.issues.map(({ path, message }) => `/${path.join("/")}: ${message}`)
      .join("\n") ?? "";
  assert.match(messages("CNAME", "a.test", "b.test"), /^\/values: a CNAME has exactly one value/);
  assert.match(messages("MX", "0 .", "10 a.test"), /stands alone \(RFC 7505/);
  assert.match(messages("HTTPS", "0 a.test", "1 b.test"), /stands alone \(RFC 9460/);
  assert.match(messages("A", "192.0.2.1", "192.0.2.1"), /^\/values\/1: "192\.0\.2\.1" is there twice/);
  assert.equal(messages("MX", "0 a.test", "10 b.test"), "");
});

test("names may be written in any letters, and a star stands only for the whole first label", () => {
  assert.deepEqual(parseRecordName("Bücher"), { ok: true, value: "xn--bcher-kva" });
  assert.deepEqual(parseRecordName("*.straße"), { ok: true, value: "*.xn--strae-oqa" });
  for (const name of ["a.*", "*a.b", "a b", "ü_.test", "-ü.test", "."])
    assert.equal(parseRecordName(name).ok, false, name);
  fc.assert(
    fc.property(fc.domain(), (name) => {
      const parsed = parseAbsoluteName(name);
      if (!parsed.ok) return;
      assert.deepEqual(parseAbsoluteName(parsed.value), parsed);
      assert.deepEqual(parseAbsoluteName(parsed.value.toUpperCase().slice(0, -1)), parsed);
    }),
  );
});

test("TXT of any bytes comes back as the same text, however long", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 700 }), (text) => {
      const parsed = parseDeclaredValue("TXT", text);
      if (!parsed.ok) return;
      assert.equal(foldSeenValue("TXT", parsed.value), parsed.value);
      for (const part of parsed.value.match(/"(?:[^"\\]|\\\d{3}|\\.)*"/g) ?? [])
        assert.ok(part.replaceAll(/\\\d{3}|\\./g, "x").length <= 257, "no string is longer than 255 bytes");
    }),
  );
});

test("what cannot be in the zone, or at its provider, is refused where it is declared", () => {
  const spec: DnsRecordSpec = { zone: "example", name: "www", type: "A", values: ["192.0.2.1"], ttlSeconds: 30 };
  const problems = (over: Partial<DnsRecordSpec>, capabilities: unknown = powerDnsCapabilities) =>
    recordFits(
      { ...spec, ...over },
      {
        ...around,
        scope: "organization/o",
        linked: () => ({ scope: "organization/o", spec: { account: "lab", zone: "example.test" }, capabilities }),
      },
    )
      .map(({ pointer, message }) => `${pointer}: ${message}`)
      .join("\n");
  assert.equal(problems({}), "");
  assert.equal(
    recordFits(spec, { ...around, scope: "organization/o", linked: () => undefined }).length,
    0,
    "without a zone the reference is refused instead",
  );
  assert.match(problems({ name: "www.other.test." }), /^\/spec\/name: .*outside the zone example\.test\./);
  assert.match(problems({ name: "example.test.", type: "CNAME", values: ["a.test"] }), /RFC 1034 3\.6\.2/);
  assert.match(problems({ name: "www", type: "TLSA", values: [`3 1 1 ${sha256}`] }), /such as _443\._tcp.*RFC 6698 3/);
  assert.equal(problems({ name: "_443._tcp.www", type: "TLSA", values: [`3 1 1 ${sha256}`] }), "");
  const small = { types: ["A"], leastTtlSeconds: 60, mostTtlSeconds: 90, mostSetCharacters: 20 };
  assert.match(problems({}, small), /^\/spec\/ttlSeconds: the provider of account "lab" keeps no TTL below 60$/);
  assert.match(problems({ ttlSeconds: 100 }, small), /keeps no TTL above 90/);
  assert.match(problems({ type: "TXT", ttlSeconds: 60 }, small), /^\/spec\/type: .*cannot hold TXT records: A$/);
  assert.match(
    problems({ ttlSeconds: 60, values: ["192.0.2.1", "192.0.2.2", "192.0.2.3"] }, small),
    /takes 20 characters.*these are 27/,
  );
});
