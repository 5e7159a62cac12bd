import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admit } from "../../../src/kernel/admit.ts";
import type { Facts } from "../../../src/kernel/facts.ts";
import { digestOf } from "../../../src/kernel/hash.ts";
import { heldChangeDigest, heldGroupsDigest, reclaimDigest } from "../../../src/kernel/held-change.ts";
import type { Situation } from "../../../src/kernel/plan.ts";
import type { Fight, GuardName, Mode } from "../../../src/ports/records.ts";
import { factsOf, foundBefore, grantsFor, losing, pauseOf, policyWith, through } from "../../support/guard-facts.ts";
import { contentLoop, nowMs, ours, ownedItem, seenItem, situationOf, wantedItem } from "../../support/situations.ts";

const said = (facts: Facts, guard: GuardName) => admit(facts).verdicts.find((verdict) => verdict.guard === guard);
const inMode = (facts: Facts, mode: Mode): Facts => ({
  ...facts,
  policy: { ...facts.policy, mode, modeFrom: "project/p" },
});

/** One of each: an adoption, a create, an update, a replacement, a takeover, a delete and something to forget. */
const everything = (): Situation => {
  const sources = ["of the deleted"];
  return situationOf({
    loop: { ...contentLoop, marks: true },
    wanted: [
      wantedItem("adopted"),
      wantedItem("created"),
      wantedItem("replaced", { value: "x", size: 2 }),
      wantedItem("taken"),
      wantedItem("updated", { value: "y", size: 1 }),
    ],
    seen: [
      seenItem("adopted", { marker: ours }),
      seenItem("replaced", { marker: ours }),
      seenItem("taken", { marker: "none" }),
      seenItem("updated", { marker: ours }),
      seenItem("deleted", { marker: ours }),
    ],
    owned: [
      ownedItem("replaced"),
      ownedItem("updated"),
      ownedItem("deleted", { sources }),
      ownedItem("forgotten", { sources }),
    ],
    tombstones: new Set(sources),
  });
};
const all = factsOf(everything(), { policy: policyWith({ deletesPerCycle: { count: 9, percent: 100, atLeast: 9 } }) });
const allGranted: Facts = { ...all, grants: grantsFor(all.plan.changes) };
const inOrder = (facts: Facts) => admit(facts).admitted.map(({ action, key }) => `${action} ${key}`);

describe("mode", () => {
  test("observe looks, reports what it would do, and asks nobody", () => {
    const facts = inMode(all, "observe");
    const { admitted, held } = admit(facts);
    assert.deepEqual([admitted, held], [[], []]);
    assert.match(said(facts, "mode")?.reason ?? "", /set at project\/p.*would .*create 1/);
    assert.deepEqual(said(facts, "mode")?.numbers, {
      adopt: 1,
      create: 1,
      update: 1,
      replace: 1,
      delete: 1,
      forget: 1,
    });
  });

  test("propose holds every change outside and records what is already true", () => {
    assert.deepEqual(inOrder(inMode(all, "propose")), ["adopt adopted", "forget forgotten"]);
    const held = admit(inMode(all, "propose")).held.flatMap(({ items }) => items.map(({ action }) => action));
    assert.deepEqual(held.sort(), ["create", "delete", "replace", "takeover", "update"]);
  });

  test("an approved item passes in propose mode, and only that one", () => {
    const [created] = all.plan.changes.filter(({ action }) => action === "create");
    assert.ok(created);
    const facts = { ...inMode(all, "propose"), grants: grantsFor([created]) };
    assert.deepEqual(inOrder(facts), ["adopt adopted", "forget forgotten", "create created"]);
  });

  test("enforce acts within the other guards", () => {
    assert.deepEqual(
      inOrder(all),
      inOrder(allGranted).filter((change) => change !== "takeover taken"),
    );
  });
});

describe("pauses", () => {
  test("of deletes keep replacements and deletes back, of writes and of all everything", () => {
    assert.deepEqual(
      inOrder({ ...allGranted, pauses: [pauseOf("deletes")] }),
      inOrder(allGranted).filter((change) => !/^(replace|delete)/.test(change)),
    );
    assert.deepEqual(inOrder({ ...allGranted, pauses: [pauseOf("deletes"), pauseOf("writes")] }), []);
    assert.deepEqual(inOrder({ ...allGranted, pauses: [pauseOf("all")] }), []);
    assert.match(
      said({ ...all, pauses: [pauseOf("writes")] }, "pause")?.reason ?? "",
      /writes paused at the organization by ada: incident/,
    );
  });

  test("end by themselves", () => {
    const over = { ...pauseOf("writes"), expiresAtMs: nowMs };
    assert.deepEqual(inOrder({ ...all, pauses: [over] }), inOrder(all));
  });
});

