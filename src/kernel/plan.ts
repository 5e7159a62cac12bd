import type { ChangeAction, FieldDifference, OwnedItem, ResourceDeletion, SourceRef } from "../ports/records.ts";
import { compare, withSeenFields } from "./diff.ts";
import { digestOf } from "./hash.ts";
import { itemDigest } from "./held-change.ts";
import type { IgnoredDifference, Ignoring } from "./ignored.ts";
import type { Loop, Marker, Seen, Wanted } from "./loop.ts";

/** One item of a plan: what would be done to which outside thing, and why. Data only. */
export interface PlannedChange {
  readonly action: ChangeAction;
  readonly key: string;
  readonly wanted: Wanted<object> | undefined;
  readonly seen: Seen<object> | undefined;
  readonly owned: OwnedItem | undefined;
  readonly differences: readonly FieldDifference[];
  readonly sources: readonly SourceRef[];
  readonly wantedHash: string;
  /** What an approval of this item binds to. */
  readonly digest: string;
  /** Of what is deleted or forgotten: somebody deleted what declared it, or merely nothing wants it any more. */
  readonly origin: "declared" | "inferred" | undefined;
  /** It was ours and a complete look does not show it: making it again is remediation, not a first create. */
  readonly missing: boolean;
  /** Outside things that go when this one goes; at least one. */
  readonly weight: number;
}

export interface Plan {
  readonly changes: readonly PlannedChange[];
  /** Keys left alone because our own last write may not be visible yet, and how long that may last. */
  readonly unsettled: readonly string[];
  readonly unsettledForMs: number;
  /** Keys whose outside thing belongs to somebody else, with the owner. */
  readonly foreign: readonly { readonly key: string; readonly owner: string }[];
  /** Further things under a key that already has its winner; quarantined. */
  readonly duplicates: readonly { readonly key: string; readonly externalId: string }[];
  /** Outside things nobody declared and we do not own. */
  readonly strangers: number;
  /** Things of ours that carry no marker although they should. */
  readonly markerMissing: readonly string[];
  /** Keys an incomplete look does not show: a suspicion, not absence. */
  readonly suspected: readonly string[];
  /** What differs and is left as it is, each with the rule that says so. */
  readonly ignored: readonly IgnoredDifference[];
}

export interface Situation {
  readonly loop: Pick<Loop<unknown, object>, "same" | "replaces" | "marks" | "stable">;
  /** Whatever is there and carries no foreign marker is ours. */
  readonly claimsAll?: boolean | undefined;
  /** The whole subject belongs to somebody else. */
  readonly foreign?: string | undefined;
  readonly marker: Marker;
  readonly wanted: readonly Wanted<object>[];
  readonly seen: readonly Seen<object>[];
  readonly owned: readonly OwnedItem[];
  readonly complete: boolean;
  readonly observedFromMs: number;
  readonly nowMs: number;
  /** How long after our own write (or its permit's end, when the answer is unknown) a look may still miss it. */
  readonly settleMs: number;
  readonly answerMs: number;
  /** The subject's own resource is being deleted. */
  readonly leaving: ResourceDeletion | undefined;
  /** Uids of deleted sources. */
  readonly tombstones: ReadonlySet<string>;
  /** Those of them that leave what they declared where it is. */
  readonly released: ReadonlySet<string>;
  /** Keys whose delete the declaration itself says. */
  readonly covered?: ReadonlySet<string> | undefined;
  readonly ownSource: SourceRef;
  readonly ignoring: Ignoring;
}

/** Compares the two keyed sets and says what would close the difference. Decides nothing about whether it may. */
export function makePlan(situation: Situation): Plan {
  return planInOrder(situation) ?? planByKey(situation);
}

/**
 * Where what is wanted, ours and seen are all in the order of their keys, each key once and its own id, the three are walked side
 * by side: nearly always, and for tens of thousands of items no index of any of them is made. Undefined where it is otherwise.
 */
