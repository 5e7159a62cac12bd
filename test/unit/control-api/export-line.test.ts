import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sealedEntrySchema } from "../../../src/control-api/schemas/audit.ts";
import { EntryReader } from "../../../src/control-api/schemas/export-line.ts";
import type { SealedEntry } from "../../../src/ports/read-store.ts";
import { chainHash } from "../../../src/store/seal-chain.ts";
import { holds } from "../../support/properties.ts";

const reader = new EntryReader();
const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "binary", maxLength: 6 }));
const whole = fc.nat({ max: 2 ** 40 });
const point = fc.record({ position: whole, hash: text }, { noNullPrototype: true });
const entries = fc.record(
  {
    incarnation: whole,
    position: whole,
    organizationId: text,
    type: text,
    uid: fc.option(text, { nil: undefined }),
    revision: fc.option(whole, { nil: undefined }),
    actor: text,
    data: fc.jsonValue({ maxDepth: 4 }),
    trail: fc.option(fc.dictionary(text, text, { maxKeys: 5 }), { nil: undefined }),
    atMs: whole,
    tenantLink: fc.option(point, { nil: undefined }),
    previousHash: text,
  },
  { noNullPrototype: true },
);

/** As JSON and the schema read a line; undefined where they refuse it. */
function slowly(line: string): { readonly hash: string; readonly computedHash: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const read = sealedEntrySchema.safeParse(value);
  if (!read.success || JSON.stringify(value) !== line) return undefined;
  const entry = read.data as SealedEntry;
  return { hash: entry.hash, computedHash: chainHash(entry) };
}

function sealed(entry: Omit<SealedEntry, "hash">): string {
  return JSON.stringify({ ...entry, hash: chainHash({ ...entry, hash: "" }) });
}

test("what is read quickly is what JSON reads, and the hash is the same", () => {
  holds(
    fc.property(entries, (entry) => {
      const line = sealed(entry as Omit<SealedEntry, "hash">);
      const quick = reader.read(Buffer.from(line), "organization");
      if (quick === undefined) return;
      const slow = slowly(line);
      assert.deepEqual([quick.hash, quick.computedHash], [slow?.hash, slow?.computedHash], line);
      assert.equal(quick.hash, quick.computedHash);
      const { position, organizationId, previousHash, tenantLink } = entry;
      assert.deepEqual(
        { ...quick, hash: "", computedHash: "" },
        { position, organizationId, previousHash, tenantLink, hash: "", computedHash: "" },
      );
    }),
    2_000,
  );
});

test("a line that was changed anywhere is read quickly only where JSON reads the same", () => {
  const alphabet = fc.constantFrom(...'{}[]",:\\ 0123456789-+.eEtrufalsnxyz_\t\u00e9'.split(""), "");
  holds(
    fc.property(entries, fc.nat(), fc.nat(4), alphabet, (entry, at, removed, put) => {
      const line = sealed(entry as Omit<SealedEntry, "hash">);
      const index = at % (line.length + 1);
      const changed = line.slice(0, index) + put + line.slice(index + removed);
      const quick = reader.read(Buffer.from(changed), "platform");
      if (quick === undefined) return;
      const slow = slowly(changed);
      assert.deepEqual([quick.hash, quick.computedHash], [slow?.hash, slow?.computedHash], changed);
    }),
    5_000,
  );
});

test("lines as they usually are go the quick way, and unusual ones do not", () => {
  const usual: Omit<SealedEntry, "hash"> = {
    incarnation: 1,
    position: 7,
    organizationId: "o",
    type: "resource.created",
    uid: "u",
    revision: 1,
    actor: "ada@example.test",
    data: { name: "www", kind: "DnsRecord", list: [1, { b: "x", a: null }, true], ab: {}, a: [] },
    trail: { type: "person", address: "::1", after: "abc" },
    atMs: 5,
    tenantLink: { position: 3, hash: "cd" },
    previousHash: "ef",
  };
  const isQuick = (change: Partial<SealedEntry>) =>
    reader.read(Buffer.from(sealed({ ...usual, ...change })), "platform") !== undefined;
  assert.ok(isQuick({}));
  assert.ok(isQuick({ uid: undefined, revision: undefined, trail: undefined, tenantLink: undefined }));
  for (const data of [{ text: 'a"b' }, { text: "é" }, { number: 1.5 }, { number: -1 }, { 2: "a", 1: "b" }, "\u0001"])
    assert.equal(isQuick({ data }), false, JSON.stringify(data));
});
