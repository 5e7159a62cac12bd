import { defineKind, defineLoop, type LookContext, type Observation, sameBy, type WriteContext } from "setpoint";
import { z } from "zod";

/** What people declare: keys, each with its value. */
const schema = z.strictObject({ items: z.record(z.string(), z.string()) });
type KeyValueSetSpec = z.output<typeof schema>;

/** One item outside, without its key: what is left to compare. */
export interface Value {
  readonly value: string;
}

/** Where the items are kept: a file, a table, somebody's API. */
export interface Backend {
  /** Names of the accounts it lives at; empty when it needs no credential. */
  readonly accounts: readonly string[];
  /** Everything there is, with its completeness. */
  look(ctx: LookContext<unknown>): Promise<Observation<Value>>;
  get(key: string, ctx: LookContext<unknown>): Promise<string | undefined>;
  put(key: string, value: string, ctx: WriteContext<unknown>): Promise<void>;
  remove(key: string, ctx: WriteContext<unknown>): Promise<void>;
}

/** A set of keys and values that stays as it was declared, wherever it is kept. */
export function keyValueSet(backend: Backend) {
  const loop = defineLoop<KeyValueSetSpec, Value>({
    kind: "KeyValueSet",
    everySeconds: 60,
    desired: (_ctx, set) => ({
      known: true,
      items: Object.entries(set.spec.items).map(([key, value]) => ({ key, item: { value } })),
    }),
    observe: (ctx) => backend.look(ctx),
    read: async (ctx, _set, { key }) => {
      const value = await backend.get(key, ctx);
      return value === undefined ? "absent" : { key, externalId: key, item: { value } };
    },
    same: sameBy(),
    create: async (ctx, _set, { key, item }) => {
      await backend.put(key, item.value, ctx);
      return { externalId: key };
    },
    update: (ctx, _set, { key, item }) => backend.put(key, item.value, ctx),
    remove: (ctx, _set, { externalId }) => backend.remove(externalId, ctx),
  });
  return defineKind<KeyValueSetSpec>({
    kind: "KeyValueSet",
    plural: "keyvaluesets",
    schema,
    permission: "project.keyvalueset",
    scopes: ["organization", "project", "workspace"],
    modeRequired: false,
    accounts: () => backend.accounts,
    links: () => [],
    loop,
  });
}
