import type {
  CycleInput,
  CycleTrace,
  OwnedItem,
  PublishedValues,
  StoredObservation,
  SubjectMemory,
  SubjectStatus,
} from "../ports/records.ts";
import type { Claim, CycleReport, CycleResult } from "./claim.ts";
import type { Turn, Turner } from "./scene.ts";
import { digestOf, redacted, sameJson } from "./hash.ts";
import { heldGroupsDigest } from "./held-change.ts";
import type { Kind } from "./kind.ts";
import type { Seen } from "./loop.ts";
import { isBookkeeping } from "./act.ts";
import { keptFromGoing } from "./leaving.ts";
import { type Phases, withTrace } from "./phases.ts";
import { type PlannedChange, sizesOf } from "./plan.ts";
import { planToStore } from "./stored-plan.ts";
import { subjectEvents } from "./subject-events.ts";
import { sameStatus, statusOf, withFlip } from "./status.ts";

/** Stored observations are for people, dry runs and diffs; beyond this many items they say that they are cut. */
const OBSERVED_ITEMS_MAX = 1_000;

/** Writes what changed and nothing else: a cycle that found everything as it was leaves no trace in the database. */
export async function settleTurn(turner: Turner, input: CycleInput, turn: Turn): Promise<CycleReport> {
  const { engine, claim, phases } = turner;
  // What an operation works on stays until it ends: the loop's next cycle lets it go.
  const mayGo = claim.actor.operationId === undefined;
  const gone = mayGo && (turn.result === "gone" || (isGone(input, turn) && !turn.memoryUnknown));
  const left = planToStore(input.status, turn);
  const values = publishedBy(engine.kinds.get(input.subject.kind)?.loop, input, turn);
  const status = { ...statusFor(input, turn), planHash: left.hash, ...(values === undefined ? {} : { values }) };
  const asked = claim.trigger === "person" || claim.trigger === "event";
  const flips = withFlip(turn.memory.flips, input.status, status, { ms: input.storeNowMs, asked });
  const memory: SubjectMemory = { ...turn.memory, flips };
  const changedStatus = !sameStatus(input.status, status);
  // Whoever does not know what was recorded must not write over it.
  const changedMemory = !turn.memoryUnknown && !sameJson(memory, input.memory);
  const observation = observationFor(input, turn, engine.kinds.get(input.subject.kind)?.loop?.storesItems);
  const heldDigest =
    turn.held === undefined ? input.heldDigest : turn.held.length === 0 ? undefined : heldGroupsDigest(turn.held);
  const changedHeld = heldDigest !== input.heldDigest;
  const forgetSources = turn.memoryUnknown ? [] : forgottenSources(input, memory);
  const nextInMs = turn.result === "superseded" ? 0 : turn.nextInMs;
  const idle =
    !gone &&
    !changedStatus &&
    !changedMemory &&
    observation === undefined &&
    !changedHeld &&
    !input.dueStored &&
    nextInMs === undefined &&
    forgetSources.length === 0 &&
    turn.startsAgain === undefined &&
    turn.written === 0;
  const result: CycleResult = gone ? "gone" : turn.result;
  if (idle) return reportOf(claim, input, { ...turn, result, idle: true });
  const answer = await engine.store.settle({
    actor: claim.actor,
    subject: input.subject,
    inputVersion: input.inputVersion,
    policyVersion: input.policyVersion,
    dueSeen: { atMs: input.dueAtMs },
    memory: changedMemory ? memory : undefined,
    observation,
    status: changedStatus ? withTrace(status, input.status, traceOf(input, turn, phases)) : undefined,
    publishes: !sameJson(values ?? {}, input.status?.values ?? {}),
    plan: gone ? undefined : left.plan,
    events: gone || !(changedStatus || changedMemory) ? [] : subjectEvents(input, { status, memory }),
    held: changedHeld ? { digest: heldDigest ?? "", groups: turn.held ?? [] } : undefined,
    verdicts: changedStatus || turn.written > 0 ? turn.verdicts : [],
    nextInMs,
    gone,
    forgetSources,
    ...(turn.startsAgain === undefined ? {} : { startsAgain: turn.startsAgain }),
    nowOwned: turn.memoryUnknown ? undefined : memory.owned.length,
  });
  const settled = answer.kept ? { ...turn, result } : { ...turn, result: "superseded" as const, nextInMs: undefined };
  return reportOf(claim, input, { ...settled, dueAgain: answer.dueAgain });
}

/** From a complete look alone: what could not be seen is as it was. */
function publishedBy(loop: Kind["loop"], input: CycleInput, turn: Turn): PublishedValues | undefined {
  const seen = turn.observation?.seen;
  if (loop?.publishes === undefined || seen === undefined || seen.completeness !== "complete")
    return input.status?.values;
  return loop.publishes(seen.items);
}

function traceOf({ storeNowMs }: CycleInput, turn: Turn, phases: Phases): CycleTrace {
  const sizes = turn.plan === undefined ? undefined : sizesOf(turn.plan);
  const replaced = sizes?.replace ?? 0;
  return {
    atMs: storeNowMs,
    result: turn.result,
    spentMs: phases.spentMs,
    create: (sizes?.create ?? 0) + replaced,
    update: sizes?.update ?? 0,
    delete: (sizes?.delete ?? 0) + replaced,
    written: turn.written,
  };
}

