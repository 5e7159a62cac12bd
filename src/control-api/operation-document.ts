import { isoTime } from "../kernel/iso-time.ts";
import type { KindRegistry } from "../kernel/kind.ts";
import { newestPipeline, type Pipeline, type Step } from "../kernel/pipeline.ts";
import { isLive, oldHoldMs, steerRefusal } from "../kernel/steering.ts";
import type {
  JournalEntry,
  OperationRecord,
  OperationView,
  QueuePlace,
  SteerCommand,
} from "../ports/operation-store.ts";
import type { ApiContext } from "./context.ts";
import type { OperationDocument } from "./schemas/operation.ts";
import { duration } from "./subject-conditions.ts";

export function operationPath(organization: string, id: string): string {
  return `/v1/organizations/${organization}/operations/${id}`;
}

/** Operations as people read them, those that wait for their first turn with their place in the queue. */
export async function operationDocuments(
  context: Pick<ApiContext, "clock" | "kinds" | "operations">,
  views: readonly OperationView[],
): Promise<OperationDocument[]> {
  const places = await context.operations.queuePlaces(views.filter(isInQueue).map(({ id }) => id));
  return views.map((view) => operationDocument(context, view, places.get(view.id)));
}

export async function operationDocumentOf(
  context: Pick<ApiContext, "clock" | "kinds" | "operations">,
  view: OperationView,
): Promise<OperationDocument> {
  const places = isInQueue(view) ? await context.operations.queuePlaces([view.id]) : undefined;
  return operationDocument(context, view, places?.get(view.id));
}

/** It has not begun: whoever asked for it waits for nothing but its turn. */
export function isInQueue({ startedAtMs, endedAtMs }: OperationView): boolean {
  return startedAtMs === undefined && endedAtMs === undefined;
}

function operationDocument(
  { clock, kinds }: Pick<ApiContext, "clock" | "kinds">,
  view: OperationView,
  place: QueuePlace | undefined,
): OperationDocument {
  const nowMs = clock.nowMs();
  const waitsFor = waitsForText(view, place, nowMs);
  const because = attentionBecause(view, nowMs);
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
    ...(place === undefined ? {} : { ahead: place.ahead, aheadOwn: place.aheadOwn }),
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...time("holdSince", view.holdSinceMs),
    ...(cancel === undefined ? {} : { cancel: { by: cancel.author, at: isoTime(cancel.atMs), reason: cancel.reason } }),
    needsAttention: because !== undefined,
    ...(because === undefined ? {} : { attentionBecause: because }),
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

/** Why somebody should look at it, with whose it is; undefined when nobody need. */
function attentionBecause(view: OperationView, nowMs: number): string | undefined {
  if (!isLive(view)) return undefined;
  const heldForMs = view.holdSinceMs === undefined ? 0 : nowMs - view.holdSinceMs;
  const holds = `holds ${view.kind}/${view.name} for ${duration(heldForMs)}, started by ${view.author.name}`;
  if (view.state === "held") return `its plan waits for approval; ${holds}`;
  if (view.state === "attention") return `it waits for a person; ${holds}`;
  return heldForMs > oldHoldMs ? holds : undefined;
}

/** What has to come before it goes on, in words; undefined while it is at work. */
function waitsForText(view: OperationView, place: QueuePlace | undefined, nowMs: number): string | undefined {
  if (!isLive(view)) return undefined;
  if (view.state !== "running" || (view.dueAtMs !== undefined && view.dueAtMs > nowMs)) return view.message;
  if (place === undefined) return undefined;
  if (!place.worked) return "a worker: none is running that could take it. See: setpoint status";
  return `its turn: ${place.ahead} before it, ${place.aheadOwn} of them of this organization`;
}

export function stepDocument({ atMs, version: _, ...entry }: JournalEntry) {
  return { ...entry, at: isoTime(atMs) };
}
