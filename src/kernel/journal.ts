import type { Direction, JournalEntry, OperationRecord } from "../ports/operation-store.ts";
import { ADMIT, type Pipeline, type Step } from "./pipeline.ts";

/** What an operation does next. Decided from its record and its journal alone, so that whoever takes it over goes on the same way. */
export type Next =
  | { readonly move: "admit" }
  | { readonly move: "run"; readonly step: Step; readonly begunAtMs: number | undefined }
  | { readonly move: "undo"; readonly step: Step; readonly made: JournalEntry }
  | { readonly move: "turn-back"; readonly message: string }
  | { readonly move: "end"; readonly state: "succeeded" | "cancelled"; readonly message: string };

export interface Moment {
  readonly operation: Pick<OperationRecord, "direction" | "cancel">;
  readonly journal: readonly JournalEntry[];
  /** The resource is being deleted. */
  readonly leaving: boolean;
}

/** Pure: the journal is replayed, and a recorded step is not run again. */
export function nextMove(pipeline: Pipeline, moment: Moment): Next {
  const { operation, journal } = moment;
  return operation.direction === "back" ? nextBack(pipeline, journal, operation) : nextForward(pipeline, moment);
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
function nextBack(pipeline: Pipeline, journal: readonly JournalEntry[], operation: Moment["operation"]): Next {
  const left = leftToUndo(pipeline, journal);
  const [last] = left;
  const why =
    operation.cancel === undefined ? "the resource is being deleted" : `cancelled by ${operation.cancel.author}`;
  if (last === undefined) return { move: "end", state: "cancelled", message: `${why}: what was made was taken back` };
  if (!standingEntries(pipeline, journal, "back").has(ADMIT)) return { move: "admit" };
  return { move: "undo", ...last };
}

/** Steps whose effect stands and can be taken back, the last one first. */
export function leftToUndo(
  pipeline: Pipeline,
  journal: readonly JournalEntry[],
): readonly { readonly step: Step; readonly made: JournalEntry }[] {
  const forward = standingEntries(pipeline, journal, "forward");
  const back = standingEntries(pipeline, journal, "back");
  return pipeline.steps.toReversed().flatMap((step) => {
    const made = forward.get(step.name);
    const undone = back.get(step.name);
    const can = step.type === "effect" && step.compensate !== undefined;
    // What was run again after it was taken back stands again.
    const isUndone = undone !== undefined && made !== undefined && undone.place > made.place;
    return can && made?.result === "done" && !isUndone ? [{ step, made }] : [];
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