function planInOrder(situation: Situation): Plan | undefined {
  const { wanted, owned, seen } = situation;
  const isPlain = situation.foreign === undefined && isInOrder(wanted) && isInOrder(owned) && isInOrder(seen);
  if (!isPlain || !owned.every(isItsOwnKey) || !seen.every(isItsOwnKey)) return undefined;
  const found = nothingFound();
  const claims = situation.claimsAll === true && situation.complete;
  let strangers = 0;
  for (let [w, o, s] = [0, 0, 0]; w < wanted.length || o < owned.length || s < seen.length; ) {
    const key = least(wanted[w]?.key, owned[o]?.key, seen[s]?.key);
    const at = {
      key,
      wanted: wanted[w]?.key === key ? wanted[w++] : undefined,
      owned: owned[o]?.key === key ? owned[o++] : undefined,
      seen: seen[s]?.key === key ? seen[s++] : undefined,
    };
    const isStranger = at.wanted === undefined && at.owned === undefined;
    if (isStranger) strangers++;
    if (!isStranger || (claims && typeof at.seen?.marker !== "object")) planKey(situation, at, found);
  }
  return { ...found, duplicates: [], strangers };
}

function isInOrder(list: readonly { readonly key: string }[]): boolean {
  for (let index = 1; index < list.length; index++)
    if ((list[index - 1]?.key ?? "") >= (list[index]?.key ?? "")) return false;
  return true;
}

function isItsOwnKey({ key, externalId }: { readonly key: string; readonly externalId: string | undefined }): boolean {
  return externalId === key || externalId === undefined;
}

/** The first of up to three keys; one of them is there. */
function least(one: string | undefined, two: string | undefined, three: string | undefined): string {
  const first = two === undefined || (one !== undefined && one <= two) ? one : two;
  return (three === undefined || (first !== undefined && first <= three) ? first : three) ?? "";
}

function nothingFound(): Found {
  return {
    changes: [],
    unsettled: [],
    unsettledForMs: 0,
    foreign: [],
    markerMissing: [],
    suspected: [],
    ignored: [],
  };
}

function planByKey(situation: Situation): Plan {
  const { winners, others } = pickWinners(situation);
  const owned = new Map(situation.owned.map((item) => [item.key, item]));
  const wanted = new Map(situation.wanted.map((item) => [item.key, item]));
  const claimed = situation.claimsAll === true && situation.complete ? claimable(winners) : [];
  const keys = [...wanted.keys()];
  for (const key of owned.keys()) if (!wanted.has(key)) keys.push(key);
  for (const key of claimed) if (!wanted.has(key) && !owned.has(key)) keys.push(key);
  keys.sort();

  const found = nothingFound();
  if (situation.foreign !== undefined) return foreignPlan(situation, keys, situation.foreign);
  for (const key of keys)
    planKey(situation, { key, wanted: wanted.get(key), owned: owned.get(key), seen: winners.get(key) }, found);
  // Things of one name that nobody here declared are nobody's duplicates.
  const duplicates = others.filter(({ key }) => wanted.has(key) || owned.has(key));
  let ours = 0;
  for (const key of winners.keys()) if (wanted.has(key) || owned.has(key)) ours++;
  return { ...found, duplicates, strangers: winners.size + others.length - ours - duplicates.length };
}

/** Nothing in it is ours to change, or to make; a leaving subject only forgets what it had there. */
function foreignPlan(situation: Situation, keys: readonly string[], owner: string): Plan {
  const leaving = situation.leaving === undefined ? [] : situation.owned;
  return {
    changes: leaving.map((owned) =>
      change(situation, { key: owned.key, wanted: undefined, owned, seen: undefined }, "forget"),
    ),
    unsettled: [],
    unsettledForMs: 0,
    foreign: keys.map((key) => ({ key, owner })),
    duplicates: [],
    strangers: situation.seen.length,
    markerMissing: [],
    suspected: [],
    ignored: [],
  };
}

