import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { approvedBefore, changedItems, knownItem } from "../../../console/src/pages/held/changed-items.ts";
import type { HeldChangeDocument } from "../../../src/control-api/schemas/governance.ts";
import { holds } from "../../support/properties.ts";

type Item = HeldChangeDocument["items"][number];

const item = (key: string, change: Partial<Item> = {}): Item => ({
  kind: "DnsZone",
  name: "shop",
  key,
  action: "delete",
  differences: [],
  reason: "too many",
  ...change,
});
const change = (id: string, given: Partial<HeldChangeDocument>): HeldChangeDocument =>
  ({ id, guard: "delete-budget", items: [item("a")], ...given }) as HeldChangeDocument;
const between = (before: readonly Item[], after: readonly Item[]) =>
  changedItems(before.map(knownItem), after.map(knownItem));

describe("what changed since a held change was seen", () => {
  test("what is new, gone or otherwise is named; another reason alone is not a change", () => {
    const before = [item("a"), item("b"), item("c")];
    const after = [item("b", { reason: "still too many" }), item("c", { action: "update" }), item("d")];
    assert.deepEqual(between(before, after), {
      added: ["DnsZone/shop d"],
      gone: ["DnsZone/shop a"],
      other: ["DnsZone/shop c"],
    });
  });

  test("the same key in another resource is another thing, and so is another outside id under one key", () => {
    assert.deepEqual(between([item("a")], [item("a", { name: "brand" })]).added, ["DnsZone/brand a"]);
    assert.deepEqual(between([item("a", { externalId: "1" })], [item("a", { externalId: "2" })]).other, [
      "DnsZone/shop a",
    ]);
  });

  test("every item is counted at most once, and nothing is said where nothing changed, whatever the order", () => {
    const items = fc.array(
      fc.record({ key: fc.constantFrom("a", "b", "c", "d"), action: fc.constantFrom("delete", "update", "create") }),
      { maxLength: 8 },
    );
    holds(
      fc.property(items, items, (left, right) => {
        const [before, after] = [left, right].map((list) => list.map(({ key, action }) => item(key, { action })));
        const { added, gone, other } = between(before ?? [], after ?? []);
        const all = [...added, ...gone, ...other];
        assert.equal(new Set(all).size, all.length);
        const same = between(before ?? [], (before ?? []).toReversed());
        assert.deepEqual(same, { added: [], gone: [], other: [] });
        const back = between(after ?? [], before ?? []);
        assert.deepEqual([back.added.toSorted(), back.gone.toSorted()], [gone.toSorted(), added.toSorted()]);
      }),
    );
  });

  test("the last approved one is of the same guard and about one of the same resources", () => {
    const now = change("now", {});
    const older = change("older", { decidedAt: "2026-01-01T00:00:00Z" });
    const newer = change("newer", { decidedAt: "2026-02-01T00:00:00Z" });
    const guard = change("guard", { decidedAt: "2026-03-01T00:00:00Z", guard: "mode" });
    const other = change("other", { decidedAt: "2026-03-01T00:00:00Z", items: [item("a", { name: "brand" })] });
    assert.equal(approvedBefore(now, [older, guard, newer, other, now])?.id, "newer");
    assert.equal(approvedBefore(now, [guard, other]), undefined);
  });
});
