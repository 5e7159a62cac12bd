import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { makePlan, type Situation } from "../../../src/kernel/plan.ts";
import type { OwnedItem } from "../../../src/ports/records.ts";

const marker = { installationId: "i", resourceUid: "z" };
const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), { maxLength: 7 });

function situationOf(
  [wanted, owned, seen]: readonly (readonly string[])[],
  values: ReadonlyMap<string, number>,
  claimsAll: boolean,
): Situation {
  return {
    loop: {
      same: (left, right) =>
        JSON.stringify(left) === JSON.stringify(right) ? [] : [{ field: "/size", wanted: 1, seen: 2 }],
    },
    claimsAll,
    marker,
    wanted: (wanted ?? []).map((key) => ({ key, item: { size: 1 } })),
    owned: (owned ?? []).map(
      (key): OwnedItem => ({
        key,
        state: "owned",
        externalId: key,
        sources: ["s"],
        wantedHash: "",
        intendedAtMs: 0,
        writtenAtMs: 0,
      }),
    ),
    seen: (seen ?? []).map((key) => ({ key, externalId: key, item: { size: values.get(key) ?? 1 } })),
    complete: true,
    observedFromMs: 1,
    nowMs: 1,
    settleMs: 0,
    answerMs: 0,
    leaving: undefined,
    tombstones: new Set(),
    released: new Set(),
    ownSource: { uid: "z", generation: 1 },
    ignoring: (_wanted, differences) => ({ acted: differences, ignored: [] }),
  };
}

test("the plan is the same in whatever order its lists come", () => {
  fc.assert(
    fc.property(
      fc.tuple(keys, keys, keys),
      fc.array(fc.constantFrom(1, 2)),
      fc.boolean(),
      (lists, sizes, claimsAll) => {
        const values = new Map(sizes.map((size, index) => [String.fromCharCode(97 + index), size]));
        const inOrder = lists.map((list) => list.toSorted());
        const turned = lists.map((list) => list.toSorted().toReversed());
        assert.deepEqual(
          makePlan(situationOf(inOrder, values, claimsAll)),
          makePlan(situationOf(turned, values, claimsAll)),
        );
      },
    ),
    { numRuns: 500 },
  );
});