test("the cap lets what adds through before what takes away, by key, and the rest follows", () => {
  const order = [
    "adopt adopted",
    "forget forgotten",
    "create created",
    "update updated",
    "takeover taken",
    "replace replaced",
    "delete deleted",
  ];
  for (let cap = 0; cap <= order.length; cap++) {
    const policy = policyWith({ ...all.policy.limits, changesPerCycle: cap });
    const facts = { ...allGranted, policy };
    assert.deepEqual(inOrder(facts), order.slice(0, cap));
    const verdict = said(facts, "change-cap");
    if (cap === order.length) assert.equal(verdict, undefined);
    else assert.deepEqual(verdict?.numbers, { asked: order.length, allowed: cap });
  }
  const many = situationOf({ wanted: Array.from({ length: 60 }, (_, index) => wantedItem(`k${index}`)) });
  assert.equal(admit(factsOf(many)).admitted.length, 50);
});

describe("fights", () => {
  const situation = situationOf({
    wanted: [wantedItem("k1", { value: "ours", size: 1, beat: 0 })],
    seen: [seenItem("k1", { item: { value: "theirs", size: 1 } })],
    owned: [ownedItem("k1")],
    loop: { same: contentLoop.same },
  });
  const fight: Fight = {
    key: "k1",
    field: "/value",
    wantedHash: digestOf("ours"),
    seenHash: digestOf("theirs"),
    count: 3,
    stoppedAtMs: nowMs,
  };
  const writes = (fights: readonly Fight[], parts: Partial<Situation> = {}) =>
    admit(factsOf({ ...situation, ...parts }, { fights })).admitted;

  test("a field that was changed back after three writes is no longer written, and both values are named", () => {
    assert.equal(writes([{ ...fight, count: 2, stoppedAtMs: undefined }]).length, 1);
    assert.deepEqual(writes([fight]), []);
    const verdict = said(factsOf(situation, { fights: [fight] }), "fights");
    assert.match(verdict?.reason ?? "", /\/value: we write "ours", somebody writes "theirs"/);
    assert.deepEqual(verdict?.numbers, { rounds: 3, fields: 1 });
  });

  test("the other fields keep converging, and the fought one is written as it was seen", () => {
    const wanted = [wantedItem("k1", { value: "ours", size: 2 })];
    const [change] = writes([fight], { wanted });
    assert.deepEqual(change?.wanted?.item, { value: "theirs", size: 2 });
    assert.deepEqual(
      change?.differences.map(({ field }) => field),
      ["/size"],
    );
  });

  test("writing resumes when either value changes, and as one trial a day", () => {
    assert.equal(writes([fight], { wanted: [wantedItem("k1", { value: "newer", size: 1 })] }).length, 1);
    const other = [seenItem("k1", { item: { value: "something else", size: 1 } })];
    assert.equal(writes([fight], { seen: other }).length, 1);
    const day = 24 * 60 * 60_000;
    assert.equal(writes([{ ...fight, stoppedAtMs: nowMs - day + 1 }]).length, 0);
    assert.equal(writes([{ ...fight, stoppedAtMs: nowMs - day }]).length, 1);
  });

  test("a fight over one item says nothing about another", () => {
    assert.equal(writes([{ ...fight, key: "k2" }]).length, 1);
  });
});

test("too many at once: 40 percent and at least 3 make the observer suspect, and remediation waits", () => {
  const situation = losing(10, 1);
  const missing = { ...situation, seen: situation.seen.slice(1), wanted: [...situation.wanted, wantedItem("new")] };
  const at = (subjects: number, bad: number) =>
    through(factsOf(missing, { findings: foundBefore(situation), health: { subjects, bad } }));
  const everythingElse = ["create item-000", "create new", "delete item-009"];
  assert.deepEqual(at(5, 2), everythingElse);
  assert.deepEqual(at(8, 3), everythingElse);
  assert.deepEqual(at(7, 3), ["create new"]);
  assert.deepEqual(at(3, 3), ["create new"]);
  assert.deepEqual(at(1, 1), everythingElse);
  // A site that is out is a small part of an account.
  const atSite = (subjects: number, bad: number) => {
    const health = { subjects: 100, bad, atSite: { site: "fsn1", subjects, bad } };
    return factsOf(missing, { findings: foundBefore(situation), health });
  };
  assert.deepEqual(through(atSite(8, 3)), everythingElse);
  assert.deepEqual(through(atSite(7, 3)), ["create new"]);
  assert.match(
    said(atSite(7, 3), "too-many-at-once")?.reason ?? "",
    /^3 of 7 subjects of this account in fsn1 went bad/,
  );
  const facts = factsOf(missing, { findings: foundBefore(situation), health: { subjects: 5, bad: 4 } });
  assert.deepEqual(said(facts, "too-many-at-once")?.numbers, { bad: 4, subjects: 5, percent: 40, atLeast: 3 });
  const [held, ...others] = admit(facts).held;
  assert.deepEqual([others, held?.level, held?.guard], [[], "account", "too-many-at-once"]);
  assert.deepEqual(
    held?.items.map(({ action, key }) => `${action} ${key}`),
    ["create item-000", "delete item-009"],
  );
  // A person who has looked lets it through, item by item; a confirmed number of deletes says nothing about the observer.
  assert.deepEqual(through({ ...facts, grants: grantsFor(facts.plan.changes) }), everythingElse);
  assert.deepEqual(through({ ...facts, confirmed: new Set(["item-009"]) }), ["create new"]);
});

