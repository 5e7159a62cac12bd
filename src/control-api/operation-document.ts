import type { KindRegistry } from "../kernel/kind.ts";
import { newestPipeline, type Pipeline, type Step } from "../kernel/pipeline.ts";
import { isLive, steerRefusal } from "../kernel/steering.ts";
import type { JournalEntry, OperationRecord, OperationView, SteerCommand } from "../ports/operation-store.ts";
import type { ApiContext } from "./context.ts";
import { isoTime } from "./iso-time.ts";
import type { OperationDocument } from "./schemas/operation.ts";

/** A hold that lasts longer than this is shown to people, with the operation that has it. */
const OLD_HOLD_MS = 15 * 60_000;

export function operationPath(organization: string, id: string): string {
  return `/v1/organizations/${organization}/operations/${id}`;
}

export function operationDocument(
  { clock, kinds }: Pick<ApiContext, "clock" | "kinds">,
  view: OperationView,
): OperationDocument {
  const can = ([verb, command]: (typeof verbs)[number]) =>
    steerRefusal(view, command(view.step ?? "")) === undefined && (verb !== "skip" || maySkip(kinds, view));
  const { id, pipeline, version, state, direction, attempts, message, revision, cancel, step } = view;
  const time = (name: string, ms: number | undefined) => (ms === undefined ? {} : { [name]: isoTime(ms) });
  return {
    id,
    pipeline,
    version,
    state,
    direction,
    resource: { kind: view.kind, name: view.name, uid: view.resourceUid },
    startedBy: view.author.name,
    createdAt: isoTime(view.createdAtMs),
    ...time("startedAt", view.startedAtMs),
    ...time("endedAt", view.endedAtMs),
    ...(step === undefined ? {} : { step }),
    attempts,
    message,
    ...time("dueAt", view.dueAtMs),
    ...(view.ahead === undefined ? {} : { ahead: view.ahead }),
    ...time("holdSince", view.holdSinceMs),
    ...(cancel === undefined ? {} : { cancel: { by: cancel.author, at: isoTime(cancel.atMs), reason: cancel.reason } }),
    needsAttention: needsAttention(view, clock.nowMs()),
    can: verbs.filter(can).map(([verb]) => verb),
    revision,
  };
}

type Verb = OperationDocument["can"][number];
const verbs: readonly (readonly [Verb, (step: string) => SteerCommand])[] = [
  ["cancel", () => ({ verb: "cancel" })],
  ["resume", () => ({ verb: "resume" })],
  ["retry", (step) => ({ verb: "retry", step })],
  ["skip", (step) => ({ verb: "skip", step })],
  ["release", () => ({ verb: "release" })],
];

/** The pipeline as the operation knows it; the newest where that version is gone. */
export function pipelineOf(
  kinds: KindRegistry,
  { kind, pipeline: name, version }: Pick<OperationRecord, "kind" | "pipeline" | "version">,
): Pipeline | undefined {
  const { pipelines } = kinds.get(kind) ?? {};
  return (
    pipelines?.find((pipeline) => pipeline.name === name && pipeline.version === version) ??
    newestPipeline(pipelines, name)
  );
}

/** Whether the step it is at may be left undone: where that is declared safe, and it waits. */
function maySkip(kinds: KindRegistry, view: OperationRecord): boolean {
  const step = pipelineOf(kinds, view)?.steps.find(({ name }) => name === view.step);
  return step?.safeToSkip === true && (view.state !== "running" || isWait(step));
}

export function isWait({ type }: Step): boolean {
  return type === "wait" || type === "sleep";
}

export function needsAttention(view: OperationView, nowMs: number): boolean {
  if (!isLive(view)) return false;
  return view.state !== "running" || (view.holdSinceMs !== undefined && nowMs - view.holdSinceMs > OLD_HOLD_MS);
}

export function stepDocument({ atMs, version: _, ...entry }: JournalEntry) {
  return { ...entry, at: isoTime(atMs) };
}
