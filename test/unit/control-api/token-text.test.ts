import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  newTokenText,
  readTokenText,
  tokenHash,
  tokenPrefixes,
} from "../../../src/control-api/authentication/token-text.ts";
import type { TokenType } from "../../../src/ports/credential-store.ts";
import { systemSecretRandom } from "../../../src/runtime/system-secret-random.ts";

const types = Object.keys(tokenPrefixes) as TokenType[];
const random = (bytes: Uint8Array) => ({ bytes: () => bytes });
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });

test("a token is read back as what it was made as", () => {
  fc.assert(
    fc.property(fc.constantFrom(...types), secrets, (type, bytes) => {
      const text = newTokenText(type, random(bytes));
      assert.deepEqual(readTokenText(text), { is: "token", type, hash: tokenHash(text) });
      assert.equal(text.length, tokenPrefixes[type].length + 43 + 6);
    }),
  );
});

test("different secrets are different tokens, the least and the greatest included", () => {
  const least = newTokenText("service-token", random(new Uint8Array(32)));
  const greatest = newTokenText("service-token", random(new Uint8Array(32).fill(255)));
  assert.match(least, /^spt_svc_0{43}[0-9A-Za-z]{6}$/);
  assert.equal(readTokenText(greatest).is, "token");
  fc.assert(
    fc.property(secrets, secrets, (one, other) => {
      fc.pre(Buffer.compare(one, other) !== 0);
      assert.notEqual(newTokenText("service-token", random(one)), newTokenText("service-token", random(other)));
    }),
  );
});

test("any single letter that is changed, dropped or swapped is found without a lookup", () => {
  for (const type of types) {
    const text = newTokenText(type, systemSecretRandom);
    const start = tokenPrefixes[type].length;
    for (let index = start; index < text.length; index++) {
      const other = text[index] === "a" ? "b" : "a";
      const changed = text.slice(0, index) + other + text.slice(index + 1);
      assert.deepEqual(readTokenText(changed), { is: "broken", type }, `letter ${index} changed`);
      assert.deepEqual(readTokenText(text.slice(0, index) + text.slice(index + 1)), { is: "broken", type });
    }
    assert.deepEqual(readTokenText(`${text}0`), { is: "broken", type });
  }
});

test("a token under another type's prefix is broken: types are never confused", () => {
  for (const type of types)
    for (const other of types) {
      if (type === other) continue;
      const text = newTokenText(type, systemSecretRandom);
      const renamed = tokenPrefixes[other] + text.slice(tokenPrefixes[type].length);
      assert.deepEqual(readTokenText(renamed), { is: "broken", type: other });
    }
  assert.deepEqual(readTokenText("spt_xyz_0000"), { is: "broken", type: undefined });
  assert.deepEqual(readTokenText("setpoint_op_something"), { is: "something-else" });
});
