import type { OperationRecord } from "../ports/operation-store.ts";
import { priorityOf } from "./priorities.ts";
import type { OperationJson } from "./sql/operations.ts";

export function recordOf(row: OperationJson): OperationRecord {
  const known = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined]));
  return { ...known, priority: priorityOf(row.priority) } as OperationRecord;
}