function claimable(winners: ReadonlyMap<string, Seen<object>>): readonly string[] {
  return [...winners].filter(([, { marker }]) => typeof marker !== "object").map(([key]) => key);
}

interface Found {
  readonly changes: PlannedChange[];
  readonly unsettled: string[];
  unsettledForMs: number;
  readonly foreign: { key: string; owner: string }[];
  readonly markerMissing: string[];
  readonly suspected: string[];
  readonly ignored: IgnoredDifference[];
}

interface KeySituation {
  readonly key: string;
  readonly wanted: Wanted<object> | undefined;
  readonly owned: OwnedItem | undefined;
  readonly seen: Seen<object> | undefined;
}

function planKey(situation: Situation, at: KeySituation, found: Found): void {
  const unsettledForMs = at.owned === undefined ? 0 : settlesInMs(situation, at.owned);
  if (unsettledForMs > 0) {
    found.unsettled.push(at.key);
    found.unsettledForMs = Math.max(found.unsettledForMs, unsettledForMs);
    return;
  }
  if (isSeen(at)) planSeen(situation, at, found);
  else planUnseen(situation, at, found);
}

function isSeen(at: KeySituation): at is KeySituation & { readonly seen: Seen<object> } {
  return at.seen !== undefined;
}

function planSeen(situation: Situation, at: KeySituation & { readonly seen: Seen<object> }, found: Found): void {
  // What we recorded was not seen. Whatever stands under its key now, that it is gone is for a read by its id to say.
  // A replacement of ours whose answer got lost is another matter: what stands there may be what we made.
  const replaced = at.owned?.state === "owned" && at.owned.externalId !== at.seen.externalId;
  if (replaced && (at.wanted === undefined || !situation.complete))
    return planUnseen(situation, { ...at, seen: undefined }, found);
  const relation = relationOf(situation, at);
  if (relation.is === "foreign") {
    found.foreign.push({ key: at.key, owner: relation.owner });
    // What belongs to somebody else is not ours to remove: a leaving subject only forgets it.
    if (at.wanted === undefined && at.owned !== undefined && situation.leaving)
      found.changes.push(change(situation, at, "forget"));
    return;
  }
  if (relation.is === "adoptable") {
    found.changes.push(change(situation, at, "adopt"));
    return;
  }
  if (relation.is === "stranger") {
    if (at.wanted !== undefined) {
      const { acted, leaving } = weighed(situation, at.wanted, at.seen, found);
      found.changes.push(leaving(change(situation, at, "takeover", acted)));
    } else found.changes.push(change(situation, at, "forget"));
    return;
  }
  const unmarked = situation.loop.marks === true && at.seen.marker === "none";
  if (unmarked) found.markerMissing.push(at.key);
  // Nearly always: ours, and as it is wanted.
  if (at.wanted !== undefined && !unmarked && isAsWanted(situation, at)) return;
  const orphaned = isOrphaned(situation, at.owned);
  if (at.wanted === undefined && (!unmarked || orphaned)) {
    found.changes.push(change(situation, at, orphaned ? "forget" : "delete"));
    return;
  }
  // A missing marker is drift: put back, even on what nobody wants any more, before it may be deleted.
  const wanted = at.wanted ?? { key: at.key, item: at.seen.item };
  const { acted, leaving } = weighed(situation, wanted, at.seen, found);
  const differences = [...acted, ...(unmarked ? [MARKER_MISSING] : [])];
  if (differences.length === 0) return;
  const replace = situation.loop.replaces?.(differences) === true;
  if (replace && unmarked) {
    // A replacement deletes too: the marker comes back first, on the thing as it is.
    found.changes.push(
      change(situation, { ...at, wanted: { ...wanted, item: at.seen.item } }, "update", [MARKER_MISSING]),
    );
    return;
  }
  found.changes.push(leaving(change(situation, { ...at, wanted }, replace ? "replace" : "update", differences)));
}

