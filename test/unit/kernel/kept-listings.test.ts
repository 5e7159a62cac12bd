import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptListings, type SharedListing } from "../../../src/kernel/kept-listings.ts";
import type { Inventory } from "../../../src/kernel/loop.ts";

function listing(): SharedListing {
  return { current: undefined, pending: undefined };
}

function inventory(entries: number): Inventory<unknown> {
  return {
    completeness: "complete",
    proof: "",
    startedAtMonotonicMs: 0,
    entries: Array.from({ length: entries }, () => ({})),
  };
}

test("the listing that was not used for longest goes when there are too many entries", () => {
  const kept = new KeptListings(100);
  const [first, second, third] = [listing(), listing(), listing()];
  kept.keep(first, inventory(40));
  kept.keep(second, inventory(40));
  kept.used(first);
  kept.keep(third, inventory(40));
  assert.equal(second.current, undefined);
  assert.equal(first.current?.entries.length, 40);
  assert.equal(third.current?.entries.length, 40);
  assert.equal(kept.entries, 80);
});

test("the newest listing is kept, however large", () => {
  const kept = new KeptListings(100);
  const [small, large] = [listing(), listing()];
  kept.keep(small, inventory(10));
  kept.keep(large, inventory(1_000));
  assert.equal(small.current, undefined);
  assert.equal(large.current?.entries.length, 1_000);
});

test("a newer listing of the same collection replaces the older one", () => {
  const kept = new KeptListings(100);
  const one = listing();
  kept.keep(one, inventory(60));
  kept.keep(one, inventory(70));
  assert.equal(kept.entries, 70);
  assert.equal(one.current?.entries.length, 70);
});

test("what is dropped counts no more", () => {
  const kept = new KeptListings(100);
  const one = listing();
  kept.keep(one, inventory(60));
  kept.drop(one);
  kept.drop(one);
  kept.used(one);
  assert.equal(one.current, undefined);
  assert.equal(kept.entries, 0);
});
