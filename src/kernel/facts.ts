import type { Health } from "../ports/engine-store.ts";
import type { Completeness } from "../ports/provider.ts";
import type {
  CycleInput,
  Fight,
  Finding,
  Grant,
  GuardName,
  HeldGroup,
  HeldItem,
  Pause,
  ResourceDeletion,
  Verdict,
} from "../ports/records.ts";
import type { Plan, PlannedChange } from "./plan.ts";
import type { Policy } from "./policy.ts";

/** Everything the guards decide from. Plain data, gathered before the first guard runs. */
export interface Facts {
  readonly nowMs: number;
  readonly policy: Policy;
  readonly pauses: readonly Pause[];
  readonly hold: CycleInput["hold"];
  readonly plan: Plan;
  readonly completeness: Completeness;
  readonly observedFromMs: number;
  readonly quietSinceMs: number | undefined;
  /** Why the account may not be written to, if it may not. */
  readonly accountProblem: AccountProblem | undefined;
  /** The credential may only look. */
  readonly rightsProblem: string | undefined;
  readonly leaving: ResourceDeletion | undefined;
  /** Items of ours in the last complete read. */
  readonly owned: number;
  readonly wanted: number;
  /** False while the last good set stands in: the desired set was not computed anew. */
  readonly desiredKnown: boolean;
  /** The spec itself says that nothing is wanted. */
  readonly zeroDeclared: boolean;
  readonly findings: readonly Finding[];
  readonly fights: readonly Fight[];
  readonly stoppedKeys: ReadonlySet<string>;
  /** What the first of them failed with. */
  readonly stoppedBecause?: string | undefined;
  /** What a replacement is, where it is long work: it waits for a person. */
  readonly replacement?: { readonly pipeline: string; readonly loses: string } | undefined;
  /** Unused grants by item digest. */
  readonly grants: ReadonlyMap<string, Grant>;
  /** An operation that a person's approval started, on the very declaration that was approved. */
  readonly approvedWhole?: boolean | undefined;
  /** Deletions of sources that their author confirmed by count in the same request. */
  readonly confirmed: ReadonlySet<string>;
  /** Keys that the declaration gives up by itself, within what it allows: no subject budget has to allow them once more. */
  readonly covered: ReadonlySet<string>;
  readonly health: (Health & { readonly atSite?: (Health & { readonly site: string }) | undefined }) | undefined;
}

export interface AccountProblem {
  readonly reason: string;
  /** A restore and a lost sentinel are answered by one approval that reclaims the account; that it is another one is not. */
  readonly reclaim: { readonly accountId: string; readonly incarnation: number } | undefined;
  readonly numbers: Readonly<Record<string, number>>;
}

/** What one guard says: a subset of the changes, with the reason for every one it took out. */
export interface GuardAnswer {
  readonly pass: readonly PlannedChange[];
  readonly verdicts?: readonly Verdict[];
  readonly held?: readonly HeldGroup[];
  /** Come back then, because time alone may let the rest through. */
  readonly waitMs?: number;
  readonly findings?: readonly Finding[];
  /** What is in order and comes another time. */
  readonly later?: readonly PlannedChange[];
}

export type Guard = (changes: readonly PlannedChange[], facts: Facts) => GuardAnswer;

export function verdict(
  guard: GuardName,
  answer: Verdict["answer"],
  reason: string,
  options: { readonly numbers?: Readonly<Record<string, number>>; readonly keys?: readonly string[] } = {},
): Verdict {
  return { guard, answer, reason, numbers: options.numbers ?? {}, keys: (options.keys ?? []).slice(0, 100) };
}

/** Everything out, with one verdict. */
export function refuseAll(changes: readonly PlannedChange[], said: Verdict): GuardAnswer {
  return changes.length === 0 ? { pass: [] } : { pass: [], verdicts: [said] };
}

/** Splits the changes; when anything is taken out, the verdict made from it is recorded. */
export function takeOut(
  changes: readonly PlannedChange[],
  out: (change: PlannedChange) => boolean,
  say: (taken: readonly PlannedChange[]) => Verdict,
): GuardAnswer & { readonly taken: readonly PlannedChange[] } {
  const taken = changes.filter(out);
  if (taken.length === 0) return { pass: changes, taken };
  return { pass: changes.filter((change) => !out(change)), taken, verdicts: [say(taken)] };
}

export function heldItems(changes: readonly PlannedChange[], reason: string): readonly HeldItem[] {
  return changes.map((change) => ({
    key: change.key,
    action: change.action,
    externalId: change.seen?.externalId ?? change.owned?.externalId,
    digest: change.digest,
    differences: change.differences,
    reason,
  }));
}

/** Deletes and replacements take something away outside. */
export function removes(change: PlannedChange): boolean {
  return change.action === "delete" || change.action === "replace";
}

/** A person has approved this very item: by a grant, by confirming the count when deleting, or with all that it is a part of. */
export function isGranted(change: PlannedChange, facts: Facts): boolean {
  if (facts.approvedWhole === true || facts.grants.has(change.digest)) return true;
  return change.action === "delete" && facts.confirmed.has(change.key);
}

export function keysOf(changes: readonly PlannedChange[]): readonly string[] {
  return changes.map((change) => change.key);
}
