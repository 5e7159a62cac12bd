import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { admit, asksNothing, GUARDS, nothingAsked } from "../../../src/kernel/admit.ts";
import type { Facts } from "../../../src/kernel/facts.ts";
import { changeCapGuard } from "../../../src/kernel/guards/change-cap.ts";
import type { Limits } from "../../../src/ports/records.ts";
import { anyFacts, nameOf, pauseOf, through } from "../../support/guard-facts.ts";
import { holds, shuffled } from "../../support/properties.ts";
import { keys, nowMs } from "../../support/situations.ts";

const beforeTheCap = GUARDS.filter((guard) => guard !== changeCapGuard);

const limited = (facts: Facts, limits: Partial<Limits>): Facts => ({
  ...facts,
  policy: { ...facts.policy, limits: { ...facts.policy.limits, ...limits } },
});
const deletes = (facts: Facts, part: "count" | "percent" | "atLeast"): Facts => {
  const limit = facts.policy.limits.deletesPerCycle;
  return limited(facts, { deletesPerCycle: { ...limit, [part]: Math.floor(limit[part] / 2) } });
};
const problem = { reason: "another account", reclaim: undefined, numbers: {} };

/** Every way to be stricter, each on its own. */
const tightenings: Readonly<Record<string, (facts: Facts, order: number) => Facts>> = {
  "fewer deletes": (facts) => deletes(facts, "count"),
  "a smaller share": (facts) => deletes(facts, "percent"),
  "a smaller least": (facts) => deletes(facts, "atLeast"),
  "fewer changes": (facts) => limited(facts, { changesPerCycle: Math.floor(facts.policy.limits.changesPerCycle / 2) }),
  "a longer wait between looks": (facts) =>
    limited(facts, { confirmAfterMs: facts.policy.limits.confirmAfterMs + 29_500 }),
  "an earlier suspicion by share": (facts) =>
    limited(facts, { suspectPercent: facts.policy.limits.suspectPercent / 2 }),
  "an earlier suspicion by number": (facts) => limited(facts, { suspectAtLeast: 1 }),
  "propose instead of enforce": (facts) => ({
    ...facts,
    policy: { ...facts.policy, mode: facts.policy.mode === "enforce" ? "propose" : "observe" },
  }),
  observe: (facts) => ({ ...facts, policy: { ...facts.policy, mode: "observe" } }),
  "a pause of deletes": (facts) => ({ ...facts, pauses: [...facts.pauses, pauseOf("deletes")] }),
  "a pause of writes": (facts) => ({ ...facts, pauses: [...facts.pauses, pauseOf("writes")] }),
  "a hold": (facts) => ({ ...facts, hold: { operationId: "operation-1", sinceMs: 0, reason: "creates a host" } }),
  "an incomplete look": (facts) => ({ ...facts, completeness: "partial" }),
  "a failed look": (facts) => ({ ...facts, completeness: "failed" }),
  "a later lease": (facts) => ({ ...facts, quietSinceMs: nowMs + 1 }),
  "no first finding": (facts) => ({ ...facts, findings: [] }),
  "an unknown desired set": (facts) => ({ ...facts, desiredKnown: false }),
  "protection by policy": (facts) => ({ ...facts, policy: { ...facts.policy, protectedBy: "platform" } }),
  "fewer grants": (facts, order) => ({ ...facts, grants: new Map([...facts.grants].slice(order % 3)) }),
  "nothing confirmed": (facts) => ({ ...facts, confirmed: new Set() }),
  "another account": (facts) => ({ ...facts, accountProblem: problem }),
  "a credential that may only look": (facts) => ({ ...facts, rightsProblem: "may not write" }),
  "a failed key": (facts, order) => ({
    ...facts,
    stoppedKeys: new Set([...facts.stoppedKeys, keys[order % keys.length] ?? "k1"]),
  }),
  "worse health": (facts) => ({ ...facts, health: { subjects: 4, bad: 4 } }),
  "worse health of a site": (facts) => ({
    ...facts,
    health: { subjects: 40, bad: 4, ...facts.health, atSite: { site: "north", subjects: 4, bad: 4 } },
  }),
};

test("a plan that asks for nothing is answered with nothing, whatever else is the case", () => {
  holds(
    fc.property(anyFacts, (facts) => {
      const plan = { ...facts.plan, changes: [], foreign: [], duplicates: [] };
      assert.ok(asksNothing(plan));
      assert.deepEqual(admit({ ...facts, plan }), nothingAsked);
    }),
  );
});

