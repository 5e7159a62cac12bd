import type { Direction, JournalEntry, OperationRecord } from "../ports/operation-store.ts";
import { ADMIT, type Effect, type Pipeline, type Step } from "./pipeline.ts";

/** What an operation does next. Decided from its record and its journal alone, so that whoever takes it over goes on the same way. */
export type Next =
  | { readonly move: "admit" }
  | { readonly move: "run"; readonly step: Step; readonly begunAtMs: number | undefined }
  | { readonly move: "undo"; readonly step: Effect; readonly made: JournalEntry | undefined }
  | { readonly move: "turn-back"; readonly message: string }
  | { readonly move: "end"; readonly state: "succeeded" | "cancelled"; readonly message: string };

export interface Moment {
  readonly operation: Pick<OperationRecord, "direction" | "cancel">;
  readonly journal: readonly JournalEntry[];
  /** The resource is being deleted. */
  readonly leaving: boolean;
  /** Steps whose thing is on record as this operation's own, made or only meant to be made; asked for on the way back. */
  readonly onRecord?: ReadonlySet<string> | undefined;
}

/** Pure: the journal is replayed, and a recorded step is not run again. */
export function nextMove(pipeline: Pipeline, moment: Moment): Next {
  const { operation } = moment;
  return operation.direction === "back" ? nextBack(pipeline, moment) : nextForward(pipeline, moment);
}

function nextForward(pipeline: Pipeline, { operation, journal, leaving }: Moment): Next {
  if (operation.cancel !== undefined)
    return { move: "turn-back", message: `cancelled by ${operation.cancel.author}: ${operation.cancel.reason}` };
  // What is made for a resource that goes would have to go again: it is taken back, and then the resource goes.
  if (leaving && !pipeline.ends) return { move: "turn-back", message: "the resource is being deleted" };
  const standing = standingEntries(pipeline, journal, "forward");
  if (!standing.has(ADMIT)) return { move: "admit" };
  const step = pipeline.steps.find(({ name }) => !standing.has(name));
  if (step === undefined) return { move: "end", state: "succeeded", message: "done" };
  return { move: "run", step, begunAtMs: begunAtMs(pipeline, journal, step.name) };
}

/** What was made is taken back in reverse order; what was adopted, skipped or cannot be taken back is left. */
function nextBack(pipeline: Pipeline, { operation, journal, onRecord }: Moment): Next {
  const left = leftToUndo(pipeline, journal, onRecord);
  const [last] = left;
  const why =
    operation.cancel === undefined ? "the resource is being deleted" : `cancelled by ${operation.cancel.author}`;
  if (last === undefined) return { move: "end", state: "cancelled", message: `${why}: what was made was taken back` };
  if (!standingEntries(pipeline, journal, "back").has(ADMIT)) return { move: "admit" };
  return { move: "undo", ...last };
}

/**
 * Steps whose effect can be taken back, the last one first: those that were ever done, whatever has voided that since, and those
 * that may have made something although nobody heard the answer.
 */
export function leftToUndo(
  pipeline: Pipeline,
  journal: readonly JournalEntry[],
  onRecord: ReadonlySet<string> = new Set(),
): readonly { readonly step: Effect; readonly made: JournalEntry | undefined }[] {
  const back = standingEntries(pipeline, journal, "back");
  return pipeline.steps.toReversed().flatMap((step) => {
    if (step.type !== "effect" || step.compensate === undefined) return [];
    const made = journal.findLast(
      (entry) => entry.direction === "forward" && entry.step === step.name && entry.result === "done",
    );
    const undone = back.get(step.name);
    const isLeft = undone === undefined ? made !== undefined : false;
    return isLeft || (onRecord.has(step.name) && undone?.result !== "skipped") ? [{ step, made }] : [];
  });
}

/** The entries that count: the last `done` or `skipped` of each step that nothing has voided since. */
export function standingEntries(
  pipeline: Pipeline,
  journal: readonly JournalEntry[],
  direction: Direction,
): ReadonlyMap<string, JournalEntry> {
  const order = [ADMIT, ...pipeline.steps.map(({ name }) => name)];
  const standing = new Map<string, JournalEntry>();
  for (const entry of journal) {
    if (entry.direction !== direction) continue;
    if (entry.result === "done" || entry.result === "skipped") standing.set(entry.step, entry);
    if (entry.result === "moved") standing.delete(entry.step);
    if (entry.result === "again") for (const later of order.slice(order.indexOf(entry.step))) standing.delete(later);
  }
  return standing;
}

/** When the wait of a step began; a retry begins it anew. */
function begunAtMs(pipeline: Pipeline, journal: readonly JournalEntry[], step: string): number | undefined {
  const order = pipeline.steps.map(({ name }) => name);
  const at = order.indexOf(step);
  let begun: number | undefined;
  for (const entry of journal) {
    if (entry.direction !== "forward") continue;
    if (entry.result === "begun" && entry.step === step) begun = entry.atMs;
    if (entry.result === "again" && order.indexOf(entry.step) <= at) begun = undefined;
  }
  return begun;
}
