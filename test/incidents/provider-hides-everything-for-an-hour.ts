import assert from "node:assert/strict";
import { type Effect, type Incident, type Items, numbered } from "./bench.ts";

const sets = ["one", "two", "three", "four"] as const;
const itemsOf = (set: string) => numbered(5, { prefix: set });
const all: Items = Object.fromEntries(sets.flatMap((set) => Object.entries(itemsOf(set))));
const made = Object.keys(all).length;

/** What went bad together stays suspect for as long as it is bad: time alone says nothing about the observer. */
export const providerHidesEverythingForAnHour: Incident = {
  title: "a provider hides everything for an hour",
  guard: "too-many-at-once",
  approvals: 0,
  ends: all,
  arrange: async (bench) => {
    for (const set of sets) await bench.declare(itemsOf(set), set);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    bench.fault("nothing-listed");
    await bench.pass({ minutes: 65 });
  },
  recover: async (bench) => {
    const again = bench.effects().slice(made);
    assert.ok(!allSetsMadeAgain(again), `remediation stopped for good, and this was made: ${again.length}`);
    const [held, ...others] = bench.heldChanges();
    assert.ok(held, "what waits is asked of a person");
    assert.deepEqual([others.length, held.guard], [0, "too-many-at-once"], "one held change for the whole account");
    const waiting = new Set(held.items.map(({ key }) => key));
    const untouched = Object.keys(all).filter((key) => !again.some((effect) => effect.key === key));
    for (const key of untouched) assert.ok(waiting.has(key), `${key} is listed`);
    bench.fault("none");
    await bench.pass({ minutes: 30 });
  },
  counterproof: { harmed: allSetsMadeAgain },
};

function allSetsMadeAgain(effects: readonly Effect[]): boolean {
  return sets.every((set) => effects.some(({ key }) => key.startsWith(set)));
}
