import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Secret } from "../../../src/kernel/secret.ts";

test("a secret shows itself in nothing but a reveal", () => {
  const secret = new Secret("hunter22/+=");
  for (const shown of [JSON.stringify({ secret }), String(secret), inspect(secret), inspect({ secret })])
    assert.doesNotMatch(shown, /hunter22/);
  assert.equal(secret.reveal(), "hunter22/+=");
});

test("what somebody else repeats of a secret is taken out, however it is spelled", () => {
  const value = 'hunter22/+="';
  const secret = new Secret(value);
  const bytes = Buffer.from(value);
  for (const form of [
    value,
    encodeURIComponent(value),
    JSON.stringify(value),
    bytes.toString("base64"),
    bytes.toString("hex"),
  ])
    assert.match(secret.hideIn(`refused: ${form}.`), /^refused: "?\[secret\]"?\.$/);
  assert.equal(new Secret("").hideIn("as it was"), "as it was");
});
