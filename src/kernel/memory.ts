import type { OwnedItem, SubjectMemory } from "../ports/records.ts";

export const emptyMemory: SubjectMemory = Object.freeze({
  owned: [],
  findings: [],
  fights: [],
  attempts: 0,
  flips: [],
});

/** A person says "try again": failures, fights and stops are forgotten; what is ours and what was found is not. */
export function retriedMemory(memory: SubjectMemory): SubjectMemory {
  return { ...memory, attempts: 0, fights: [], stops: [] };
}

/** The memory with one owned item replaced, added or (undefined) dropped. Sorted by key, so that order never matters. */
export function withOwned(memory: SubjectMemory, key: string, item: OwnedItem | undefined): SubjectMemory {
  const others = memory.owned.filter((owned) => owned.key !== key);
  const owned = item === undefined ? others : [...others, item].sort((left, right) => (left.key < right.key ? -1 : 1));
  return { ...memory, owned };
}
