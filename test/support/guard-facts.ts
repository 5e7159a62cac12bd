import fc from "fast-check";
import { admit, GUARDS } from "../../src/kernel/admit.ts";
import type { Facts, Guard } from "../../src/kernel/facts.ts";
import { makePlan, type PlannedChange, type Situation } from "../../src/kernel/plan.ts";
import { defaultLimits, effectivePolicy, type Policy } from "../../src/kernel/policy.ts";
import type { Finding, Grant, Limits, Mode, Pause, PauseLevel } from "../../src/ports/records.ts";
import {
  keys,
  mixedSituation,
  nowMs,
  ourSituation,
  ownedItem,
  seenItem,
  situationOf,
  wantedItem,
} from "./situations.ts";

export const freely = effectivePolicy([], undefined);

export function policyWith(limits: Partial<Limits>, policy: Partial<Policy> = {}): Policy {
  return { ...freely, ...policy, limits: { ...defaultLimits, ...limits } };
}

/** The facts of a situation in which nothing stands in the way. */
export function factsOf(situation: Situation, parts: Partial<Facts> = {}): Facts {
  const plan = makePlan(situation);
  return {
    nowMs: situation.nowMs,
    policy: freely,
    pauses: [],
    hold: undefined,
    plan,
    completeness: situation.complete ? "complete" : "partial",
    observedFromMs: situation.observedFromMs,
    quietSinceMs: undefined,
    accountProblem: undefined,
    rightsProblem: undefined,
    leaving: situation.leaving,
    owned: situation.owned.filter(({ state }) => state === "owned").length,
    wanted: situation.wanted.length,
    desiredKnown: true,
    zeroDeclared: false,
    findings: [],
    fights: [],
    stoppedKeys: new Set(),
    grants: new Map(),
    confirmed: new Set(),
    covered: new Set(),
    health: undefined,
    ...parts,
  };
}

export const nameOf = (change: Pick<PlannedChange, "action" | "key">) => `${change.action} ${change.key}`;

/** What comes through, by action and key. */
export function through(facts: Facts, guards: readonly Guard[] = GUARDS): readonly string[] {
  return admit(facts, guards).admitted.map(nameOf).sort();
}

export function pauseOf(level: PauseLevel, scope = "organization/o"): Pause {
  return { id: `pause-${level}`, scope, level, author: "ada", reason: "incident", expiresAtMs: nowMs + 60_000 };
}

export function grantsFor(changes: readonly PlannedChange[]): ReadonlyMap<string, Grant> {
  return new Map(
    changes.map(({ digest }, index) => [
      digest,
      { id: `grant-${index}`, heldChangeId: "held", itemDigest: digest, approver: "ada", expiresAtMs: nowMs + 60_000 },
    ]),
  );
}

/** The first looks that inferred deletes need, long enough ago. */
export function foundBefore(situation: Situation, agoMs = defaultLimits.confirmAfterMs): readonly Finding[] {
  return situation.owned.flatMap(({ key, externalId }) =>
    externalId === undefined ? [] : [{ key, externalId, foundAtMs: situation.observedFromMs - agoMs }],
  );
}

/** `count` items of ours, of which the last `lost` are wanted no more; declared when their sources have tombstones. */
export function losing(
  count: number,
  lost: number,
  options: { declared?: boolean; contains?: number } = {},
): Situation {
  const names = Array.from({ length: count }, (_, index) => `item-${String(index).padStart(3, "0")}`);
  const gone = names.slice(count - lost);
  return situationOf({
    wanted: names.slice(0, count - lost).map((key) => wantedItem(key)),
    seen: names.map((key) => seenItem(key, options.contains === undefined ? {} : { contains: options.contains })),
    owned: names.map((key) => ownedItem(key)),
    tombstones: new Set(options.declared === true ? gone.map((key) => `source-${key}`) : []),
  });
}

const limitCount = fc.integer({ min: 0, max: 6 });
const deleteLimit = fc.record({ count: limitCount, percent: fc.constantFrom(0, 20, 50, 100), atLeast: limitCount });
const someKeys = fc.subarray([...keys]);

/** Where everything stood in the way at once, nothing would ever come through. */
function seldom<Value, Usual>(value: fc.Arbitrary<Value>, usual: Usual): fc.Arbitrary<Value | Usual> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: value });
}

/** Facts of any situation, with any limits, and with anything that may stand in the way. */
export const anyFacts: fc.Arbitrary<Facts> = fc
  .record({
    situation: fc.oneof(mixedSituation, ourSituation),
    tombstones: someKeys,
    mode: seldom<Mode, Mode>(fc.constantFrom("observe", "propose"), "enforce"),
    deletesPerCycle: deleteLimit,
    changesPerCycle: seldom(fc.constantFrom(0, 1, 2), 50),
    confirmAfterMs: fc.constantFrom(0, 1_000, 60_000),
    suspect: fc.constantFrom(0, 40, 100),
    health: seldom(fc.record({ subjects: fc.integer({ min: 4, max: 8 }), bad: fc.nat(4) }), undefined),
    pause: seldom(fc.constantFrom<PauseLevel>("deletes", "writes"), undefined),
    foundAgoMs: fc.constantFrom(undefined, 500, 30_000, 90_000),
    granted: seldom(someKeys, []),
    confirmed: seldom(someKeys, []),
    stopped: seldom(someKeys, []),
    quietAgoMs: seldom(fc.constantFrom(-10, 10), undefined),
    zeroDeclared: fc.boolean(),
    desiredKnown: seldom(fc.constant(false), true),
  })
  .map((drawn): Facts => {
    const { situation, deletesPerCycle, changesPerCycle, confirmAfterMs, suspect } = drawn;
    const tombstones = new Set(drawn.tombstones.map((key) => `source-${key}`));
    const facts = factsOf({ ...situation, tombstones });
    const limits = { deletesPerCycle, changesPerCycle, confirmAfterMs, suspectPercent: suspect, suspectAtLeast: 3 };
    return {
      ...facts,
      policy: policyWith(limits, { mode: drawn.mode, modeFrom: "platform" }),
      health: drawn.health,
      pauses: drawn.pause === undefined ? [] : [pauseOf(drawn.pause)],
      findings: drawn.foundAgoMs === undefined ? [] : foundBefore(situation, drawn.foundAgoMs),
      grants: grantsFor(facts.plan.changes.filter(({ key }) => drawn.granted.some((name: string) => name === key))),
      confirmed: new Set(drawn.confirmed),
      stoppedKeys: new Set(drawn.stopped),
      quietSinceMs: drawn.quietAgoMs === undefined ? undefined : nowMs - drawn.quietAgoMs,
      zeroDeclared: drawn.zeroDeclared,
      desiredKnown: drawn.desiredKnown,
    };
  });
