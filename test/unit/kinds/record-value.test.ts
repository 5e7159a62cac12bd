import assert from "node:assert/strict";
import { isIPv6 } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import {
  absoluteIn,
  parseAbsoluteName,
  parseRecordName,
  parseTarget,
} from "../../../src/kinds/dns-record/domain-name.ts";
import { parseIpv4, parseIpv6 } from "../../../src/kinds/dns-record/ip-address.ts";
import { foldSeenValue, parseDeclaredValue } from "../../../src/kinds/dns-record/record-value.ts";
import { foldPresentation, presentationToText, textToPresentation } from "../../../src/kinds/dns-record/text-value.ts";

const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9_-]{0,10}[a-z0-9_])?$/);
const name = fc.array(label, { minLength: 2, maxLength: 5 }).map((labels) => labels.join("."));

test("a text survives the way to its presentation form and back, whatever is in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 700 }), (text) => {
      const wellFormed = text.toWellFormed();
      assert.equal(presentationToText(textToPresentation(wellFormed)), wellFormed);
    }),
  );
});

test("the presentation form of a text is folded to itself, so a written value is seen as the one that was wanted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
      const written = textToPresentation(text.toWellFormed());
      assert.equal(foldPresentation(written), written);
      assert.equal(foldSeenValue("TXT", written), written);
    }),
  );
});

test("no string of a text is longer than the 255 bytes DNS allows", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 900 }), (text) => {
      for (const quoted of textToPresentation(text.toWellFormed()).match(/"(?:[^"\\]|\\.)*"/gs) ?? []) {
        const bytes = quoted.slice(1, -1).replaceAll(/\\(\d{3}|.)/gs, "x").length;
        assert.ok(bytes <= 255);
      }
    }),
  );
});

test("cutting and escaping of a text mean nothing", () => {
  const forms = ['"v=spf1 -all"', '"v=spf1" " -all"', String.raw`"v=spf1\032-all"`, String.raw`"\v=spf1 -all"`];
  assert.equal(new Set(forms.map((form) => foldSeenValue("TXT", form))).size, 1);
  assert.notEqual(foldSeenValue("TXT", '"v=spf1  -all"'), foldSeenValue("TXT", '"v=spf1 -all"'));
});

test("what is not a text in presentation form is kept as it is", () => {
  assert.equal(foldSeenValue("TXT", "plain"), '"plain"', "a bare word is a string too");
  for (const broken of ['"open', '"a" b', 'a "b"', ""]) assert.equal(foldSeenValue("TXT", broken), broken);
});

test("an IPv6 address has one form, and folding it again changes nothing", () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const folded = parseIpv6(text);
      assert.ok(folded.ok, text);
      assert.ok(isIPv6(folded.value), `${text} became ${folded.value}`);
      assert.deepEqual(parseIpv6(folded.value), folded);
      assert.equal(
        new URL(`http://[${text}]`).hostname,
        `[${folded.value}]`,
        "the URL standard compresses the same way",
      );
    }),
  );
});

test("IP addresses that are not are refused", () => {
  for (const text of ["", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.5", " 1.2.3.4"])
    assert.equal(parseIpv4(text).ok, false, text);
  for (const text of [
    "",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "::12345",
    "fe80::1%eth0",
    "1.2.3.4::",
    "::1.2.3.4:1",
  ]) {
    assert.equal(parseIpv6(text).ok, false, text);
  }
});

test("names are folded to lower case with the trailing dot, once and for all", () => {
  fc.assert(
    fc.property(name, fc.boolean(), fc.boolean(), (text, dot, upper) => {
      const parsed = parseAbsoluteName((upper ? text.toUpperCase() : text) + (dot ? "." : ""));
      assert.deepEqual(parsed, { ok: true, value: `${text}.` });
    }),
  );
});

test("a record's name is found inside its zone, however it is written", () => {
  fc.assert(
    fc.property(label, name, (first, zone) => {
      const expected = { ok: true, value: `${first}.${zone}.` };
      assert.deepEqual(absoluteIn(`${zone}.`, first), expected);
      assert.deepEqual(absoluteIn(`${zone}.`, `${first.toUpperCase()}.${zone}.`), expected);
      assert.deepEqual(absoluteIn(`${zone}.`, "@"), { ok: true, value: `${zone}.` });
    }),
  );
});

test("names that cannot be in the zone are refused with the reason", () => {
  assert.match(message(absoluteIn("example.test.", "www.other.test.")), /outside the zone/);
  assert.match(message(absoluteIn("example.test.", "notexample.test.")), /outside the zone/);
  assert.match(message(parseRecordName("a..b")), /empty label/);
  assert.match(message(parseRecordName("a.*.b")), /only as the whole first label/);
  assert.match(message(parseRecordName("a".repeat(64))), /63 characters/);
  assert.match(message(parseTarget("mail")), /written in full/);
  assert.deepEqual(parseRecordName("*.apps"), { ok: true, value: "*.apps" });
});

test("each type's declared value becomes the form PowerDNS shows it in", () => {
  const table = [
    ["A", "192.0.2.1", "192.0.2.1"],
    ["AAAA", "2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["CAA", "0 ISSUE letsencrypt.org", '0 issue "letsencrypt.org"'],
    ["CAA", '0 iodef "mailto:a@b.c"', '0 iodef "mailto:a@b.c"'],
    ["CNAME", "WWW.Example.test", "www.example.test."],
    ["MX", "010 Mail.example.test.", "10 mail.example.test."],
    ["MX", "0 .", "0 ."],
    ["NS", "ns1.example.test", "ns1.example.test."],
    ["PTR", "host.example.test.", "host.example.test."],
    ["SRV", "0  5 5060 sip.example.test", "0 5 5060 sip.example.test."],
    ["TXT", 'say "hi" \\ é', String.raw`"say \"hi\" \\ \195\169"`],
  ] as const;
  for (const [type, declared, written] of table) {
    assert.deepEqual(parseDeclaredValue(type, declared), { ok: true, value: written });
    assert.equal(foldSeenValue(type, written), written);
  }
});

test("values that cannot be served are refused before they reach a server", () => {
  const table = [
    ["A", "2001:db8::1"],
    ["AAAA", "192.0.2.1"],
    ["CAA", "letsencrypt.org"],
    ["CAA", "256 issue x"],
    ["CNAME", "."],
    ["MX", "mail.example.test"],
    ["MX", "70000 mail.example.test"],
    ["MX", "10 mail"],
    ["SRV", "1 2 sip.example.test"],
    ["TXT", '"quoted"'],
    ["A", " 192.0.2.1"],
  ] as const;
  for (const [type, value] of table) assert.equal(parseDeclaredValue(type, value).ok, false, `${type} ${value}`);
});

test("types and values we do not know are shown as they are", () => {
  assert.equal(foldSeenValue("HTTPS", " 1 . alpn=h2 "), "1 . alpn=h2");
  assert.equal(foldSeenValue("MX", "nonsense"), "nonsense");
});

function message(parsed: { readonly ok: boolean; readonly message?: string }): string {
  assert.equal(parsed.ok, false);
  return parsed.message ?? "";
}
