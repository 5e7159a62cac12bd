import { publishedKeyValueSet } from "../../../examples/publishing.ts";
import type { Kind } from "../../../src/kernel/kind.ts";
import type { Point } from "../../support/box-kind.ts";
import type { OperationLab } from "../../support/operation-lab.ts";
import type { OperationScenario, OperationStage } from "../operations.ts";

/** The example kind over items in memory, where every read and write is a point. */
class Shelves implements OperationStage {
  readonly effects: string[] = [];
  readonly #items = new Map<string, string>();

  canonical() {
    return [...this.#items].sort(([left], [right]) => (left < right ? -1 : 1));
  }

  kinds(point: Point): readonly Kind[] {
    const items = this.#items;
    const kind = publishedKeyValueSet({
      accounts: [],
      look: (ctx) =>
        ctx.look(() =>
          point("look", () => [...items].map(([key, value]) => ({ key, externalId: key, item: { value } }))),
        ),
      get: (key: string) => point("get", () => items.get(key)),
      put: (key: string, value: string) =>
        point("put", () => {
          if (items.get(key) !== value) this.effects.push(`put ${key}`);
          items.set(key, value);
        }),
      remove: (key: string) =>
        point("remove", () => {
          if (items.delete(key)) this.effects.push(`remove ${key}`);
        }),
    });
    return [kind];
  }
}

async function declare(lab: OperationLab): Promise<void> {
  const spec = { items: { a: "one", b: "two" }, published: true };
  await lab.declareAs("KeyValueSet", "colours", spec, { accounts: [undefined] });
}

export const keyValueSetScenarios: readonly OperationScenario[] = [
  {
    name: "key-value-set.publish",
    stage: () => new Shelves(),
    prepare: declare,
    start: async (lab) => (await lab.start("key-value-set.publish", "colours")).id,
  },
  {
    name: "key-value-set.withdraw",
    stage: () => new Shelves(),
    prepare: async (lab) => {
      await declare(lab);
      await lab.finish((await lab.start("key-value-set.publish", "colours")).id);
      await lab.remove("colours");
    },
    start: async (lab) => (await lab.start("key-value-set.withdraw", "colours")).id,
  },
];