/** A leaving subject is gone when nothing of ours is left outside. */
function isGone(input: CycleInput, turn: Turn): boolean {
  if (input.resource.deletion === undefined || turn.memory.owned.length > 0 || turn.result === "superseded")
    return false;
  return keptFromGoing({ ...input, memory: turn.memory }) === undefined;
}

function statusFor(input: CycleInput, turn: Turn): SubjectStatus {
  return statusOf({
    nowMs: input.storeNowMs,
    generation: input.resource.generation,
    result: turn.result,
    message: turn.message,
    verdicts: turn.verdicts,
    differences: turn.plan?.changes.filter(differs).length ?? input.status?.differences ?? 0,
    owned: turn.memory.owned.filter((item) => item.state === "owned").length,
    held: turn.held?.length ?? 0,
    bad: turn.bad,
    lookedAtMs: turn.observation?.seen.completeness === "complete" ? turn.observation.atMs : undefined,
    flips: turn.memory.flips,
    inspection: turn.inspection,
    stale: turn.stale,
    site: turn.site,
    previous: input.status,
  });
}

/** Taking over what is just as it is declared waits for a person, and is no difference. */
function differs(change: PlannedChange): boolean {
  return change.action === "takeover" ? change.differences.length > 0 : !isBookkeeping(change);
}

function observationFor(input: CycleInput, turn: Turn, most = OBSERVED_ITEMS_MAX): StoredObservation | undefined {
  if (turn.observation === undefined) return undefined;
  const { seen, atMs } = turn.observation;
  const sorted = sortedItems(seen.items);
  const hash = observationDigest(seen.completeness, sorted, turn.memory.owned);
  if (hash === input.observationHash) return undefined;
  const owned = new Set(turn.memory.owned.map((item) => item.externalId));
  const items = sorted.slice(0, most).map((item) => ({
    key: item.key,
    externalId: item.externalId,
    item: redacted(item.item),
    owned: owned.has(item.externalId),
  }));
  return { hash, completeness: seen.completeness, observedAtMs: atMs, items, truncated: sorted.length > items.length };
}

function sortedItems(items: readonly Seen<object>[]): readonly Seen<object>[] {
  const isSorted = items.every((item, index) => index === 0 || (items[index - 1]?.key ?? "") <= item.key);
  return isSorted
    ? items
    : [...items].sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
}

/** A list that a look handed out again is not written out again. */
const listDigests = new WeakMap<readonly Seen<object>[], string>();

/** Of the items of an observation, in the order of their keys, and of which of them are ours. */
export function observationDigest(
  completeness: string,
  sorted: readonly Seen<object>[],
  owned: readonly OwnedItem[],
): string {
  const known = listDigests.get(sorted) ?? digestOf(sorted.map(({ key, externalId, item }) => [key, externalId, item]));
  listDigests.set(sorted, known);
  return digestOf([completeness, known, oursAmong(sorted, owned)]);
}

/** A sign for each item that was seen: ours or not. Both lists are in the order of their keys, and nearly always all of it is ours. */
function oursAmong(sorted: readonly Seen<object>[], owned: readonly OwnedItem[]): string {
  const isSame = sorted.length === owned.length;
  if (isSame && sorted.every(({ externalId }, index) => externalId === owned[index]?.externalId))
    return "+".repeat(sorted.length);
  const ids = new Set(owned.map((item) => item.externalId));
  let ours = "";
  for (const { externalId } of sorted) ours += ids.has(externalId) ? "+" : "-";
  return ours;
}

/** Tombstones that no item of ours refers to any more have done their work. */
function forgottenSources(input: CycleInput, memory: SubjectMemory): readonly string[] {
  if (input.inputs.length === 0) return [];
  const referred = new Set(memory.owned.flatMap((item) => item.sources));
  return input.inputs
    .filter((resource) => resource.deletion !== undefined && !referred.has(resource.uid))
    .map((resource) => resource.uid);
}

export function reportOf(
  claim: Claim,
  input: CycleInput | undefined,
  turn: {
    readonly result: CycleResult;
    readonly message: string;
    readonly idle?: boolean;
    readonly dueAgain?: boolean;
  } & Partial<Pick<Turn, "plan" | "written" | "held" | "verdicts" | "nextInMs" | "observation">>,
): CycleReport {
  const seen = turn.observation?.seen;
  return {
    subjectId: claim.subjectId,
    kind: input?.subject.kind ?? "",
    result: turn.result,
    sizes: turn.plan === undefined ? { create: 0, update: 0, replace: 0, delete: 0 } : sizesOf(turn.plan),
    written: turn.written ?? 0,
    held: turn.held?.reduce((sum, group) => sum + group.items.length, 0) ?? 0,
    verdicts: turn.verdicts ?? [],
    dueAgain: turn.dueAgain ?? false,
    nextInMs: turn.nextInMs,
    idle: turn.idle ?? false,
    unseen: seen === undefined || seen.completeness === "complete" ? undefined : seen.proof,
    message: turn.message,
  };
}
