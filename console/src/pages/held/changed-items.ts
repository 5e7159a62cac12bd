import type { HeldChangeDocument } from "../../api/types.ts";

type Item = HeldChangeDocument["items"][number];

/** One item of a held change, as much of it as tells whether it is still the same. */
export interface KnownItem {
  readonly key: string;
  /** What would be done, towards what and from what. */
  readonly content: string;
}

export interface ChangedItems {
  readonly added: readonly string[];
  readonly gone: readonly string[];
  /** The same thing, and something else would be done to it. */
  readonly other: readonly string[];
}

export function knownItem({ kind, name, key, action, externalId, differences }: Item): KnownItem {
  return { key: `${kind}/${name} ${key}`, content: JSON.stringify([action, externalId ?? "", differences]) };
}

/** What differs between what was known of a held change and what it is now. */
export function changedItems(before: readonly KnownItem[], after: readonly KnownItem[]): ChangedItems {
  const [was, is] = [byKey(before), byKey(after)];
  return {
    added: [...is.keys()].filter((key) => !was.has(key)),
    gone: [...was.keys()].filter((key) => !is.has(key)),
    other: [...is].filter(([key, content]) => was.has(key) && was.get(key) !== content).map(([key]) => key),
  };
}

/** Two steps on one thing, such as a delete and a create, are one content. */
function byKey(items: readonly KnownItem[]): ReadonlyMap<string, string> {
  const contents = new Map<string, string[]>();
  for (const { key, content } of items) contents.set(key, [...(contents.get(key) ?? []), content]);
  return new Map([...contents].map(([key, list]) => [key, list.toSorted().join(" ")]));
}

/** The last one that was approved before, of the same guard and about one of the same resources. */
export function approvedBefore(
  change: HeldChangeDocument,
  approved: readonly HeldChangeDocument[],
): HeldChangeDocument | undefined {
  const names = new Set(change.items.map(({ kind, name }) => `${kind}/${name}`));
  return approved
    .filter(({ id, guard, decidedAt }) => id !== change.id && guard === change.guard && decidedAt !== undefined)
    .filter(({ items }) => items.some(({ kind, name }) => names.has(`${kind}/${name}`)))
    .toSorted((left, right) => ((left.decidedAt ?? "") < (right.decidedAt ?? "") ? 1 : -1))[0];
}
