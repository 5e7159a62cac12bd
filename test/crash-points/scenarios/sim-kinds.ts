import type { Json } from "../../../src/ports/json.ts";
import { accountId, declaration, deletion, type Scenario } from "../scenario.ts";
import { SimOutside } from "./sim-outside.ts";

type Items = Readonly<Record<string, { readonly value: string; readonly size: number }>>;

/** Made, changed in every way there is, and in part deleted: by declaration and by inference. */
function lifeOf(kind: "SimSet" | "SimZone"): Scenario {
  const accounts = [accountId];
  const set = (name: string, items: Items) => {
    const spec: Json = { accounts, group: name, items };
    return declaration(kind, name, spec, { accounts });
  };
  const target = { kind, name: "first" };
  const item = declaration("SimItem", "linked", { target, key: "i", value: "one" }, { links: [target] });
  return {
    kind,
    outside: (nowMs) => new SimOutside(nowMs),
    acts: [
      { atSeconds: 1, act: (intents) => intents.declare(set("first", { a: small, b: small, c: small })) },
      { atSeconds: 2, act: (intents) => intents.declare(item) },
      { atSeconds: 3, act: (intents) => intents.declare(set("second", { x: small, y: small })) },
      {
        atSeconds: 30,
        act: (intents) =>
          intents.declare(set("first", { a: { value: "two", size: 1 }, b: { value: "one", size: 2 }, d: small })),
      },
      { atSeconds: 70, act: (intents) => intents.requestDeletion(deletion("linked", 1)) },
      { atSeconds: 100, act: (intents) => intents.requestDeletion(deletion("second", 2)) },
    ],
    endsAtSeconds: 170,
  };
}

const small = { value: "one", size: 1 };

export const simSetScenario = lifeOf("SimSet");
export const simZoneScenario = lifeOf("SimZone");