/** What differs, without what a rule leaves alone; and the change that writes those fields as they were seen. */
function weighed(situation: Situation, wanted: Wanted<object>, seen: Seen<object>, found: Found) {
  const { acted, ignored } = situation.ignoring(wanted, situation.loop.same(wanted.item, seen.item));
  found.ignored.push(...ignored);
  const leaving = (planned: PlannedChange): PlannedChange => {
    if (ignored.length === 0 || planned.wanted === undefined) return planned;
    const fields = ignored.map(({ field }) => field);
    return { ...planned, wanted: { ...planned.wanted, item: withSeenFields(planned.wanted.item, seen.item, fields) } };
  };
  return { acted, leaving };
}

/** One source that lets go is enough: what it was told to leave there is not removed on behalf of another one. */
function isOrphaned(situation: Situation, owned: OwnedItem | undefined): boolean {
  return situation.leaving?.orphan === true || owned?.sources.some((uid) => situation.released.has(uid)) === true;
}

const MARKER_MISSING: FieldDifference = { field: "/marker", wanted: "ours", seen: null };

function planUnseen(situation: Situation, at: KeySituation, found: Found): void {
  if (!situation.complete && at.owned !== undefined) {
    found.suspected.push(at.key);
    return;
  }
  if (at.wanted !== undefined)
    found.changes.push(change(situation, at, "create", compare(at.wanted.item, {}).differences));
  else found.changes.push(change(situation, at, "forget"));
}

type Relation = { readonly is: "ours" | "adoptable" | "stranger" } | { readonly is: "foreign"; readonly owner: string };

const OURS: Relation = Object.freeze({ is: "ours" });

function relationOf(situation: Situation, at: KeySituation & { readonly seen: Seen<object> }): Relation {
  const { marker } = at.seen;
  if (typeof marker === "object" && "foreign" in marker) return { is: "foreign", owner: marker.foreign };
  if (typeof marker === "object" && !isOurs(marker, situation.marker)) {
    return { is: "foreign", owner: `installation ${marker.installationId}, resource ${marker.resourceUid}` };
  }
  if (at.owned?.externalId === at.seen.externalId) return OURS;
  if (typeof marker === "object" && at.owned !== undefined) return { is: "adoptable" };
  // Without markers, what we were about to make and what is there being the same is the best evidence there is.
  const intended = at.owned?.state === "intended" && situation.loop.marks !== true;
  if (intended && (isAsIntended(situation, at) || isAsWanted(situation, at))) return { is: "adoptable" };
  if (typeof marker === "object") return { is: at.wanted === undefined ? "stranger" : "adoptable" };
  if (situation.claimsAll === true && situation.complete) return { is: "adoptable" };
  return { is: "stranger" };
}

/** The thing is just what we were about to make when the answer got lost, whatever is wanted since. */
function isAsIntended(situation: Situation, at: KeySituation & { readonly seen: Seen<object> }): boolean {
  return stableDigest(situation, at.seen.item) === at.owned?.wantedHash;
}

function isAsWanted(situation: Situation, at: KeySituation & { readonly seen: Seen<object> }): boolean {
  return at.wanted !== undefined && situation.loop.same(at.wanted.item, at.seen.item).length === 0;
}

function stableDigest(situation: Situation, item: object): string {
  return digestOf(situation.loop.stable?.(item) ?? item);
}

function isOurs(marker: Marker, ours: Marker): boolean {
  return marker.installationId === ours.installationId && marker.resourceUid === ours.resourceUid;
}

function settlesInMs(situation: Situation, owned: OwnedItem): number {
  const visibleFromMs =
    owned.state === "intended"
      ? owned.intendedAtMs + situation.answerMs + situation.settleMs
      : (owned.writtenAtMs ?? 0) + situation.settleMs;
  return situation.observedFromMs >= visibleFromMs ? 0 : Math.max(1, visibleFromMs - situation.nowMs);
}

