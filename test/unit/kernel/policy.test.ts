import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { allowedDeletes } from "../../../src/kernel/delete-budget.ts";
import { defaultLimits, effectivePolicy } from "../../../src/kernel/policy.ts";
import type { DeleteLimit, Limits, Mode, PartialLimits, ScopePolicy } from "../../../src/ports/records.ts";
import { holds } from "../../support/properties.ts";

const modes: readonly Mode[] = ["observe", "propose", "enforce"];
const small = fc.integer({ min: 0, max: 100 });
const deleteLimit: fc.Arbitrary<DeleteLimit> = fc.record({ count: small, percent: small, atLeast: small });
const partialLimits: fc.Arbitrary<PartialLimits> = fc.record(
  {
    deletesPerCycle: deleteLimit,
    deletesPerHour: fc.record(
      { account: deleteLimit, organization: deleteLimit, platform: deleteLimit },
      { requiredKeys: [] },
    ),
    changesPerCycle: small,
    confirmAfterMs: small,
    suspectPercent: small,
    suspectAtLeast: small,
  },
  { requiredKeys: [] },
);
const scopePolicy: fc.Arbitrary<ScopePolicy> = fc.record(
  {
    scope: fc.constantFrom("platform", "organization/o", "project/p", "resource/r"),
    mode: fc.option(fc.constantFrom(...modes), { nil: undefined }),
    limits: partialLimits,
    ceiling: partialLimits,
    protect: fc.boolean(),
    fourEyes: fc.boolean(),
  },
  { requiredKeys: ["scope"] },
);
const path = fc.array(scopePolicy, { maxLength: 5 });

/** Whether no limit of the one lets more through than the other. */
function isAtLeastAsStrict(strict: Limits, loose: Limits): boolean {
  const deletes = (one: DeleteLimit, other: DeleteLimit) =>
    one.count <= other.count && one.percent <= other.percent && one.atLeast <= other.atLeast;
  return (
    deletes(strict.deletesPerCycle, loose.deletesPerCycle) &&
    deletes(strict.deletesPerHour.account, loose.deletesPerHour.account) &&
    deletes(strict.deletesPerHour.organization, loose.deletesPerHour.organization) &&
    deletes(strict.deletesPerHour.platform, loose.deletesPerHour.platform) &&
    strict.changesPerCycle <= loose.changesPerCycle &&
    strict.confirmAfterMs >= loose.confirmAfterMs &&
    strict.suspectPercent <= loose.suspectPercent &&
    strict.suspectAtLeast <= loose.suspectAtLeast
  );
}

test("a lower scope can only be stricter about the mode", () => {
  holds(
    fc.property(path, scopePolicy, (policies, lower) => {
      const above = effectivePolicy(policies, undefined);
      const below = effectivePolicy([...policies, lower], undefined);
      assert.ok(modes.indexOf(below.mode) <= modes.indexOf(above.mode));
      const named = policies.flatMap((policy) => policy.mode ?? []).map((mode) => modes.indexOf(mode));
      assert.equal(modes.indexOf(above.mode), Math.min(2, ...named));
      if (above.mode !== "enforce") assert.ok(policies.some(({ scope }) => scope === above.modeFrom));
    }),
  );
  assert.deepEqual(
    [effectivePolicy([], undefined).mode, effectivePolicy([], undefined).modeFrom],
    ["enforce", "default"],
  );
});

test("each scope's default overrides the one above it, field by field", () => {
  holds(
    fc.property(path, partialLimits, (policies, limits) => {
      const free = policies.map(({ ceiling: _ceiling, ...policy }) => policy);
      const above = effectivePolicy(free, undefined).limits;
      const below = effectivePolicy([...free, { scope: "resource/r", limits }], undefined).limits;
      const { deletesPerHour, ...plain } = limits;
      assert.deepEqual(below, {
        ...above,
        ...plain,
        deletesPerHour: { ...above.deletesPerHour, ...deletesPerHour },
      });
    }),
  );
});

