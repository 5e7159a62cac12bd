import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonical, digestOf, fnv1a, redacted, SHARDS, shardOf } from "../../../src/kernel/hash.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { jsonItem } from "../../support/json-items.ts";
import { holds, shuffled } from "../../support/properties.ts";

/** The same value with the keys of every object set in another order. */
function reordered(value: unknown, order: number): unknown {
  if (Array.isArray(value)) return value.map((part) => reordered(part, order + 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(shuffled(Object.entries(value), order).map(([key, part]) => [key, reordered(part, order)]));
}

test("the canonical form does not depend on the order of keys, and neither does the digest", () => {
  holds(
    fc.property(jsonItem, fc.nat(), (item, order) => {
      const other = reordered(item, order);
      assert.equal(canonical(other), canonical(item));
      assert.equal(digestOf(other), digestOf(item));
    }),
  );
});

test("the canonical form is JSON of the same value, so that different values never share it", () => {
  holds(
    fc.property(jsonItem, jsonItem, (left, right) => {
      assert.deepEqual(JSON.parse(canonical(left)), left);
      const same = JSON.stringify(reordered(left, 0)) === JSON.stringify(reordered(right, 0));
      if (same) assert.equal(canonical(left), canonical(right));
      if (canonical(left) === canonical(right)) assert.deepEqual(left, right);
    }),
  );
});

test("undefined fields mean absent, undefined elements mean null", () => {
  assert.equal(canonical({ b: undefined, a: [undefined, 1] }), '{"a":[null,1]}');
  assert.equal(canonical(undefined), "null");
});

test("digests are stable across releases, because approvals and stored hashes are bound to them", () => {
  assert.equal(digestOf({ b: 1, a: ["x", null] }), digestOf({ a: ["x", null], b: 1 }));
  assert.equal(digestOf({ a: 1 }), "015abd7f5cc57a2dd94b7590f04ad808");
  assert.deepEqual(["", "a", "foobar"].map(fnv1a), [0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
});

test("a secret counts by its hash and is shown by a prefix of it", () => {
  const secret = new Secret("hidden-value");
  assert.equal(canonical({ secret }), `{"secret":{"$secret":"${secret.hash}"}}`);
  assert.deepEqual(redacted({ secret }), { secret: { $secret: secret.hash.slice(0, 16) } });
  assert.notEqual(digestOf({ secret }), digestOf({ secret: new Secret("other-value") }));
});

test("every id has one shard, within range, and ids spread over all of them", () => {
  const shards = new Set<number>();
  holds(
    fc.property(fc.string(), (id) => {
      const shard = shardOf(id);
      assert.ok(Number.isInteger(shard) && shard >= 0 && shard < SHARDS);
      assert.equal(shardOf(id), shard);
      shards.add(shard);
    }),
    2_000,
  );
  assert.equal(shards.size, SHARDS);
});
