import type { StoredPlan, SubjectStatus } from "../ports/records.ts";
import { isBookkeeping } from "./act.ts";
import type { Turn } from "./scene.ts";
import { digestOf } from "./hash.ts";
import type { PlannedChange } from "./plan.ts";

/** A stored plan is for people: beyond this many items it says that it is cut. */
const ITEMS_MAX = 200;
const CAUSES_MAX = 20;
const VERDICT_KEYS_MAX = 20;

/**
 * What this cycle wanted and has not done, or undefined when nothing is left of it. What was carried out is in the record
 * of changes already, so that a heal stores no plan.
 */
function planLeft(turn: Turn): StoredPlan | undefined {
  const { plan, observation } = turn;
  if (plan === undefined || observation === undefined || turn.result === "converged") return undefined;
  const changes = plan.changes.filter((change) => !isBookkeeping(change) || change.action === "takeover");
  if (changes.length === 0 || (turn.result === "changed" && turn.written >= changes.length)) return undefined;
  const held = new Set((turn.held ?? []).flatMap((group) => group.items.map((item) => item.digest)));
  const verdicts = turn.verdicts.map((said) => ({ ...said, keys: said.keys.slice(0, VERDICT_KEYS_MAX) }));
  return {
    // Reasons and numbers may tell the time; what was decided about what does not.
    hash: digestOf([
      observation.seen.completeness,
      changes.map((change) => [change.digest, held.has(change.digest)]),
      verdicts.map((said) => [said.guard, said.answer]),
    ]),
    observedAtMs: observation.atMs,
    completeness: observation.seen.completeness,
    summary: {
      actions: countsOf(changes, (change) => change.action),
      held: changes.filter((change) => held.has(change.digest)).length,
      guards: [...new Set(verdicts.filter(({ answer }) => answer !== "pass").map(({ guard }) => guard))],
      causes: causesOf(changes),
    },
    items: changes.slice(0, ITEMS_MAX).map((change) => ({
      key: change.key,
      action: change.action,
      externalId: change.seen?.externalId ?? change.owned?.externalId,
      differences: change.differences,
      origin: change.origin,
      held: held.has(change.digest),
    })),
    truncated: changes.length > ITEMS_MAX,
    verdicts,
  };
}

/** What the store must do about the plan, given what it knew: nothing, replace it, or remove it. */
export function planToStore(
  previous: SubjectStatus | undefined,
  turn: Turn,
): { readonly hash: string | undefined; readonly plan: StoredPlan | "none" | undefined } {
  // A cycle that could not see or plan says nothing about the plan that stands.
  if (turn.plan === undefined) return { hash: previous?.planHash, plan: undefined };
  const plan = planLeft(turn);
  if (plan?.hash === previous?.planHash) return { hash: previous?.planHash, plan: undefined };
  return { hash: plan?.hash, plan: plan ?? "none" };
}

function countsOf<Item>(items: readonly Item[], name: (item: Item) => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[name(item)] = (counts[name(item)] ?? 0) + 1;
  return counts;
}

/** What differs, by action and field: many items with one cause are one line. */
function causesOf(changes: readonly PlannedChange[]): StoredPlan["summary"]["causes"] {
  const causes = new Map<string, { action: PlannedChange["action"]; field: string; count: number }>();
  for (const { action, differences } of changes) {
    const fields = action === "update" || action === "replace" ? differences.map(({ field }) => field) : [""];
    for (const field of new Set(fields.map((path) => path.split("/").slice(0, 2).join("/")))) {
      const known = causes.get(`${action} ${field}`) ?? { action, field, count: 0 };
      known.count += 1;
      causes.set(`${action} ${field}`, known);
    }
  }
  return [...causes.values()].sort((left, right) => right.count - left.count).slice(0, CAUSES_MAX);
}
