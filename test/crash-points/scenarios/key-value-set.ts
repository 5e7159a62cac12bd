import { type Backend, keyValueSet } from "../../../examples/key-value-set.ts";
import type { Kind } from "../../../src/kernel/kind.ts";
import { declaration, deletion, type PointCall, type Scenario } from "../scenario.ts";

/** The example kind over items in memory, where every read and write is a point. */
function backendOver(items: Map<string, string>, call: PointCall): Backend {
  return {
    accounts: [],
    look: (ctx) =>
      ctx.look(() => call("look", () => [...items].map(([key, value]) => ({ key, externalId: key, item: { value } })))),
    get: (key) => call("get", () => items.get(key)),
    put: (key, value) =>
      call("put", () => {
        items.set(key, value);
      }),
    remove: (key) =>
      call("remove", () => {
        items.delete(key);
      }),
  };
}

const declare = (items: Readonly<Record<string, string>>) =>
  declaration("KeyValueSet", "pairs", { items }, { accounts: [undefined] });
/** Keys of its own: two sets over one backend would be two claimants. */
const other = declaration("KeyValueSet", "other", { items: { x: "one", y: "one" } }, { accounts: [undefined] });

function byKey([left]: [string, string], [right]: [string, string]): number {
  return left < right ? -1 : 1;
}

export const keyValueSetScenario: Scenario = {
  kind: "KeyValueSet",
  outside: () => {
    const items = new Map<string, string>();
    return {
      connect: (call) => ({
        kinds: new Map([["KeyValueSet", keyValueSet(backendOver(items, call)) as Kind]]),
        providers: new Map(),
      }),
      canonical: () => Object.fromEntries([...items].sort(byKey)),
    };
  },
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(declare({ a: "one", b: "one", c: "one" })) },
    { atSeconds: 2, act: (intents) => intents.declare(other) },
    { atSeconds: 30, act: (intents) => intents.declare(declare({ a: "two", b: "one", d: "one" })) },
    { atSeconds: 90, act: (intents) => intents.requestDeletion(deletion("other", 2)) },
  ],
  endsAtSeconds: 170,
};
