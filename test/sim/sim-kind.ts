import { z } from "zod";
import { sameBy } from "../../src/kernel/diff.ts";
import type { Kind, KindRegistry } from "../../src/kernel/kind.ts";
import type { BatchChange, Desired, DesiredContext, Loop, Seen, Subject, Wanted } from "../../src/kernel/loop.ts";
import type { Content, Entry, SimReader, SimWriter, ZoneChange } from "./outside/sim-api.ts";
import type { ProductionErrors } from "./production.ts";

/** A set or a zone: its own items, and whatever items link to it. */
export interface SetSpec {
  readonly accounts: readonly string[];
  readonly group: string;
  readonly items: Readonly<Record<string, Content>>;
  /** The author says himself that nothing is wanted. */
  readonly zero?: boolean;
  /** Where the desired set comes from cannot be reached. */
  readonly unknown?: boolean;
}

/** Every account has two sites, and a set is at one of them. */
export function siteOf({ group }: Pick<SetSpec, "group">): string {
  return /[02468]$/.test(group) ? "north" : "south";
}

export interface ItemSpec {
  readonly target: { readonly kind: string; readonly name: string };
  readonly key: string;
  readonly value: string;
}

const everySeconds = 20;

/** A spec that stops parsing is an object with the field `broken`. */
export function parsedAs<Spec>() {
  return z.custom<Spec>(
    (value) => typeof value === "object" && value !== null && !("broken" in value),
    "cannot be read",
  );
}

/** The set itself and every item that names it; several items under one key make one value together. */
function desired(ctx: DesiredContext, subject: Subject<SetSpec>): Desired<Content> {
  const { spec } = subject;
  if (spec.unknown === true) return { known: false, reason: "the source of the desired set cannot be reached" };
  const items: Wanted<Content>[] = Object.entries(spec.items).map(([key, item]) => ({ key, item }));
  const linked = new Map<string, { values: string[]; sources: { uid: string; generation: number }[] }>();
  for (const resource of ctx.inputs<ItemSpec>("SimItem")) {
    const entry = linked.get(resource.spec.key) ?? { values: [], sources: [] };
    if (resource.spec.value !== "") entry.values.push(resource.spec.value);
    entry.sources.push({ uid: resource.uid, generation: resource.generation });
    linked.set(resource.spec.key, entry);
  }
  const stale: { key: string; reason: string }[] = [];
  for (const [key, { values, sources }] of linked) {
    if (values.length === 0) stale.push({ key, reason: "its value went empty" });
    else items.push({ key, item: { value: values.sort().join("+"), size: 1 }, sources });
  }
  return { known: true, items, zero: spec.zero === true, stale };
}

function seenAs(entry: Entry, marks: boolean): Seen<Content> {
  return {
    key: entry.key,
    externalId: entry.id,
    item: { value: entry.value, size: entry.size },
    ...(marks ? { marker: entry.marker } : {}),
    ...(entry.lock === undefined ? {} : { lockedBy: entry.lock }),
  };
}

/** Things with markers, listed once per account and shared by all sets there. */
export function setLoop(
  kind: string,
  { TerminalError }: ProductionErrors,
): Loop<SetSpec, Content, SimReader, SimWriter> {
  return {
    kind,
    everySeconds,
    inputs: ["SimItem"],
    marks: true,
    site: ({ spec }) => siteOf(spec),
    desired,
    observe: async (ctx, subject) => {
      const inventory = await ctx.inventory<Entry>("items");
      const own = inventory.entries.filter((entry) => entry.group === subject.spec.group);
      return ctx.from(
        inventory,
        own.map((entry) => seenAs(entry, true)),
      );
    },
    read: async ({ reader }, subject, { key, externalId }) => {
      const entry = await (externalId === undefined ? reader.find(subject.spec.group, key) : reader.get(externalId));
      return entry === undefined ? "absent" : seenAs(entry, true);
    },
    same: sameBy(),
    replaces: (differences) => differences.some(({ field }) => field === "/size"),
    create: async ({ writer, marker }, subject, { key, item }) => {
      const made = await writer.create(subject, { group: subject.spec.group, key, content: item, marker });
      if ("id" in made) return { externalId: made.id };
      const { taken } = made;
      const ours = typeof taken.marker === "object" && "resourceUid" in taken.marker;
      if (ours && taken.marker.resourceUid === marker.resourceUid) return { externalId: taken.id };
      throw new TerminalError("ALREADY_EXISTS", `${key} exists and is not ours`);
    },
    update: ({ writer, marker }, subject, { item }, seen) => writer.update(subject, seen.externalId, item, marker),
    remove: ({ writer }, subject, seen) => writer.remove(subject, seen.externalId),
  };
}

