import { endHold, type State, subjectsOf } from "./state.ts";

interface HoldRequest {
  readonly organizationId: string;
  readonly uid: string;
  readonly operationId: string;
}

/**
 * Holds without an operation behind them, which no store of the product can place: so that loops meet holds on what has
 * no operations, at any moment and for any time.
 */
export interface StagedHolds {
  placeHold(request: HoldRequest & { readonly reason: string }): Promise<boolean>;
  releaseHold(request: HoldRequest): Promise<void>;
}

export function placeHold(
  { tables, nowMs }: State,
  { organizationId, uid, operationId, reason }: Parameters<StagedHolds["placeHold"]>[0],
): boolean {
  const subjects = subjectsOf(tables, uid).filter((row) => row.organizationId === organizationId);
  const taken = subjects.some((row) => row.hold !== undefined && row.hold.operationId !== operationId);
  if (taken || subjects.length === 0) return false;
  const sinceMs = nowMs();
  for (const subject of subjects) subject.hold ??= { operationId, sinceMs, reason };
  return true;
}

export function releaseHold({ tables, nowMs }: State, { organizationId, uid, operationId }: HoldRequest): void {
  const now = nowMs();
  for (const subject of subjectsOf(tables, uid)) {
    if (subject.organizationId === organizationId) endHold(subject, operationId, now);
  }
}
