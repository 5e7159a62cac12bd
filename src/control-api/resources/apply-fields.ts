import { sameJson } from "../../kernel/hash.ts";
import type { Json } from "../../ports/json.ts";
import { type Fields, ownerOf, type Owners } from "./fields.ts";

export interface OwnerConflict {
  readonly pointer: string;
  readonly owner: string;
}

export type Applied =
  | { readonly ok: true; readonly fields: Fields; readonly owners: Owners }
  | { readonly ok: false; readonly conflicts: readonly OwnerConflict[] };

/**
 * Merges what one owner applies into what stands there. Fields it applied before and leaves out now are removed; fields of
 * others stay; a field of somebody else that it would change is a conflict unless it is taken over by force. Setting a
 * field to the value it has already is no conflict, and leaves it with its owner.
 */
export function applyFields(request: {
  readonly standing: Fields;
  readonly owners: Owners;
  readonly applied: Fields;
  readonly manager: string;
  readonly force: boolean;
}): Applied {
  const { standing, owners, applied, manager, force } = request;
  const conflicts = force ? [] : conflictsOf(request);
  if (conflicts.length > 0) return { ok: false, conflicts };
  const fields = new Map(standing);
  const owned = new Map(Object.entries(owners));
  for (const pointer of standing.keys()) {
    if (ownerOf(owners, pointer) !== manager || applied.has(pointer)) continue;
    fields.delete(pointer);
    owned.delete(pointer);
  }
  for (const [pointer, value] of applied) {
    const other = ownerOf(owners, pointer);
    const same = isSame(standing.get(pointer), value);
    for (const related of relatives(fields.keys(), pointer)) {
      if (related === pointer) continue;
      fields.delete(related);
      owned.delete(related);
    }
    fields.set(pointer, value);
    owned.set(pointer, same && !force ? (other ?? manager) : manager);
  }
  const kept = [...owned].filter(([pointer]) => fields.has(pointer));
  return { ok: true, fields, owners: Object.fromEntries(kept) };
}

function conflictsOf(request: Parameters<typeof applyFields>[0]): readonly OwnerConflict[] {
  const { standing, owners, applied, manager } = request;
  const found = new Map<string, OwnerConflict>();
  for (const [pointer, value] of applied) {
    for (const related of relatives(standing.keys(), pointer)) {
      const owner = ownerOf(owners, related);
      const same = related === pointer && isSame(standing.get(pointer), value);
      if (owner !== undefined && owner !== manager && !same) found.set(related, { pointer: related, owner });
    }
  }
  return [...found.values()];
}

/** The field itself, what is in it, and what it is in: setting one of them changes the others. */
function relatives(pointers: Iterable<string>, pointer: string): readonly string[] {
  return [...pointers].filter(
    (other) => other === pointer || other.startsWith(`${pointer}/`) || pointer.startsWith(`${other}/`),
  );
}

function isSame(standing: Json | undefined, value: Json): boolean {
  return standing !== undefined && sameJson(standing, value);
}