describe("account identity", () => {
  const problem = { reason: "answers as another account", reclaim: undefined, numbers: {} };

  test("another account is refused as a whole, granted or not", () => {
    const facts = { ...allGranted, accountProblem: problem };
    assert.deepEqual([inOrder(facts), admit(facts).held], [[], []]);
    assert.equal(said(facts, "account-identity")?.answer, "refuse");
  });

  test("after a restore one approval per account is asked for, the same from every subject", () => {
    const reclaim = { accountId: "account-1", incarnation: 2 };
    const restored = { ...problem, reclaim, numbers: { claimed: 1, incarnation: 2 } };
    const facts = { ...allGranted, accountProblem: restored };
    const other = factsOf(losing(10, 1), { accountProblem: restored });
    const held = [facts, other].map((each) => admit(each).held);
    for (const [group, ...more] of held) {
      assert.deepEqual([more, group?.level, group?.guard], [[], "account", "account-identity"]);
      assert.deepEqual(
        group?.items.map(({ digest }) => digest),
        [reclaimDigest("account-1", 2)],
      );
    }
    assert.notEqual(reclaimDigest("account-1", 3), reclaimDigest("account-1", 2));
    assert.deepEqual([inOrder(facts), inOrder(other)], [[], []]);
  });
});

describe("ownership", () => {
  test("taking over what exists waits for a person and shows the difference", () => {
    const situation = situationOf({
      wanted: [wantedItem("k1")],
      seen: [seenItem("k1", { item: { value: "theirs", size: 1 } })],
    });
    const facts = factsOf(situation);
    const [held] = admit(facts).held;
    assert.deepEqual(
      held?.items.map(({ action, externalId }) => [action, externalId]),
      [["takeover", "id-k1"]],
    );
    assert.deepEqual(held?.items[0]?.differences, [{ field: "/value", wanted: "x", seen: "theirs" }]);
    assert.deepEqual(through({ ...facts, grants: grantsFor(facts.plan.changes) }), ["takeover k1"]);
  });

  test("a second claimant and a duplicate are named, and the rest goes on", () => {
    const situation = situationOf({
      loop: { ...contentLoop, marks: true },
      wanted: [wantedItem("k1"), wantedItem("k2"), wantedItem("k3")],
      seen: [
        seenItem("k1", { marker: { foreign: "another tool" } }),
        seenItem("k2", { marker: ours }),
        seenItem("k2", { marker: ours, externalId: "id-twin" }),
      ],
      owned: [ownedItem("k2")],
    });
    const facts = factsOf(situation);
    assert.deepEqual(through(facts), ["create k3"]);
    const refused = admit(facts).verdicts.filter(({ guard }) => guard === "ownership");
    assert.deepEqual(
      refused.map(({ keys, answer }) => [keys, answer]),
      [
        [["k1"], "refuse"],
        [["k2"], "refuse"],
      ],
    );
    assert.match(refused.map(({ reason }) => reason).join("\n"), /another tool[^]*id-twin/);
  });
});

test("all or nothing: what failed for good is not tried again, the rest is; without rights nothing starts", () => {
  const facts = { ...allGranted, stoppedKeys: new Set(["created", "deleted"]) };
  assert.deepEqual(
    inOrder(facts),
    inOrder(allGranted).filter((change) => !/created|deleted/.test(change)),
  );
  const readOnly = { ...allGranted, rightsProblem: "the credential of account 'lab' may not write: read-only token" };
  assert.deepEqual(inOrder(readOnly), []);
  assert.match(said(readOnly, "all-or-nothing")?.reason ?? "", /read-only token/);
});

describe("held digests", () => {
  const items = all.plan.changes.map(({ digest }) => ({ digest }));

  test("the digest of a held change is that of the set of its items", () => {
    const digest = heldChangeDigest(items);
    assert.equal(heldChangeDigest([...items].reverse()), digest);
    assert.equal(heldChangeDigest([...items, ...items.slice(0, 1)]), digest);
    assert.notEqual(heldChangeDigest(items.slice(1)), digest);
    assert.notEqual(heldChangeDigest([...items, { digest: "another" }]), digest);
  });

  test("what one subject has waiting is told apart by level, guard and items, not by order or wording", () => {
    const { held } = admit(inMode(all, "propose"));
    const digest = heldGroupsDigest(held);
    const turned = held.map((group) => ({
      ...group,
      items: [...group.items].reverse(),
      verdict: { ...group.verdict, reason: "worded otherwise" },
    }));
    assert.equal(heldGroupsDigest([...turned].reverse()), digest);
    assert.notEqual(heldGroupsDigest(held.map((group) => ({ ...group, level: "account" as const }))), digest);
    assert.notEqual(heldGroupsDigest(held.map((group) => ({ ...group, items: group.items.slice(1) }))), digest);
  });
});
