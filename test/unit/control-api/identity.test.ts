import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { network } from "../../../src/control-api/identity/attempt-limits.ts";
import { emailSchema } from "../../../src/control-api/identity/email.ts";
import { weakness } from "../../../src/control-api/identity/password-rules.ts";
import { Passwords } from "../../../src/control-api/identity/passwords.ts";
import { base32, fromBase32, totpCode, totpStepOf } from "../../../src/control-api/identity/totp.ts";
import { RootKeyBox } from "../../../src/runtime/root-key-box.ts";
import { systemSecretRandom } from "../../../src/runtime/system-secret-random.ts";

test("codes are those of RFC 6238", () => {
  const secret = Buffer.from("12345678901234567890");
  const vectors: readonly (readonly [number, string])[] = [
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ];
  for (const [seconds, code] of vectors) assert.equal(totpCode(secret, Math.floor(seconds / 30)), code);
});

test("a code counts in its step and the two around it", () => {
  const secret = Buffer.alloc(20, 3);
  const nowMs = 1_700_000_000_000;
  const step = Math.floor(nowMs / 30_000);
  for (const near of [step - 1, step, step + 1]) assert.equal(totpStepOf(secret, totpCode(secret, near), nowMs), near);
  for (const far of [step - 2, step + 2]) assert.equal(totpStepOf(secret, totpCode(secret, far), nowMs), undefined);
  for (const wrong of ["", "1", "1234567", "abcdef"]) assert.equal(totpStepOf(secret, wrong, nowMs), undefined);
});

test("base32 there and back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 40 }), (bytes) => {
      assert.deepEqual(Buffer.from(fromBase32(base32(bytes))), Buffer.from(bytes));
    }),
  );
});

test("e-mails that mean the same are the same", () => {
  assert.equal(emailSchema.parse("  Ada.Lovelace@Example.TEST "), "ada.lovelace@example.test");
  for (const wrong of [
    "",
    "ada",
    "@example.test",
    "ada@",
    "a b@example.test",
    "a@b@c",
    "a\n@example.test",
    "<a@b>",
    "a,b@c",
  ])
    assert.equal(emailSchema.safeParse(wrong).success, false, wrong);
});

test("a sentence is a good password; what everybody tries first is not", () => {
  const about = { email: "margaret@example.test", name: "Margaret Hamilton" };
  for (const good of ["tall giraffes hum quietly", "xkq7-vrm2-pl9d", "mein Fahrrad ist grüner"])
    assert.equal(weakness(good, about), undefined, good);
  for (const bad of [
    "elevenchars",
    "correcthorsebatterystaple",
    "Password123456",
    "123password123",
    "qwertyuiopasdf",
    "zyxwvutsrqponm",
    "margaret@example.test",
    "1margaret12345",
    "!!!!!!!!!!!!!!!",
  ])
    assert.ok(weakness(bad, about) !== undefined, bad);
});

test("addresses of one IPv6 network count as one", () => {
  assert.equal(network("2001:db8:1:2:3:4:5:6"), network("2001:DB8:1:2:ffff::1"));
  assert.notEqual(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
  assert.equal(network("::ffff:192.0.2.1"), "192.0.2.1");
  assert.equal(network("::1"), "0:0:0:0::/64");
});

test("a hash is verified in the same way whether there is one or not, and more than may wait are sent away", async () => {
  const cost = { memoryKiB: 64, passes: 1, lanes: 1 };
  const passwords = new Passwords({ random: systemSecretRandom, cost, atOnce: 1, waiting: 2 });
  const hash = await passwords.hash("tall giraffes");
  assert.notEqual(hash, await passwords.hash("tall giraffes"), "salted");
  assert.equal(await passwords.matches("tall giraffes", hash), true);
  assert.equal(await passwords.matches("tall giraffe", hash), false);
  assert.equal(await passwords.matches("tall giraffes", undefined), false);
  const answers = await Promise.allSettled(Array.from({ length: 5 }, () => passwords.matches("tall giraffes", hash)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"],
  );
  assert.equal(await passwords.matches("tall giraffes", hash), true, "the places are given back");
  assert.equal(passwords.isOutdated(hash), false);
  assert.equal(new Passwords({ random: systemSecretRandom }).isOutdated(hash), true);
});

test("what is sealed opens with the same key and the same binding alone", async () => {
  const box = new RootKeyBox(Buffer.alloc(32, 1));
  const sealed = await box.seal("JBSWY3DPEHPK3PXP", "totp/ada");
  assert.notEqual(sealed, await box.seal("JBSWY3DPEHPK3PXP", "totp/ada"));
  assert.equal(await box.open(sealed, "totp/ada"), "JBSWY3DPEHPK3PXP");
  await assert.rejects(box.open(sealed, "totp/eve"), /cannot be opened \(totp\/eve\)/);
  await assert.rejects(new RootKeyBox(Buffer.alloc(32, 2)).open(sealed, "totp/ada"));
  const spoilt = Buffer.from(sealed.slice(3), "base64url");
  spoilt.writeUInt8(spoilt.readUInt8(14) ^ 1, 14);
  await assert.rejects(box.open(`v1.${spoilt.toString("base64url")}`, "totp/ada"));
  await assert.rejects(box.open("plain", "totp/ada"), /totp\/ada/);
});
