import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { makePlan, type Plan, type Situation } from "../../../src/kernel/plan.ts";
import { holds, shuffled } from "../../support/properties.ts";
import {
  applied,
  type Content,
  contentLoop,
  mixedSituation,
  ourSituation,
  ours,
  ownedItem,
  seenItem,
  situationOf,
  wantedItem,
} from "../../support/situations.ts";

const byKey = (situation: Situation) =>
  Object.fromEntries(situation.seen.map((seen) => [seen.key, seen.item as Content]));
const actions = (plan: Plan) => plan.changes.map((change) => `${change.action} ${change.key}`);
const isOutsideWrite = (action: string) => ["create", "update", "replace", "delete"].includes(action);
const leaving = (orphan: boolean) => ({ author: { name: "ada", type: "person" as const }, atMs: 0, orphan });

describe("where everything that is there is ours", () => {
  test("applying a plan to the observed set gives the desired set", () => {
    holds(
      fc.property(ourSituation, (situation) => {
        const after = applied(situation, makePlan(situation));
        const wanted = Object.fromEntries(situation.wanted.map(({ key, item }) => [key, item]));
        assert.deepEqual(byKey(after), wanted);
        assert.deepEqual(after.owned.map(({ key }) => key).sort(), Object.keys(wanted).sort());
      }),
      1_000,
    );
  });

  test("planning again after applying is empty", () => {
    holds(
      fc.property(ourSituation, (situation) => {
        assert.deepEqual(makePlan(applied(situation, makePlan(situation))).changes, []);
      }),
      1_000,
    );
  });

  test("a plan says what differs, and nothing else", () => {
    holds(
      fc.property(ourSituation, (situation) => {
        for (const change of makePlan(situation).changes) {
          if (change.action !== "update" && change.action !== "replace") continue;
          assert.ok(change.differences.length > 0);
          assert.equal(
            change.action === "replace",
            change.differences.some(({ field }) => field === "/size"),
          );
        }
      }),
    );
  });
});

describe("where anything goes", () => {
  test("nothing depends on the order of wanted, seen and recorded items", () => {
    holds(
      fc.property(mixedSituation, fc.nat(), (situation, order) => {
        const other = {
          ...situation,
          wanted: shuffled(situation.wanted, order),
          seen: shuffled(situation.seen, order + 1),
          owned: shuffled(situation.owned, order + 2),
        };
        assert.deepEqual(makePlan(other), makePlan(situation));
      }),
      1_000,
    );
  });

  test("what is not ours is never created over, updated, replaced or deleted", () => {
    holds(
      fc.property(mixedSituation, (situation) => {
        for (const { action, key, seen, owned } of makePlan(situation).changes) {
          if (action === "create") assert.equal(seen, undefined);
          if (!["update", "replace", "delete"].includes(action)) continue;
          assert.equal(owned?.key, key);
          assert.equal(owned?.externalId, seen?.externalId);
          const { marker } = seen ?? {};
          assert.ok(marker === undefined || marker === "none" || marker === ours, JSON.stringify(marker));
        }
      }),
      1_000,
    );
  });

  test("one outside thing is the object of at most one change", () => {
    holds(
      fc.property(mixedSituation, (situation) => {
        const ids = makePlan(situation).changes.flatMap((change) => change.seen?.externalId ?? []);
        assert.deepEqual(ids, [...new Set(ids)]);
      }),
      1_000,
    );
  });

  test("an incomplete look calls nothing missing and forgets nothing it did not see", () => {
    holds(
      fc.property(mixedSituation, (situation) => {
        const plan = makePlan({ ...situation, complete: false });
        for (const change of plan.changes) {
          assert.equal(change.missing, false);
          if (change.action === "forget") assert.notEqual(change.seen, undefined);
          if (change.action === "create") assert.equal(change.owned, undefined);
          // Whatever takes the place of a recorded thing first knows that this is gone, and nobody knows that here.
          if (change.owned?.state === "owned") assert.equal(change.owned.externalId, change.seen?.externalId);
        }
        const unseen = situation.owned.filter(
          ({ externalId }) => !situation.seen.some((seen) => seen.externalId === externalId),
        );
        for (const { key, state } of unseen)
          if (state === "owned")
            assert.ok(plan.suspected.includes(key) || plan.foreign.some((entry) => entry.key === key));
      }),
      1_000,
    );
  });

  test("carried out round by round, every plan comes to rest, and strangers' things are as they were", () => {
    holds(
      fc.property(mixedSituation, (start) => {
        let situation: Situation = { ...start, complete: true };
        const everOurs = new Set(start.owned.map(({ externalId }) => externalId));
        for (let round = 0; round < 5; round++) {
          situation = applied(situation, makePlan(situation));
          for (const { externalId } of situation.owned) everOurs.add(externalId);
        }
        const rest = makePlan(situation);
        assert.deepEqual(actions(rest), []);
        const foreign = new Set(rest.foreign.map(({ key }) => key));
        for (const { key, item } of start.wanted) {
          const record = situation.owned.find((owned) => owned.key === key);
          const seen = situation.seen.find(({ externalId }) => externalId === record?.externalId);
          if (!foreign.has(key)) assert.deepEqual(seen?.item, item);
        }
        for (const seen of start.seen)
          if (!everOurs.has(seen.externalId)) assert.ok(situation.seen.includes(seen), JSON.stringify(seen));
      }),
      1_000,
    );
  });

  test("an orphaning subject writes nothing outside", () => {
    holds(
      fc.property(mixedSituation, (situation) => {
        const plan = makePlan({ ...situation, wanted: [], leaving: leaving(true) });
        assert.deepEqual(
          actions(plan).filter((action) => isOutsideWrite(action.split(" ")[0] ?? "")),
          [],
        );
      }),
    );
  });
});

