import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Secret } from "../../../src/kernel/secret.ts";
import { createCredentials } from "../../../src/runtime/credentials.ts";
import { createEngineOpener, engineSealer } from "../../../src/runtime/engine-seal.ts";
import { RootKeyBox } from "../../../src/runtime/root-key-box.ts";
import { systemSecretRandom } from "../../../src/runtime/system-secret-random.ts";

const newKey = () => systemSecretRandom.bytes(32);

test("what is sealed to an engine opens for it alone, and for what it was sealed", () => {
  const [mine, other] = [createEngineOpener([newKey()]), createEngineOpener([newKey()])];
  const sealed = engineSealer.seal(mine.key, "hunter2 with ümlauts", "account/a");
  assert.ok(!sealed.includes("hunter2"));
  assert.equal(mine.open(sealed, "account/a"), "hunter2 with ümlauts");
  assert.throws(() => mine.open(sealed, "account/b"), /sealed for something else/);
  assert.throws(() => other.open(sealed, "account/a"), /which this scheduler does not have/);
  assert.notEqual(engineSealer.seal(mine.key, "hunter2 with ümlauts", "account/a"), sealed, "never twice the same");
});

test("any changed letter of a sealed credential is found", () => {
  const opener = createEngineOpener([newKey()]);
  const sealed = engineSealer.seal(opener.key, "a value", "b");
  for (let index = 0; index < sealed.length; index++) {
    const other = sealed[index] === "A" ? "B" : "A";
    const changed = sealed.slice(0, index) + other + sealed.slice(index + 1);
    // The last letter of base64 may carry bits that mean nothing.
    let opened: string | undefined;
    try {
      opened = opener.open(changed, "b");
    } catch {
      continue;
    }
    const bytes = (text: string) => text.split(".").map((part) => Buffer.from(part, "base64url").toString("hex"));
    assert.deepEqual(bytes(changed).slice(2), bytes(sealed).slice(2), `letter ${index} changed`);
    assert.equal(opened, "a value");
  }
});

test("after a rotation the new key is current and the old one still opens", () => {
  const [old, young] = [newKey(), newKey()];
  const before = createEngineOpener([old]);
  const sealed = engineSealer.seal(before.key, "v", "b");
  const both = createEngineOpener([young, old]);
  assert.deepEqual(both.earlierIds, [before.key.id]);
  assert.equal(both.isCurrent(sealed), false);
  assert.equal(both.open(sealed, "b"), "v");
  assert.equal(both.isCurrent(engineSealer.seal(both.key, "v", "b")), true);
});

test("a sealed reference is read as a credential, and a missing key says what to do", async () => {
  const opener = createEngineOpener([newKey()]);
  const reference = `sealed:${engineSealer.seal(opener.key, "v", "mine")}`;
  assert.deepEqual(await createCredentials({}, opener).read(reference, "mine"), { found: true, value: "v" });
  const moved = await createCredentials({}, opener).read(reference, "theirs");
  assert.ok(!moved.found && /sealed for something else/.test(moved.message));
  const without = await createCredentials({}).read(reference, "mine");
  assert.ok(!without.found && /no engine key/.test(without.message));
  const stranger = await createCredentials({}, createEngineOpener([newKey()])).read(reference, "mine");
  assert.ok(!stranger.found && /engine\.key/.test(stranger.message));
});

test("the root key's box opens under its keys and bindings alone", async () => {
  const [old, young] = [newKey(), newKey()];
  const before = new RootKeyBox(old);
  const sealed = await before.seal("v", "totp/ada");
  const both = new RootKeyBox([young, old]);
  assert.equal(await both.open(sealed, "totp/ada"), "v");
  assert.equal(both.isCurrent(sealed), false);
  assert.equal(both.isCurrent(await both.seal("v", "x")), true);
  await assert.rejects(both.open(sealed, "totp/grace"), /sealed for something else/);
  await assert.rejects(new RootKeyBox(young).open(sealed, "totp/ada"), /Put the missing one behind the others/);
});

test("a secret prints itself nowhere", () => {
  const secret = new Secret("canary-value");
  const error = new Error(`failed with ${String(secret)}`, { cause: { secret } });
  const shown = [
    JSON.stringify({ secret, deep: [{ secret }] }),
    String(secret),
    `in a template: ${String(secret)}`,
    inspect(secret),
    inspect({ secret }, { depth: 9, showHidden: true, customInspect: true }),
    inspect({ secret }, { customInspect: false, showHidden: true }),
    inspect(error),
    Object.entries(secret).flat().join(),
    JSON.stringify(structuredClone(Object.assign({}, secret))),
  ];
  assert.ok(shown.every((text) => !text.includes("canary-value")));
  assert.equal(secret.reveal(), "canary-value");
});
