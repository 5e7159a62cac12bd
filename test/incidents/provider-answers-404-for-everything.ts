import assert from "node:assert/strict";
import { type Effect, type Incident, type Items, numbered, without } from "./bench.ts";

const sets = ["one", "two", "three", "four"] as const;
const itemsOf = (set: string) => numbered(5, { prefix: set });
const all: Items = Object.fromEntries(sets.flatMap((set) => Object.entries(itemsOf(set))));

const arrange: Incident["arrange"] = async (bench) => {
  for (const set of sets) await bench.declare(itemsOf(set), set);
  await bench.pass({ minutes: 2 });
};

/** Every call answers 404 and the adapter says so: nothing is known, so nothing is concluded. */
export const providerAnswers404: Incident = {
  title: "a provider answers 404 for everything",
  guard: "complete-reads",
  approvals: 0,
  ends: without(all, "one-01"),
  arrange,
  strike: async (bench) => {
    bench.fault("not-found");
    await bench.declare(without(itemsOf("one"), "one-01"), "one");
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    bench.fault("none");
    await bench.pass({ minutes: 65 });
  },
  // What happens to an engine whose adapter takes 404 for an empty list, as record managers did on time-outs.
  counterproof: { setting: { without: "too-many-at-once" }, strike: showNothing, harmed: allSetsMadeAgain },
};

/** Such an adapter shows every set of the account as gone at once: then the observer is the suspect. */
export const providerShowsNothing: Incident = {
  title: "a provider shows nothing of what it has",
  guard: "too-many-at-once",
  approvals: 0,
  ends: all,
  arrange,
  strike: showNothing,
  recover: async (bench) => {
    assert.ok(!allSetsMadeAgain(bench.effects().slice(20)), "remediation stopped before it reached every set");
    bench.fault("none");
    await bench.pass({ minutes: 30 });
  },
  counterproof: { harmed: allSetsMadeAgain },
};

async function showNothing(bench: Parameters<Incident["strike"]>[0]): Promise<void> {
  bench.fault("nothing-listed");
  await bench.pass({ minutes: 8 });
}

function allSetsMadeAgain(effects: readonly Effect[]): boolean {
  return sets.every((set) => effects.some(({ key }) => key.startsWith(set)));
}
