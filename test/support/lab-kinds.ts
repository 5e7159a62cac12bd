import { z } from "zod";
import { sameBy } from "../../src/kernel/diff.ts";
import { TerminalError } from "../../src/kernel/errors.ts";
import type { Kind, KindRegistry } from "../../src/kernel/kind.ts";
import type { Desired, DesiredContext, Loop, Marker, Seen, Subject, Wanted } from "../../src/kernel/loop.ts";
import { Secret } from "../../src/kernel/secret.ts";
import type { LabChange, LabContent, LabReader, LabThing, LabWriter } from "./lab-outside.ts";

const contentSchema = z.strictObject({
  value: z.string(),
  size: z.number().default(1),
  secret: z.string().optional(),
});
const setSchema = z.strictObject({
  account: z.string(),
  items: z.record(z.string(), contentSchema).default({}),
  zero: z.boolean().optional(),
  unknown: z.boolean().optional(),
  stale: z.array(z.string()).optional(),
});
const partSchema = z.strictObject({ of: z.string(), kind: z.string(), key: z.string(), value: z.string() });

type SetSpec = z.infer<typeof setSchema>;
type PartSpec = z.infer<typeof partSchema>;

/** A thing of the loop: its secret is never text here. */
interface Item {
  readonly value: string;
  readonly size: number;
  readonly secret?: Secret;
  readonly beat?: number;
}

/** The set's own items, and one for every key that parts name; several parts of one key make one value together. */
function desired(ctx: DesiredContext, { spec }: Subject<SetSpec>): Desired<Item> {
  if (spec.unknown === true) return { known: false, reason: "the inventory of hosts cannot be reached" };
  const items: Wanted<Item>[] = Object.entries(spec.items).map(([key, { value, size, secret }]) => ({
    key,
    item: { value, size, ...(secret === undefined ? {} : { secret: new Secret(secret) }) },
  }));
  const parts = Map.groupBy(ctx.inputs<PartSpec>("Part"), (part) => part.spec.key);
  for (const [key, sources] of parts) {
    const value = sources
      .map((part) => part.spec.value)
      .sort()
      .join("+");
    items.push({ key, item: { value, size: 1 }, sources: sources.map(({ uid, generation }) => ({ uid, generation })) });
  }
  const stale = (spec.stale ?? []).map((key) => ({ key, reason: "no healthy host" }));
  return { known: true, items, zero: spec.zero === true, stale };
}

function itemOf({ content }: LabThing): Item {
  const { secret, ...rest } = content;
  return { ...rest, ...(secret === undefined ? {} : { secret: new Secret(secret) }) };
}

function contentOf({ value, size, secret }: Item): LabContent {
  return { value, size, ...(secret === undefined ? {} : { secret: secret.reveal() }) };
}

function seenOf(thing: LabThing, marks: boolean): Seen<Item> {
  return {
    key: thing.key,
    externalId: thing.id,
    item: itemOf(thing),
    ...(marks ? { marker: thing.marker } : {}),
    ...(thing.lock === undefined ? {} : { lockedBy: thing.lock }),
    ...(thing.contains === undefined ? {} : { contains: thing.contains }),
  };
}

const common = {
  everySeconds: 300,
  inputs: ["Part"],
  desired,
  same: sameBy<Item>({ ignored: [{ field: "/beat", rule: "moves by itself" }] }),
  stable: (item: Item) => ({ ...item, beat: undefined }),
  replaces: (differences: readonly { readonly field: string }[]) => differences.some(({ field }) => field === "/size"),
} as const;

/** Things with markers, listed once per account, each with an id the provider gives. */
const shelfLoop: Loop<SetSpec, Item, LabReader, LabWriter> = {
  ...common,
  kind: "Shelf",
  marks: true,
  observe: async (ctx, subject) => {
    const inventory = await ctx.inventory<LabThing>("things");
    const own = inventory.entries.filter((thing) => thing.group === subject.name);
    return ctx.from(
      inventory,
      own.map((thing) => seenOf(thing, true)),
    );
  },
  read: async ({ reader }, subject, { key, externalId }) => {
    const thing = await (externalId === undefined ? reader.find(subject.name, key) : reader.get(externalId));
    return thing === undefined ? "absent" : seenOf(thing, true);
  },
  create: async ({ writer, marker }, subject, { key, item }) => {
    const made = await writer.create({ group: subject.name, key, content: contentOf(item), marker });
    if (made.taken === undefined || isMarked(made.taken, marker)) return { externalId: made.id };
    throw new TerminalError("ALREADY_EXISTS", `${key} exists and is not ours`);
  },
  update: ({ writer, marker }, _subject, { item }, seen) => writer.update(seen.externalId, contentOf(item), marker),
  remove: ({ writer }, _subject, seen) => writer.remove(seen.externalId),
};

function isMarked({ marker }: LabThing, ours: Marker): boolean {
  return typeof marker === "object" && "resourceUid" in marker && marker.resourceUid === ours.resourceUid;
}

/** Entries without markers, read whole; where an entry is, is who it is. All ledgers share one book of entries. */
const ledgerLoop: Loop<SetSpec, Item, LabReader, LabWriter> = {
  ...common,
  kind: "Ledger",
  observe: (ctx) => ctx.look(async () => (await ctx.reader.zone("ledger")).map((thing) => seenOf(thing, false))),
  read: async ({ reader }, _subject, { key }) => {
    const thing = await reader.get(key);
    return thing === undefined ? "absent" : seenOf(thing, false);
  },
  create: async ({ writer }, _subject, { key, item }) => {
    await writer.create({ id: key, group: "ledger", key, content: contentOf(item), marker: "none" });
    return { externalId: key };
  },
  update: ({ writer }, _subject, { item }, seen) => writer.update(seen.externalId, contentOf(item), "none"),
  remove: ({ writer }, _subject, seen) => writer.remove(seen.externalId),
};

/** A ledger whose provider changes many entries in one call. */
const registerLoop: Loop<SetSpec, Item, LabReader, LabWriter> = {
  ...ledgerLoop,
  kind: "Register",
  // Such as k03 and k03-b.
  together: (key) => key.split("-")[0] ?? key,
  apply: ({ writer }, _subject, changes) =>
    writer.apply(
      changes.map((change): LabChange => {
        if (change.action === "delete") return { action: "remove", id: change.seen.externalId };
        const { key, item } = change.wanted;
        return { action: "put", thing: { id: key, group: "ledger", key, content: contentOf(item) } };
      }),
    ),
};

function setKind(loop: Loop<SetSpec, Item, LabReader, LabWriter>): Kind<SetSpec> {
  return {
    kind: loop.kind,
    plural: `${loop.kind.toLowerCase()}s`,
    schema: setSchema,
    permission: `lab.${loop.kind.toLowerCase()}`,
    scopes: ["organization"],
    modeRequired: false,
    accounts: (spec) => [spec.account],
    links: () => [],
    loop,
  };
}

const partKind: Kind<PartSpec> = {
  kind: "Part",
  plural: "parts",
  schema: partSchema,
  permission: "lab.part",
  scopes: ["organization"],
  modeRequired: false,
  accounts: () => [],
  links: (spec) => [{ kind: spec.kind, name: spec.of }],
  withoutLoop: "its set looks after it",
};

/** Shelf (markers, listings), Ledger (no markers, one read), Register (a ledger in batches) and Part, of which sets are made. */
export const labKinds: KindRegistry = new Map<string, Kind>(
  [setKind(shelfLoop), setKind(ledgerLoop), setKind(registerLoop), partKind].map((kind) => [kind.kind, kind as Kind]),
);