test("a field that is set to undefined leaves what stands", () => {
  const limits = { changesPerCycle: undefined, deletesPerHour: { account: undefined } } as unknown as PartialLimits;
  assert.deepEqual(effectivePolicy([{ scope: "platform", limits, ceiling: limits }], limits).limits, defaultLimits);
});

test("of all ceilings the strictest wins, whoever set it and whatever any default says", () => {
  holds(
    fc.property(path, partialLimits, fc.nat({ max: 5 }), partialLimits, (policies, ceiling, at, kindLimits) => {
      const capping: ScopePolicy = { scope: "organization/o", ceiling };
      const free = effectivePolicy(policies, kindLimits).limits;
      const capped = effectivePolicy([...policies.slice(0, at), capping, ...policies.slice(at)], kindLimits).limits;
      assert.ok(isAtLeastAsStrict(capped, free));
      assert.ok(capped.changesPerCycle <= (ceiling.changesPerCycle ?? Number.POSITIVE_INFINITY));
      assert.ok(capped.deletesPerCycle.count <= (ceiling.deletesPerCycle?.count ?? Number.POSITIVE_INFINITY));
      assert.ok(capped.deletesPerHour.account.percent <= (ceiling.deletesPerHour?.account?.percent ?? 100));
      assert.ok(capped.confirmAfterMs >= (ceiling.confirmAfterMs ?? 0));
    }),
  );
});

test("a kind's own limits stand below every scope's default and ceiling", () => {
  const kind = { changesPerCycle: 7 };
  const limits = (...policies: ScopePolicy[]) => effectivePolicy(policies, kind).limits.changesPerCycle;
  assert.equal(limits(), 7);
  assert.equal(limits({ scope: "platform", limits: { changesPerCycle: 9 } }), 9);
  assert.equal(limits({ scope: "platform", ceiling: { changesPerCycle: 5 } }), 5);
});

test("protection and four eyes hold when any scope asks for them", () => {
  const asked = effectivePolicy(
    [
      { scope: "platform", fourEyes: true },
      { scope: "project/p", protect: true },
      { scope: "resource/r", protect: false },
    ],
    undefined,
  );
  assert.deepEqual([asked.protectedBy, asked.fourEyes], ["project/p", true]);
  const free = effectivePolicy([{ scope: "platform" }], undefined);
  assert.deepEqual([free.protectedBy, free.fourEyes], [undefined, false]);
});

test("the defaults are the numbers people were promised", () => {
  assert.deepEqual(defaultLimits, {
    deletesPerCycle: { count: 5, percent: 20, atLeast: 1 },
    deletesPerHour: {
      account: { count: 20, percent: 20, atLeast: 3 },
      organization: { count: 50, percent: 20, atLeast: 5 },
      platform: { count: 200, percent: 5, atLeast: 10 },
    },
    changesPerCycle: 50,
    confirmAfterMs: 60_000,
    suspectPercent: 40,
    suspectAtLeast: 3,
  });
});

test("allowed deletes: the count caps, the share grows with what is owned, the least saves small sets", () => {
  const subject = defaultLimits.deletesPerCycle;
  const table: readonly (readonly [owned: number, allowed: number])[] = [
    [0, 1],
    [1, 1],
    [4, 1],
    [9, 1],
    [10, 2],
    [24, 4],
    [25, 5],
    [1_000_000, 5],
  ];
  for (const [owned, allowed] of table) assert.equal(allowedDeletes(subject, owned), allowed, `${owned} owned`);
  const { account, organization, platform } = defaultLimits.deletesPerHour;
  assert.deepEqual(
    [0, 15, 99, 100, 101].map((owned) => allowedDeletes(account, owned)),
    [3, 3, 19, 20, 20],
  );
  assert.deepEqual([allowedDeletes(organization, 25), allowedDeletes(organization, 250)], [5, 50]);
  assert.deepEqual([allowedDeletes(platform, 200), allowedDeletes(platform, 4_000)], [10, 200]);
  holds(
    fc.property(deleteLimit, fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }), (limit, owned, more) => {
      assert.ok(allowedDeletes(limit, owned) <= limit.count);
      assert.ok(allowedDeletes(limit, owned) <= allowedDeletes(limit, owned + more));
    }),
  );
});