describe("whatever is stricter never lets more through", () => {
  for (const [name, tighten] of Object.entries(tightenings)) {
    test(name, () => {
      holds(
        fc.property(anyFacts, fc.nat(), (loose, order) => {
          const strict = tighten(loose, order);
          const allowed = new Set(through(loose, beforeTheCap));
          const more = through(strict, beforeTheCap).filter((change) => !allowed.has(change));
          assert.deepEqual(more, []);
          // The cap cuts a queue: what others leave free may be used, but by nothing that would not have had its turn.
          const now = through(strict);
          assert.deepEqual(
            now.filter((change) => !allowed.has(change)),
            [],
          );
          assert.ok(now.length <= through(loose).length);
        }),
        250,
      );
    });
  }

  test("a smaller cap lets a subset through", () => {
    holds(
      fc.property(anyFacts, fc.nat(4), (facts, cap) => {
        const loose = new Set(through(limited(facts, { changesPerCycle: cap + 1 })));
        const strict = through(limited(facts, { changesPerCycle: cap }));
        assert.ok(strict.length <= cap && strict.every((change) => loose.has(change)));
      }),
    );
  });
});

test("every guard passes a subset on", () => {
  holds(
    fc.property(anyFacts, (facts) => {
      for (const guard of GUARDS) {
        const before = new Set(facts.plan.changes.map(nameOf));
        assert.ok(guard(facts.plan.changes, facts).pass.every((change) => before.has(nameOf(change))));
      }
    }),
  );
});

test("whatever is taken out is named in a verdict with a reason and numbers", () => {
  holds(
    fc.property(anyFacts, fc.constantFrom(...Object.values(tightenings)), fc.nat(), (loose, tighten, order) => {
      const facts = tighten(loose, order);
      const { admitted, verdicts } = admit(facts);
      const passed = new Set(admitted.map((change) => change.key));
      for (const { key } of facts.plan.changes) {
        if (passed.has(key)) continue;
        const said = verdicts.find((verdict) => verdict.answer !== "pass" && verdict.keys.includes(key));
        assert.ok(said !== undefined, `nothing was said about ${key}`);
      }
      for (const { reason, numbers } of verdicts) {
        assert.ok(reason.length > 10);
        assert.ok(Object.keys(numbers).length > 0 && Object.values(numbers).every(Number.isFinite), reason);
      }
    }),
    800,
  );
});

test("verdicts do not depend on the order of changes", () => {
  holds(
    fc.property(anyFacts, fc.nat(), (facts, order) => {
      const turned = { ...facts, plan: { ...facts.plan, changes: shuffled(facts.plan.changes, order) } };
      assert.deepEqual(through(turned), through(facts));
      const sorted = (all: ReturnType<typeof admit>) => all.verdicts.map(({ guard, answer }) => `${guard} ${answer}`);
      assert.deepEqual(sorted(admit(turned)).sort(), sorted(admit(facts)).sort());
    }),
  );
});

test("what is held can be approved: granted one by one, every held item comes through or is held by another guard", () => {
  holds(
    fc.property(anyFacts, (facts) => {
      fc.pre(facts.policy.mode !== "observe" && facts.pauses.length === 0 && facts.policy.limits.changesPerCycle > 4);
      const { held } = admit(facts, beforeTheCap);
      const digests = new Set(held.flatMap(({ items }) => items.map((item) => item.digest)));
      const grant = { id: "g", heldChangeId: "h", approver: "ada", expiresAtMs: nowMs + 1 };
      const grants = new Map([...digests].map((digest) => [digest, { ...grant, itemDigest: digest }]));
      const after = admit({ ...facts, grants: new Map([...facts.grants, ...grants]) }, beforeTheCap);
      const passed = new Set(after.admitted.map(({ digest }) => digest));
      const still = new Set(after.held.flatMap(({ items }) => items.map((item) => item.digest)));
      for (const digest of digests) {
        assert.ok(passed.has(digest) || !still.has(digest), "an approved item is asked for again");
      }
    }),
    500,
  );
});

test("in observe mode nothing passes and nobody is asked", () => {
  holds(
    fc.property(anyFacts, (facts) => {
      const { admitted, held } = admit({ ...facts, policy: { ...facts.policy, mode: "observe" } });
      assert.deepEqual([admitted, held], [[], []]);
    }),
  );
});

test("an incomplete look leads to no delete, no replacement and nothing called missing", () => {
  holds(
    fc.property(anyFacts, fc.constantFrom("partial" as const, "failed" as const), (facts, completeness) => {
      for (const change of admit({ ...facts, completeness }).admitted) {
        assert.ok(!["delete", "replace", "forget"].includes(change.action) && !change.missing, nameOf(change));
      }
    }),
  );
});
