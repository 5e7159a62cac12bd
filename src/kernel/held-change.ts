import type { ChangeAction, HeldGroup } from "../ports/records.ts";
import { canonical, digestOf } from "./hash.ts";

/**
 * What an approval binds to. It covers the gated item only: what is done, to which outside thing, towards what, from what.
 * Volatile fields are out because the seen hash is taken after normalising.
 */
export function itemDigest(item: {
  readonly subjectUid: string;
  readonly action: ChangeAction;
  readonly key: string;
  readonly externalId: string | undefined;
  readonly wantedHash: string | undefined;
  readonly seenHash: string | undefined;
}): string {
  return digestOf([
    item.subjectUid,
    item.action,
    item.key,
    item.externalId ?? "",
    item.wantedHash ?? "",
    item.seenHash ?? "",
  ]);
}

/** The digest of a whole held change: of the set of its items, whatever order they were reported in and by how many subjects. */
export function heldChangeDigest(items: readonly { readonly digest: string }[]): string {
  return digestOf([...new Set(items.map((item) => item.digest))].sort());
}

/** What an approval to reclaim an account after a restore binds to; the same from whichever subject asks. */
export function reclaimDigest(accountId: string, incarnation: number): string {
  return digestOf(["reclaim", accountId, incarnation]);
}

/** The digest of everything one subject has waiting, so that an unchanged hold writes nothing. */
export function heldGroupsDigest(groups: readonly HeldGroup[]): string {
  return digestOf(
    groups.map((group) => canonical([group.level, group.guard, group.items.map((item) => item.digest).sort()])).sort(),
  );
}
