import type { CycleInput } from "../ports/records.ts";

/** What an operation made, or is in the middle of making, for a subject that leaves: only an operation takes it away. */
export function keptFromGoing({ hold, memory, resource }: CycleInput): string | undefined {
  if (hold !== undefined) return `operation ${hold.operationId} holds this subject: ${hold.reason}`;
  if (resource.deletion?.orphan === true || memory.made === undefined || memory.made.length === 0) return undefined;
  const things = memory.made.map(({ key }) => key).join(", ");
  return `an operation made ${things}, and an operation has to take it away before this resource can go`;
}
