import { z } from "zod";
import { sameBy } from "../../src/kernel/diff.ts";
import { defineKind, type Kind } from "../../src/kernel/kind.ts";
import { defineLoop, type Inventory, type Seen } from "../../src/kernel/loop.ts";
import type { BenchEntry, BenchReader, BenchWriter } from "./bench-world.ts";

const benchItemSchema = z.object({
  account: z.string().min(1),
  value: z.string().min(1),
  region: z.string(),
  tier: z.string(),
  /** Declared and not part of the outside thing: an edit of it makes a cycle that has nothing to write. */
  note: z.string(),
});
export type BenchItemSpec = z.infer<typeof benchItemSchema>;

export interface BenchContent {
  readonly value: string;
  readonly region: string;
  readonly tier: string;
}

/** One subject, one outside thing with a marker, found in the listing that all subjects of its account share. */
export function benchItemKind(everySeconds: number): Kind<BenchItemSpec> {
  const loop = defineLoop<BenchItemSpec, BenchContent, BenchReader, BenchWriter>({
    kind: "BenchItem",
    everySeconds,
    marks: true,
    desired: (_ctx, { name, spec: { value, region, tier } }) => ({
      known: true,
      items: [{ key: name, item: { value, region, tier } }],
    }),
    observe: async (ctx, subject) => {
      const inventory = await ctx.inventory<BenchEntry>("items");
      const entry = byName(inventory).get(subject.name);
      return ctx.from(inventory, entry === undefined ? [] : [seenAs(entry)]);
    },
    read: async ({ reader }, _subject, { key }) => {
      const entry = await reader.find(key);
      return entry === undefined ? "absent" : seenAs(entry);
    },
    same: sameBy(),
    create: async ({ writer, marker }, _subject, { key, item }) => ({
      externalId: await writer.create(key, item, marker),
    }),
    update: async ({ writer, marker }, _subject, { item }, seen) => await writer.update(seen.externalId, item, marker),
    remove: async ({ writer }, _subject, seen) => await writer.remove(seen.externalId),
  });
  return defineKind<BenchItemSpec>({
    kind: "BenchItem",
    plural: "benchitems",
    schema: benchItemSchema,
    permission: "bench.item",
    scopes: ["organization"],
    modeRequired: false,
    accounts: (spec) => [spec.account],
    links: () => [],
    loop,
  });
}

function seenAs({ id, name, value, region, tier, marker }: BenchEntry): Seen<BenchContent> {
  return { key: name, externalId: id, item: { value, region, tier }, marker };
}

/** Each listing is indexed once, by the first subject that looks something up in it. */
const indexes = new WeakMap<readonly BenchEntry[], ReadonlyMap<string, BenchEntry>>();

function byName({ entries }: Inventory<BenchEntry>): ReadonlyMap<string, BenchEntry> {
  const known = indexes.get(entries);
  if (known !== undefined) return known;
  const index = new Map(entries.map((entry) => [entry.name, entry]));
  indexes.set(entries, index);
  return index;
}