describe("ownership", () => {
  const marks = { ...contentLoop, marks: true };
  const plan = (parts: Partial<Situation>) => makePlan(situationOf(parts));

  test("what carries our marker is adopted, recorded or not", () => {
    const seen = [seenItem("k1", { marker: ours })];
    assert.deepEqual(actions(plan({ loop: marks, wanted: [wantedItem("k1")], seen })), ["adopt k1"]);
    const intended = [ownedItem("k1", { state: "intended", externalId: undefined })];
    assert.deepEqual(actions(plan({ loop: marks, wanted: [wantedItem("k1")], seen, owned: intended })), ["adopt k1"]);
    assert.deepEqual(actions(plan({ loop: marks, seen, owned: intended })), ["adopt k1"]);
  });

  test("without markers, what is there exactly as it was about to be made is adopted", () => {
    const intended = [ownedItem("k1", { state: "intended", externalId: undefined })];
    const wanted = [wantedItem("k1")];
    assert.deepEqual(actions(plan({ wanted, seen: [seenItem("k1")], owned: intended })), ["adopt k1"]);
    const other = [seenItem("k1", { item: { value: "theirs", size: 1 } })];
    assert.deepEqual(actions(plan({ wanted, seen: other, owned: intended })), ["takeover k1"]);
    assert.deepEqual(actions(plan({ wanted, seen: other })), ["takeover k1"]);
  });

  test("an intent nobody wants any more adopts what it made, and forgets it when somebody else's thing is there", () => {
    const [made] = plan({ wanted: [wantedItem("k1")] }).changes;
    const intended = [
      ownedItem("k1", { state: "intended", externalId: undefined, wantedHash: made?.wantedHash ?? "" }),
    ];
    assert.deepEqual(actions(plan({ seen: [seenItem("k1")], owned: intended })), ["adopt k1"]);
    const changed = [wantedItem("k1", { value: "newer", size: 1 })];
    assert.deepEqual(actions(plan({ wanted: changed, seen: [seenItem("k1")], owned: intended })), ["adopt k1"]);
    const theirs = seenItem("k1", { item: { value: "theirs", size: 1 } });
    const [forgotten] = plan({ seen: [theirs], owned: intended }).changes;
    assert.deepEqual([forgotten?.action, forgotten?.seen], ["forget", theirs]);
  });

  test("a second claimant is refused, and what it took is not deleted", () => {
    const theirs = seenItem("k1", { marker: { installationId: "installation-1", resourceUid: "another subject" } });
    const wanted = plan({ loop: marks, wanted: [wantedItem("k1")], seen: [theirs], owned: [ownedItem("k1")] });
    assert.deepEqual(wanted.changes, []);
    assert.deepEqual(wanted.foreign, [{ key: "k1", owner: "installation installation-1, resource another subject" }]);
    const gone = plan({ loop: marks, seen: [theirs], owned: [ownedItem("k1")], leaving: leaving(false) });
    assert.deepEqual(actions(gone), ["forget k1"]);
  });

  test("two things under one key: the recorded one wins, then the marked one, then the smaller id", () => {
    const both = [seenItem("k1", { externalId: "id-b" }), seenItem("k1", { externalId: "id-a" })];
    const wanted = [wantedItem("k1", { value: "y", size: 1 })];
    const recorded = plan({ wanted, seen: both, owned: [ownedItem("k1", { externalId: "id-b" })] });
    assert.deepEqual([actions(recorded), recorded.changes[0]?.seen?.externalId], [["update k1"], "id-b"]);
    assert.deepEqual(recorded.duplicates, [{ key: "k1", externalId: "id-a" }]);
    const [one, other] = [
      seenItem("k1", { externalId: "id-a", marker: "none" }),
      seenItem("k1", { externalId: "id-b", marker: ours }),
    ];
    const marked = plan({ loop: marks, wanted, seen: [one, other] });
    assert.deepEqual([actions(marked), marked.changes[0]?.seen?.externalId], [["adopt k1"], "id-b"]);
    const twins = plan({ loop: marks, wanted, seen: [other, { ...other, externalId: "id-0" }] });
    assert.equal(twins.changes[0]?.seen?.externalId, "id-0");
  });

  test("strangers of one name are nobody's duplicates, and a thing listed twice is not two", () => {
    const strangers = [seenItem("k9", { externalId: "id-a" }), seenItem("k9", { externalId: "id-b" })];
    const beside = plan({ wanted: [wantedItem("k1")], seen: [...strangers, seenItem("k1")], owned: [ownedItem("k1")] });
    assert.deepEqual([beside.changes, beside.duplicates, beside.strangers], [[], [], 2]);
    const twice = plan({
      wanted: [wantedItem("k1")],
      seen: [seenItem("k1"), seenItem("k1")],
      owned: [ownedItem("k1")],
    });
    assert.deepEqual([twice.changes, twice.duplicates, twice.strangers], [[], [], 0]);
  });

  test("a recorded thing that was renamed outside is not taken for what is wanted under its new name", () => {
    const renamed = plan({
      wanted: [wantedItem("k1"), wantedItem("k2")],
      seen: [seenItem("k2", { externalId: "id-k1" })],
      owned: [ownedItem("k1")],
    });
    assert.deepEqual(actions(renamed), ["create k2"]);
  });
});