/**
 * Two things under one key: what we recorded wins, then what carries our marker, then the smaller id. What we recorded
 * keeps the key we recorded it under, whatever it is called outside by now.
 */
function pickWinners(situation: Situation) {
  const alone = withoutRivals(situation);
  if (alone !== undefined) return { winners: alone, others: [] };
  const recorded = new Map(situation.owned.map((item) => [item.externalId, item.key]));
  const rank = (seen: Seen<object>) =>
    recorded.has(seen.externalId)
      ? 0
      : typeof seen.marker === "object" && !("foreign" in seen.marker) && isOurs(seen.marker, situation.marker)
        ? 1
        : 2;
  const winners = new Map<string, Seen<object>>();
  const others = new Map<string, { key: string; externalId: string }>();
  const sorted = [...situation.seen].sort(
    (left, right) => rank(left) - rank(right) || (left.externalId < right.externalId ? -1 : 1),
  );
  for (const seen of sorted) {
    const { externalId } = seen;
    const key = recorded.get(externalId) ?? seen.key;
    const winner = winners.get(key);
    if (winner === undefined) winners.set(key, seen);
    else if (winner.externalId !== externalId) others.set(externalId, { key, externalId });
  }
  return { winners, others: [...others.values()] };
}

/** Where keys are ids and every key has one thing alone, nothing needs to be ranked; undefined where it is otherwise. */
function withoutRivals({ seen, owned }: Situation): Map<string, Seen<object>> | undefined {
  for (const { key, externalId } of owned) if (externalId !== undefined && externalId !== key) return undefined;
  const winners = new Map<string, Seen<object>>();
  for (const one of seen) {
    if (one.key !== one.externalId) return undefined;
    winners.set(one.key, one);
  }
  return winners.size === seen.length ? winners : undefined;
}

function change(
  situation: Situation,
  at: KeySituation,
  action: ChangeAction,
  differences: readonly FieldDifference[] = [],
): PlannedChange {
  const stable = (item: object) => stableDigest(situation, item);
  const wantedHash = at.wanted === undefined ? (at.owned?.wantedHash ?? "") : stable(at.wanted.item);
  const seenHash = at.seen === undefined ? undefined : stable(at.seen.item);
  const externalId = at.seen?.externalId ?? at.owned?.externalId;
  const ends = action === "delete" || action === "forget";
  return {
    action,
    key: at.key,
    wanted: at.wanted,
    seen: at.seen,
    owned: at.owned,
    differences,
    sources: at.wanted?.sources ?? [situation.ownSource],
    wantedHash,
    digest: itemDigest({
      subjectUid: situation.marker.resourceUid,
      action,
      key: at.key,
      externalId,
      wantedHash: at.wanted === undefined ? undefined : wantedHash,
      seenHash,
    }),
    origin: ends ? originOf(situation, at) : undefined,
    missing: action === "create" && at.owned?.state === "owned",
    weight: 1 + (at.seen?.contains ?? 0),
  };
}

/** An item made of several resources is declared deleted when every former source has a tombstone. */
function originOf(situation: Situation, { key, owned }: KeySituation): "declared" | "inferred" {
  if (situation.leaving !== undefined || situation.covered?.has(key) === true) return "declared";
  const sources = owned?.sources ?? [];
  return sources.length > 0 && sources.every((uid) => situation.tombstones.has(uid)) ? "declared" : "inferred";
}

export function sizesOf(plan: Plan): { create: number; update: number; replace: number; delete: number } {
  const sizes = { create: 0, update: 0, replace: 0, delete: 0 };
  for (const { action } of plan.changes) {
    if (action === "create" || action === "update" || action === "replace" || action === "delete") sizes[action]++;
    else if (action === "takeover") sizes.update++;
  }
  return sizes;
}
