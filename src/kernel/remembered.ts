import type { FieldDifference, Fight, OwnedItem, SubjectMemory } from "../ports/records.ts";
import { isSameDifference } from "./guards/fights.ts";
import type { Plan } from "./plan.ts";
import type { Still } from "./scene.ts";
import { STOP_FOR_MS } from "./turns.ts";

/** What this look adds to the memory: markers seen or missing, fights that ended, the last good desired set. */
export function remembered(scene: Still, plan: Plan): SubjectMemory {
  const { memory } = scene.input;
  const nowMs = scene.lookout.storeNowMs();
  const stops = memory.stops?.filter(
    (stop) => stop.inputVersion === scene.input.inputVersion && nowMs - stop.sinceMs < STOP_FOR_MS,
  );
  return {
    ...memory,
    owned: rememberedItems(scene, plan, nowMs),
    fights: memory.fights.length === 0 ? memory.fights : rememberedFights(memory.fights, plan),
    stops,
    lastDesired: scene.desired.remember ?? memory.lastDesired,
  };
}

function rememberedItems(scene: Still, plan: Plan, nowMs: number): readonly OwnedItem[] {
  const declared = declaringSources(scene, plan);
  const protect = scene.policy.protectedBy !== undefined;
  return scene.input.memory.owned.map((known) => {
    const item = declaredBy(known, declared.get(known.key));
    const missing = plan.markerMissing.includes(item.key);
    if (missing === (item.markerMissingSinceMs !== undefined) && protect === (item.protect ?? false)) return item;
    return {
      ...item,
      markerMissingSinceMs: missing ? (item.markerMissingSinceMs ?? nowMs) : undefined,
      protect: protect ? true : undefined,
    };
  });
}

/** Only a look that shows the thing says how a fight over it stands. */
function rememberedFights(fights: readonly Fight[], plan: Plan): readonly Fight[] {
  const differences = new Map<string, readonly FieldDifference[]>(
    plan.changes.map((change) => [change.key, change.differences]),
  );
  const unseen = new Set([
    ...plan.unsettled,
    ...plan.suspected,
    ...plan.changes.filter((change) => change.seen === undefined).map((change) => change.key),
  ]);
  return fights.filter(
    (fight) =>
      unseen.has(fight.key) ||
      differences
        .get(fight.key)
        ?.some((difference) => difference.field === fight.field && isSameDifference(fight, difference)),
  );
}

/**
 * Of the items that are as wanted: who declares them now. Without it a source that is gone, and whose write was made but not
 * recorded, would be referred to for ever, and its tombstone with it.
 */
function declaringSources(scene: Still, plan: Plan): ReadonlyMap<string, readonly string[]> {
  const open = new Set([
    ...plan.changes.map((change) => change.key),
    ...plan.foreign.map((entry) => entry.key),
    ...plan.unsettled,
    ...plan.suspected,
    ...scene.desired.frozenKeys,
  ]);
  const asWanted = scene.desired.items.filter((item) => !open.has(item.key));
  return new Map(asWanted.map((item) => [item.key, (item.sources ?? []).map((source) => source.uid)]));
}

function declaredBy(item: OwnedItem, sources: readonly string[] | undefined): OwnedItem {
  if (sources === undefined || sources.length === 0 || item.state !== "owned") return item;
  const same = sources.length === item.sources.length && sources.every((uid) => item.sources.includes(uid));
  return same ? item : { ...item, sources };
}
