import { isLive, steerRefusal } from "../kernel/steering.ts";
import type { JournalEntry, OperationView, SteerCommand } from "../ports/operation-store.ts";
import { isoTime } from "./iso-time.ts";
import type { OperationDocument } from "./schemas/operation.ts";

/** A hold that lasts longer than this is shown to people, with the operation that has it. */
const OLD_HOLD_MS = 15 * 60_000;

export function operationPath(organization: string, id: string): string {
  return `/v1/organizations/${organization}/operations/${id}`;
}

export function operationDocument(view: OperationView, nowMs: number): OperationDocument {
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
    needsAttention: needsAttention(view, nowMs),
    can: verbs.filter(([, command]) => steerRefusal(view, command(step ?? "")) === undefined).map(([verb]) => verb),
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

export function needsAttention(view: OperationView, nowMs: number): boolean {
  if (!isLive(view)) return false;
  return view.state !== "running" || (view.holdSinceMs !== undefined && nowMs - view.holdSinceMs > OLD_HOLD_MS);
}

export function stepDocument({ atMs, version: _, ...entry }: JournalEntry) {
  return { ...entry, at: isoTime(atMs) };
}
