import assert from "node:assert/strict";
import { test } from "node:test";
import { passkeyHindrance } from "../../../console/src/api/passkey-place.ts";

test("a name on this machine or with HTTPS can have passkeys", () => {
  for (const address of ["http://localhost:7780/o/demo/access", "https://setpoint.example/o/demo/access"])
    assert.equal(passkeyHindrance(address, true), undefined, address);
});

test("whoever opened this machine by its number is led to the same page by its name", () => {
  for (const host of ["127.0.0.1", "127.0.0.2", "[::1]"])
    assert.deepEqual(passkeyHindrance(`http://${host}:7780/o/demo/access?part=sessions`, true), {
      why: `Passkeys belong to a name, and ${host} is a number.`,
      open: "http://localhost:7780/o/demo/access?part=sessions",
    });
});

test("elsewhere it is said what is missing, and what to set", () => {
  const plain = passkeyHindrance("http://setpoint.example/o/demo/access", false);
  assert.match(plain?.why ?? "", /^Passkeys need HTTPS\. .*SETPOINT_PUBLIC_URL/);
  const numbered = passkeyHindrance("https://192.0.2.7/o/demo/access", true);
  assert.match(numbered?.why ?? "", /192\.0\.2\.7 is a number\. .*SETPOINT_PUBLIC_URL/);
  const sixth = passkeyHindrance("https://[2001:db8::7]/o/demo/access", true);
  assert.match(sixth?.why ?? "", /\[2001:db8::7\] is a number/);
  for (const hindrance of [plain, numbered, sixth]) assert.equal(hindrance?.open, undefined);
});
