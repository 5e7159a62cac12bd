import { ignoreNothing } from "../../src/kernel/ignored.ts";
import fc from "fast-check";
import { sameBy } from "../../src/kernel/diff.ts";
import type { Marker, Seen, Wanted } from "../../src/kernel/loop.ts";
import type { Plan, PlannedChange, Situation } from "../../src/kernel/plan.ts";
import type { OwnedItem } from "../../src/ports/records.ts";

/** What the things of these tests are made of. The size cannot be changed in place; the beat moves by itself. */
export interface Content {
  readonly value: string;
  readonly size: number;
  readonly beat?: number;
}

export const ours: Marker = { installationId: "installation-1", resourceUid: "subject" };
export const keys = ["k1", "k2", "k3", "k4"] as const;
export const nowMs = 1_000_000;

export const contentLoop: Situation["loop"] = {
  same: sameBy<object>({ ignored: [{ field: "/beat", rule: "moves by itself" }] }),
  replaces: (differences) => differences.some(({ field }) => field === "/size"),
  stable: (item) => ({ ...item, beat: undefined }),
};

export const content: fc.Arbitrary<Content> = fc.record(
  { value: fc.constantFrom("x", "y"), size: fc.constantFrom(1, 2) },
  { noNullPrototype: true },
);

/** A situation with the parts every test would repeat: a complete look, long after the last write. */
export function situationOf(parts: Partial<Situation> = {}): Situation {
  return {
    loop: contentLoop,
    marker: ours,
    wanted: [],
    seen: [],
    owned: [],
    complete: true,
    observedFromMs: nowMs,
    nowMs,
    settleMs: 5_000,
    answerMs: 35_000,
    leaving: undefined,
    tombstones: new Set(),
    released: new Set(),
    ownSource: { uid: "subject", generation: 1 },
    ignoring: ignoreNothing,
    ...parts,
  };
}

export function wantedItem(key: string, item: Content = { value: "x", size: 1 }): Wanted<Content> {
  return { key, item, sources: [{ uid: `source-${key}`, generation: 1 }] };
}

export function seenItem(key: string, options: Partial<Seen<Content>> = {}): Seen<Content> {
  return { key, externalId: `id-${key}`, item: { value: "x", size: 1 }, ...options };
}

export function ownedItem(key: string, options: Partial<OwnedItem> = {}): OwnedItem {
  return {
    key,
    state: "owned",
    externalId: `id-${key}`,
    sources: [`source-${key}`],
    wantedHash: "",
    intendedAtMs: 0,
    writtenAtMs: 0,
    ...options,
  };
}

const someWanted = fc
  .subarray([...keys])
  .chain((chosen) => fc.tuple(...chosen.map((key) => content.map((item) => wantedItem(key, item)))));

/** Everything that is there is ours and recorded; what is recorded may be gone, what is wanted may never have been made. */
export const ourSituation: fc.Arbitrary<Situation> = fc
  .tuple(someWanted, fc.subarray([...keys]), fc.array(content, { minLength: 4, maxLength: 4 }), fc.subarray([...keys]))
  .map(([wanted, there, contents, gone]) =>
    situationOf({
      wanted,
      seen: there.map((key, index) => seenItem(key, { item: contents[index] ?? { value: "x", size: 1 } })),
      owned: [...new Set([...there, ...gone])].map((key) => ownedItem(key)),
    }),
  );

const markers: Readonly<Record<string, Seen<Content>["marker"]>> = {
  ours,
  none: "none",
  foreign: { foreign: "another tool" },
  other: { installationId: "installation-1", resourceUid: "another subject" },
};
const thing = fc.record({
  key: fc.constantFrom(...keys),
  item: content,
  marker: fc.constantFrom(...Object.keys(markers)),
});
const record = fc.record({ state: fc.constantFrom("owned" as const, "intended" as const), points: fc.nat(7) });

/** Anything goes: strangers, other owners, several things under one name, records that point elsewhere or nowhere. */
export const mixedSituation: fc.Arbitrary<Situation> = fc
  .record({
    wanted: someWanted,
    things: fc.array(thing, { maxLength: 6 }),
    records: fc.array(fc.option(record, { nil: undefined }), { minLength: 4, maxLength: 4 }),
    marks: fc.boolean(),
    complete: fc.boolean(),
    leaving: fc.constantFrom("no", "no", "delete", "orphan"),
  })
  .map(({ wanted, things, records, marks, complete, leaving }) => {
    const seen = things.map(({ key, item, marker }, index): Seen<Content> => {
      const made = seenItem(key, { item, externalId: `id-${index}` });
      return marks ? { ...made, marker: markers[marker] ?? "none" } : made;
    });
    const recorded = new Set<string>();
    const owned = records.flatMap((entry, index): OwnedItem[] => {
      const externalId = entry === undefined ? undefined : `id-${entry.points}`;
      if (entry === undefined || (externalId !== undefined && recorded.has(externalId))) return [];
      if (entry.state === "owned" && externalId !== undefined) recorded.add(externalId);
      return [
        ownedItem(keys[index] ?? "k1", {
          state: entry.state,
          externalId: entry.state === "owned" ? externalId : undefined,
        }),
      ];
    });
    const deletion = { author: { name: "ada", type: "person" as const }, atMs: 0, orphan: leaving === "orphan" };
    return situationOf({
      loop: { ...contentLoop, marks },
      wanted: leaving === "no" ? wanted : [],
      seen,
      owned,
      complete,
      leaving: leaving === "no" ? undefined : deletion,
    });
  });

/** What the world and our records would be after the plan was carried out as it stands. */
export function applied(situation: Situation, plan: Plan): Situation {
  return plan.changes.reduce(appliedChange, situation);
}

function appliedChange(situation: Situation, change: PlannedChange): Situation {
  let made = 0;
  while (situation.seen.some(({ externalId }) => externalId === `new-${made}`)) made++;
  const newId = `new-${made}`;
  const others = situation.seen.filter((seen) => seen.externalId !== change.seen?.externalId);
  const records = situation.owned.filter((owned) => owned.key !== change.key);
  const marker = situation.loop.marks === true ? { marker: situation.marker } : {};
  const { key } = change;
  const item = change.wanted?.item ?? change.seen?.item ?? {};
  switch (change.action) {
    case "create":
    case "replace":
      return {
        ...situation,
        seen: [...(change.action === "create" ? situation.seen : others), { key, externalId: newId, item, ...marker }],
        owned: [...records, ownedItem(key, { externalId: newId })],
      };
    case "update":
      return {
        ...situation,
        seen: [...others, { ...(change.seen ?? seenItem(key)), item, ...marker }],
        owned: [...records, ownedItem(key, { externalId: change.seen?.externalId })],
      };
    case "adopt":
    case "takeover":
      return { ...situation, owned: [...records, ownedItem(key, { externalId: change.seen?.externalId })] };
    case "delete":
      return { ...situation, seen: others, owned: records };
    case "forget":
      return { ...situation, owned: records };
  }
}
