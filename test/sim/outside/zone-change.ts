import type { ProductionErrors } from "../production.ts";
import type { OutsideAccount, Thing } from "./outside.ts";
import { type Content, recordId, type ZoneChange } from "./sim-api.ts";
import type { Effects } from "./sim-provider.ts";

/** Changes a zone whole or not at all: first every precondition, then every effect. */
export function changeZone(
  errors: ProductionErrors,
  outside: OutsideAccount,
  effects: Effects,
  request: { readonly uid: string; readonly group: string; readonly changes: readonly ZoneChange[] },
): void {
  const { group } = request;
  for (const change of request.changes) {
    const seen = outside.things.get(recordId(group, change.key));
    if (change.action === "delete" && seen?.lock !== undefined) {
      throw new errors.TerminalError("PROVIDER_REFUSED", `${change.key} is locked: ${seen.lock}`);
    }
    if (stands(change, seen)) continue;
    throw new errors.RetryableError("PRECONDITION_FAILED", `${change.key} is not as it was seen`, {
      ambiguous: false,
    });
  }
  for (const change of request.changes) {
    const id = recordId(group, change.key);
    const seen = outside.things.get(id);
    if (change.action === "delete") {
      if (seen !== undefined) effects.remove(seen);
    } else if (seen === undefined) {
      effects.create(newRecord(id, request, change.key, change.content));
    } else if (change.action !== "create") {
      // What is there already as wanted is left as it is; whose it is, the claim says.
      effects.update({ ...seen, ...change.content });
    }
  }
}

function stands(change: ZoneChange, seen: Thing | undefined): boolean {
  // Removing what is gone and making what is there already as wanted are successes.
  if (change.action === "delete") return seen === undefined || same(seen, change.asSeen);
  if (change.action === "create") return seen === undefined || same(seen, change.content);
  return seen !== undefined && same(seen, change.asSeen);
}

function same(thing: Thing, content: Content): boolean {
  return thing.value === content.value && thing.size === content.size;
}

function newRecord(
  id: string,
  request: { readonly uid: string; readonly group: string },
  key: string,
  content: Content,
): Thing {
  const { group, uid } = request;
  return {
    id,
    group,
    key,
    ...content,
    marker: "none",
    lock: undefined,
    madeFor: uid,
    lockedAtMs: 0,
    markedAtMs: 0,
  };
}
