import type { z } from "zod";
import { nextMove, standingEntries } from "../../src/kernel/journal.ts";
import { type Kind, type KindRegistry, parseSpec } from "../../src/kernel/kind.ts";
import { effectOutput } from "../../src/kernel/operation-scene.ts";
import type { Pipeline, Step, Story } from "../../src/kernel/pipeline.ts";
import type { JournalEntry } from "../../src/ports/operation-store.ts";
import type { Recording } from "./recording.ts";

/**
 * Whether the present code would go on from every point of a journal as the code did that wrote it: the same step comes next, what
 * is stored still has the shape that is declared, and what the next step needs can be had from it. The first thing that
 * does not fit, in words; undefined when all does.
 */
export function misfitOf(recording: Recording, kinds: KindRegistry): string | undefined {
  const kind = kinds.get(recording.kind);
  if (kind === undefined) return `there is no kind ${recording.kind} any more`;
  const pipeline = kind.pipelines?.find(
    ({ name, version }) => name === recording.pipeline && version === recording.version,
  );
  if (pipeline === undefined) return `version ${recording.version} of ${recording.pipeline} is gone`;
  const spec = parseSpec(kind, recording.spec);
  if (!spec.ok) return "its spec no longer parses";
  return shapeMisfit(pipeline, recording.journal) ?? orderMisfit({ kind, pipeline, recording, spec: spec.spec });
}

/** What to do about it, for whoever changed the code. */
export function advice({ pipeline, version, release }: Recording, misfit: string): string {
  return (
    `${pipeline} version ${version} no longer goes on from what release ${release} recorded: ${misfit}. ` +
    `Operations that were begun by that release would go wrong. Leave version ${version} as it was and add ` +
    `version ${version + 1} beside it; an operation finishes on the version it started with (docs/operations.md).`
  );
}

function shapeMisfit(pipeline: Pipeline, journal: readonly JournalEntry[]): string | undefined {
  for (const entry of journal) {
    if (entry.step === "admit" || entry.result !== "done") continue;
    const step = pipeline.steps.find(({ name }) => name === entry.step);
    if (step === undefined) return `step '${entry.step}' is gone`;
    if (step.version !== entry.version)
      return `step '${step.name}' has the shapes of version ${step.version}, and version ${entry.version} is recorded`;
    if (!("output" in step)) continue;
    const misfit = entry.direction === "back" ? undefined : outputMisfit(step, entry);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

function outputMisfit(step: Extract<Step, { output: z.ZodType }>, entry: JournalEntry): string | undefined {
  const wrapped = step.type === "effect" ? effectOutput.safeParse(entry.output) : undefined;
  if (wrapped?.success === false) return `the outcome of effect '${step.name}' cannot be read`;
  const value = wrapped === undefined ? entry.output : wrapped.data.output;
  if (!step.input.safeParse(entry.input).success) return `the input of step '${step.name}' has another shape`;
  // What an effect found gone has nothing to say.
  if (value !== undefined && !step.output.safeParse(value).success)
    return `the output of step '${step.name}' has another shape`;
  return undefined;
}

interface Replay {
  readonly kind: Kind;
  readonly pipeline: Pipeline;
  readonly recording: Recording;
  readonly spec: unknown;
}

function orderMisfit(replay: Replay): string | undefined {
  const { pipeline, recording } = replay;
  const { journal, leaving } = recording;
  for (let length = 0; length <= journal.length; length++) {
    const before = journal.slice(0, length);
    const following = journal.slice(length).find(({ result }) => result !== "noted");
    if (following?.result === "again" || following?.result === "moved") continue;
    const direction = following?.direction ?? (recording.state === "cancelled" ? "back" : "forward");
    const cancel = direction === "back" ? { author: "somebody", atMs: 0, reason: "recorded" } : undefined;
    const next = nextMove(pipeline, { operation: { direction, cancel }, journal: before, leaving });
    const now = next.move === "run" || next.move === "undo" ? next.step.name : next.move;
    const then = following?.step ?? "end";
    if (now !== then) return `${whereOf(before)} it went on with '${then}', and the present code does with '${now}'`;
    if (next.move === "run") {
      const misfit = givenMisfit(replay, before, next.step);
      if (misfit !== undefined) return `${whereOf(before)} ${misfit}`;
    }
  }
  return undefined;
}

/** What a step needs must come out of what is stored, or whoever takes the operation over there cannot go on. */
function givenMisfit({ pipeline, recording, spec }: Replay, journal: readonly JournalEntry[], step: Step) {
  if (!("given" in step)) return undefined;
  const standing = standingEntries(pipeline, journal, "forward");
  const story = {
    operationId: "recorded",
    subject: { uid: "recorded", kind: recording.kind, name: "recorded", spec },
    input: recording.input,
    made: () => undefined,
    noted: () => ({}),
    output: ({ name, output }: { readonly name: string; readonly output: z.ZodType }) => {
      const entry = standing.get(name);
      if (entry?.result !== "done") return undefined;
      const made = pipeline.steps.find((one) => one.name === name)?.type === "effect";
      return output.parse(made ? effectOutput.parse(entry.output).output : entry.output);
    },
  } as unknown as Story;
  try {
    if (!step.when(story)) return undefined;
    const given = step.given(story);
    return given === undefined || !step.input.safeParse(given).success
      ? `the step '${step.name}' is not given what it needs`
      : undefined;
  } catch (thrown) {
    return `the step '${step.name}' cannot read what was stored: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

function whereOf(journal: readonly JournalEntry[]): string {
  const last = journal.at(-1);
  return last === undefined ? "at its beginning" : `after '${last.step}' (entry ${last.place})`;
}
