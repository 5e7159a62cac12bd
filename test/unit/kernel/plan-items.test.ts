import assert from "node:assert/strict";
import { test } from "node:test";
import { makePlan, type Situation, sizesOf } from "../../../src/kernel/plan.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { contentLoop, nowMs, ours, ownedItem, seenItem, situationOf, wantedItem } from "../../support/situations.ts";

const plan = (parts: Partial<Situation>) => makePlan(situationOf(parts));
const leaving = (orphan: boolean) => ({ author: { name: "ada", type: "person" as const }, atMs: 0, orphan });
const marks = { ...contentLoop, marks: true };

test("a missing marker is put back before anything is deleted or replaced, and the sources stay known", () => {
  const unmarked = seenItem("k1", { marker: "none" });
  for (const wanted of [[], [wantedItem("k1")], [wantedItem("k1", { value: "x", size: 2 })]]) {
    const { changes, markerMissing } = plan({ loop: marks, wanted, seen: [unmarked], owned: [ownedItem("k1")] });
    assert.deepEqual(markerMissing, ["k1"]);
    assert.deepEqual(
      changes.map(({ action, differences }) => [action, differences.map(({ field }) => field)]),
      [["update", ["/marker"]]],
    );
    assert.deepEqual(changes[0]?.wanted?.item, unmarked.item);
  }
  const left = plan({ loop: marks, seen: [unmarked], owned: [ownedItem("k1")], leaving: leaving(true) });
  assert.deepEqual(
    left.changes.map(({ action }) => action),
    ["forget"],
  );
});

test("a delete is declared when every former source has a tombstone, or the subject itself leaves", () => {
  const origin = (sources: string[], tombstones: string[], parts: Partial<Situation> = {}) =>
    plan({
      seen: [seenItem("k1")],
      owned: [ownedItem("k1", { sources })],
      tombstones: new Set(tombstones),
      ...parts,
    }).changes[0]?.origin;
  assert.equal(origin(["a"], ["a"]), "declared");
  assert.equal(origin(["a", "b"], ["a", "b", "c"]), "declared");
  assert.equal(origin(["a", "b"], ["a"]), "inferred");
  assert.equal(origin(["a"], []), "inferred");
  assert.equal(origin([], ["a"]), "inferred");
  assert.equal(origin(["a"], [], { leaving: leaving(false) }), "declared");
});

test("what a deleted source leaves where it is is forgotten, also where another source of it was deleted for good", () => {
  const actions = (sources: string[], tombstones: string[], released: string[], wanted: Situation["wanted"] = []) =>
    plan({
      wanted,
      seen: [seenItem("k1")],
      owned: [ownedItem("k1", { sources })],
      tombstones: new Set(tombstones),
      released: new Set(released),
    }).changes.map(({ action, origin }) => [action, origin]);
  assert.deepEqual(actions(["a"], ["a"], ["a"]), [["forget", "declared"]]);
  assert.deepEqual(actions(["a", "b"], ["a", "b"], ["b"]), [["forget", "declared"]]);
  assert.deepEqual(actions(["a"], ["a", "b"], ["b"]), [["delete", "declared"]]);
  assert.deepEqual(actions(["a"], ["a"], ["a"], [wantedItem("k1")]), [], "somebody else declares it: it stays ours");
});

test("what already vanished outside is declared gone like a delete would have been", () => {
  const [forgotten] = plan({ owned: [ownedItem("k1", { sources: ["a"] })], tombstones: new Set(["a"]) }).changes;
  assert.deepEqual([forgotten?.action, forgotten?.origin], ["forget", "declared"]);
});

test("losing one of several values is an update, not a delete", () => {
  const { changes } = plan({
    wanted: [wantedItem("k1", { value: "a", size: 1 })],
    seen: [seenItem("k1", { item: { value: "a+b", size: 1 } })],
    owned: [ownedItem("k1", { sources: ["a", "b"] })],
    tombstones: new Set(["b"]),
  });
  assert.deepEqual(
    changes.map(({ action, origin }) => [action, origin]),
    [["update", undefined]],
  );
});

test("what our own write may not show yet is left alone, for as long as that can last", () => {
  const written = (atMs: number, observedFromMs: number) =>
    plan({ wanted: [wantedItem("k1")], owned: [ownedItem("k1", { writtenAtMs: atMs })], observedFromMs });
  const unsettled = written(nowMs - 1_000, nowMs - 10);
  assert.deepEqual([unsettled.changes, unsettled.unsettled, unsettled.unsettledForMs], [[], ["k1"], 4_000]);
  const settled = written(nowMs - 5_000, nowMs);
  assert.deepEqual(
    settled.changes.map(({ action, missing }) => [action, missing]),
    [["create", true]],
  );
  // The time has come, but this look began before it had.
  assert.equal(written(nowMs - 5_000, nowMs - 1).unsettledForMs, 1);
});

test("an intent is waited for until its call must have ended and shown", () => {
  const intended = (atMs: number) =>
    plan({
      wanted: [wantedItem("k1")],
      owned: [ownedItem("k1", { state: "intended", externalId: undefined, intendedAtMs: atMs })],
    });
  assert.equal(intended(nowMs - 39_999).unsettledForMs, 1);
  const [again] = intended(nowMs - 40_000).changes;
  // It never was there for sure, so making it is no remediation.
  assert.deepEqual([again?.action, again?.missing], ["create", false]);
});

test("digests bind to subject, action, thing, wanted and seen, and not to what moves by itself", () => {
  const digest = (parts: Partial<Situation>, beat = 1) => {
    const seen = [seenItem("k1", { item: { value: "x", size: 1, beat } })];
    return plan({ wanted: [wantedItem("k1", { value: "y", size: 1 })], seen, owned: [ownedItem("k1")], ...parts })
      .changes[0]?.digest;
  };
  const base = digest({});
  assert.ok(base !== undefined);
  assert.equal(digest({}, 99), base);
  assert.equal(digest({ nowMs: nowMs + 5, observedFromMs: nowMs + 5 }), base);
  const others = [
    digest({ marker: { ...ours, resourceUid: "another subject" } }),
    digest({ wanted: [wantedItem("k1", { value: "z", size: 1 })] }),
    digest({ wanted: [wantedItem("k1", { value: "y", size: 2 })] }),
    digest({ wanted: [] }),
    digest({ seen: [seenItem("k1", { item: { value: "other", size: 1 } })] }),
    digest({ seen: [seenItem("k1", { externalId: "id-2" })], owned: [ownedItem("k1", { externalId: "id-2" })] }),
    digest({ owned: [] }),
  ];
  assert.equal(new Set([base, ...others]).size, others.length + 1);
});

test("a delete weighs what goes with it", () => {
  const { changes } = plan({ seen: [seenItem("k1", { contains: 7 })], owned: [ownedItem("k1")] });
  assert.equal(changes[0]?.weight, 8);
});

test("a plan shows no secret", () => {
  const secret = (text: string) => ({ value: new Secret(text), size: 1 }) as unknown as { value: string; size: number };
  const made = plan({
    wanted: [wantedItem("k1", secret("hidden-one")), wantedItem("k2", secret("hidden-two"))],
    seen: [seenItem("k1", { item: secret("hidden-three") })],
    owned: [ownedItem("k1")],
  });
  assert.deepEqual(sizesOf(made), { create: 1, update: 1, replace: 0, delete: 0 });
  assert.doesNotMatch(JSON.stringify(made), /hidden/);
});
