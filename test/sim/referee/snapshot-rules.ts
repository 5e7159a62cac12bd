import type { PermitRequest, Settlement } from "../../../src/ports/engine-store.ts";
import type { ChangeRecord, CycleInput, Verdict } from "../../../src/ports/records.ts";
import { isRemoval } from "./permit-rules.ts";
import { Violation } from "./witness.ts";

/** What a stop keeps: the same as the engine says in its own words, an hour. */
const stopForMs = 60 * 60_000;
const sentinelKey = "account sentinel";

/** One cycle, by what it was given and what it has asked for so far. */
export interface WatchedCycle {
  readonly loadedAtMs: number;
  readonly input: CycleInput;
  /** Changes it asked permits for, granted or not. */
  asked: number;
  /** Removals among them that nobody had approved. */
  ungrantedRemovals: number;
  reservations: number;
  reserved: number;
}

/**
 * The permit is a fence, not a plan: what a cycle's own snapshot forbids is never asked of it. Without this rule a guard
 * that sleeps would go unnoticed for as long as the fence holds.
 */
export function judgeAsked(cycle: WatchedCycle, request: PermitRequest, nowMs: number): void {
  const { input } = cycle;
  const name = `${input.subject.kind}/${input.subject.name}`;
  judgeStopped(input, request, nowMs, name);
  judgeReclaim(input, name);
  for (const { key, action, externalId } of request.changes) {
    if (key === "" || externalId === "") throw new Violation("no wildcards", `${name}: a ${action} without a name`);
  }
  const changes = request.changes.filter((change) => change.key !== sentinelKey);
  cycle.asked += changes.length;
  const cap = changeCapOf(input);
  if (cycle.asked > cap) {
    throw new Violation("change cap", `${name}: change number ${cycle.asked} of this cycle, ${cap} allowed`);
  }
}

/** Pauses and holds that the snapshot shows, and keys whose last write failed for good. */
function judgeStopped(input: CycleInput, { changes, actor }: PermitRequest, nowMs: number, name: string): void {
  const pause = input.pauses.find((entry) => entry.expiresAtMs > nowMs && isCovered(entry.level, changes));
  if (pause !== undefined) {
    throw new Violation(
      "pause",
      `${name}: asks for a permit although it read that ${pause.level} are paused at ${pause.scope}`,
    );
  }
  // One process may have a step of an operation that was ended under it, and read for the next one meanwhile.
  const isHeld = actor.operationId === undefined ? input.hold !== undefined : input.hold === undefined;
  if (isHeld) {
    const holder = input.hold?.operationId ?? "nobody";
    throw new Violation("hold", `${name}: asks for a permit although it read that ${holder} holds it`);
  }
  const stop = input.memory.stops?.find(
    (entry) =>
      entry.inputVersion === input.inputVersion &&
      nowMs - entry.sinceMs < stopForMs &&
      changes.some((change) => change.key === entry.key),
  );
  if (stop !== undefined) {
    throw new Violation(
      "all or nothing",
      `${name}: tries ${stop.key} again, which was refused for good: ${stop.message}`,
    );
  }
}

function isCovered(level: "deletes" | "writes" | "all", changes: readonly ChangeRecord[]): boolean {
  return level !== "deletes" || changes.some(isRemoval);
}

/** After a restore nothing is written to an account before a person has said that it is still this installation's. */
function judgeReclaim({ account, installation }: CycleInput, name: string): void {
  const claimed = account?.claimedIncarnation;
  if (claimed !== undefined && claimed !== installation.incarnation) {
    throw new Violation(
      "account identity",
      `${name}: writes as incarnation ${installation.incarnation}, the account was claimed by ${claimed}`,
    );
  }
}

/** The lowest scope's own number, and no more than any ceiling above. */
function changeCapOf({ policies }: CycleInput): number {
  const own = policies.map((policy) => policy.limits?.changesPerCycle).findLast((cap) => cap !== undefined) ?? 50;
  const ceilings = policies.map((policy) => policy.ceiling?.changesPerCycle ?? Number.POSITIVE_INFINITY);
  return Math.min(own, ...ceilings);
}

/** Under a pause of everything nobody looks; above a budget nothing that nobody approved goes, not even a part. */
export function judgeSettled(cycle: WatchedCycle, settlement: Settlement): void {
  const { input } = cycle;
  const name = `${input.subject.kind}/${input.subject.name}`;
  const pause = input.pauses.find((entry) => entry.level === "all");
  if (pause !== undefined && settlement.observation !== undefined) {
    throw new Violation("pause", `${name}: looked although everything is paused at ${pause.scope}`);
  }
  for (const said of settlement.verdicts) judgeNumbers(said, name);
  const over = settlement.held?.groups.some((group) => group.guard === "delete-budget" && group.level === "subject");
  const confirmed = [input.resource, ...input.inputs].some(
    (resource) => resource.deletion?.confirmedCount !== undefined,
  );
  if (over === true && !confirmed && cycle.ungrantedRemovals > 0) {
    throw new Violation(
      "delete budget",
      `${name}: ${cycle.ungrantedRemovals} deletes of a plan above the budget were made`,
    );
  }
}

/** A verdict carries the numbers it was given by: they must say the same. */
function judgeNumbers({ guard, numbers, reason }: Verdict, name: string): void {
  const { bad, subjects, percent, atLeast, asked, allowed, used } = numbers;
  if (guard === "too-many-at-once" && bad !== undefined && subjects !== undefined) {
    const isSuspect = bad >= (atLeast ?? 0) && bad * 100 >= (percent ?? 0) * subjects;
    if (!isSuspect) throw new Violation("too many at once", `${name}: its own numbers say otherwise: ${reason}`);
  }
  if ((guard === "delete-budget" || guard === "change-cap") && asked !== undefined && allowed !== undefined) {
    if (asked + (used ?? 0) <= allowed)
      throw new Violation(guard.replace("-", " "), `${name}: its own numbers say otherwise: ${reason}`);
  }
}