/** Records without markers, read whole and changed whole, each change only where the record is still as it was seen. */
const zoneLoop: Loop<SetSpec, Content, SimReader, SimWriter> = {
  kind: "SimZone",
  everySeconds,
  inputs: ["SimItem"],
  removesOnlyAsSeen: true,
  desired: (ctx, subject) => {
    const wanted = desired(ctx, subject);
    if (!wanted.known) return wanted;
    const named = <Named extends { readonly key: string }>(item: Named): Named => ({
      ...item,
      key: `${subject.spec.group}/${item.key}`,
    });
    return { ...wanted, items: wanted.items.map(named), stale: (wanted.stale ?? []).map(named) };
  },
  observe: (ctx, subject) =>
    ctx.look(async () => {
      const entries = await ctx.reader.zone(subject.spec.group);
      return entries.map((entry) => ({ ...seenAs(entry, false), key: entry.id }));
    }),
  read: async ({ reader }, _subject, { key }) => {
    const entry = await reader.get(key);
    return entry === undefined ? "absent" : { ...seenAs(entry, false), key: entry.id };
  },
  same: sameBy(),
  create: async ({ writer }, subject, wanted) => {
    await writer.changeZone(subject, subject.spec.group, [
      zoneChange(subject.spec.group, { action: "create", wanted }),
    ]);
    return { externalId: wanted.key };
  },
  update: ({ writer }, subject, wanted, seen) =>
    writer.changeZone(subject, subject.spec.group, [
      zoneChange(subject.spec.group, { action: "update", wanted, seen }),
    ]),
  remove: ({ writer }, subject, seen) =>
    writer.changeZone(subject, subject.spec.group, [zoneChange(subject.spec.group, { action: "delete", seen })]),
  apply: ({ writer }, subject, changes) =>
    writer.changeZone(
      subject,
      subject.spec.group,
      changes.map((change) => zoneChange(subject.spec.group, change)),
    ),
};

function zoneChange(group: string, change: BatchChange<Content>): ZoneChange {
  const short = (key: string) => key.slice(group.length + 1);
  if (change.action === "delete") return { action: "delete", key: short(change.seen.key), asSeen: change.seen.item };
  const { key, item } = change.wanted;
  if (change.action === "create") return { action: "create", key: short(key), content: item };
  return { action: change.action, key: short(key), content: item, asSeen: change.seen.item };
}

/** The kinds of the simulation, made with the production classes of one source root. */
export function simKinds(errors: ProductionErrors): KindRegistry {
  const set: Kind<SetSpec> = {
    kind: "SimSet",
    plural: "simsets",
    schema: parsedAs<SetSpec>(),
    permission: "sim.set",
    scopes: ["organization", "project"],
    modeRequired: false,
    accounts: (spec) => spec.accounts,
    links: () => [],
    loop: setLoop("SimSet", errors),
  };
  const zone: Kind<SetSpec> = {
    ...set,
    kind: "SimZone",
    plural: "simzones",
    permission: "sim.zone",
    loop: zoneLoop,
  };
  const item: Kind<ItemSpec> = {
    kind: "SimItem",
    plural: "simitems",
    schema: parsedAs<ItemSpec>(),
    permission: "sim.item",
    scopes: ["organization", "project"],
    modeRequired: false,
    accounts: () => [],
    links: (spec) => [spec.target],
    withoutLoop: "its set or zone looks after it",
  };
  return new Map([set, zone, item].map((kind) => [kind.kind, kind as Kind]));
}
