import type { HistoryEntry } from "../../src/ports/read-store.ts";
import type { ChangeAction, GuardName, SubjectStatus } from "../../src/ports/records.ts";
import type { MemoryStore } from "../sim/memory-store.ts";
import type { ResourceRow } from "../sim/store/rows.ts";

/** What waits for a person. */
export interface HeldChange {
  readonly id: string;
  readonly digest: string;
  readonly guard: GuardName;
  readonly reason: string;
  readonly items: readonly { readonly action: ChangeAction; readonly key: string }[];
}

export function openHeldChanges({ state }: MemoryStore): readonly HeldChange[] {
  return [...state.tables.heldChanges.values()]
    .filter((row) => row.state === "open")
    .map((row) => ({
      id: row.id,
      digest: row.digest,
      guard: row.guard,
      reason: row.verdict.reason,
      items: row.items.map(({ action, key }) => ({ action, key })),
    }));
}

/** A resource by `Kind/name`. */
export function resourceRow({ state }: MemoryStore, name: string): ResourceRow | undefined {
  const { organizations, scopes, resources } = state.tables;
  const [kind = "", ...rest] = name.split("/");
  for (const id of organizations.keys())
    for (const scope of [`organization/${id}`, ...scopes.keys()]) {
      const row = resources.named(id, { scope, kind, name: rest.join("/") });
      if (row !== undefined) return row;
    }
  return undefined;
}

export function statusesOf({ state }: MemoryStore, uid: string): readonly (SubjectStatus | undefined)[] {
  return [...state.tables.subjects.values()].filter((row) => row.resourceUid === uid).map((row) => row.status);
}

/** Oldest first; what was written in one moment keeps the order in which it was written. */
export function historyOf({ state }: MemoryStore, uid: string): readonly HistoryEntry[] {
  const { changes, verdicts } = state.tables;
  const made = [...changes.values()]
    .filter((row) => row.resourceUid === uid)
    .map(({ record, outcome, atMs }): HistoryEntry => {
      const { action, key, externalId, trigger, differences, declaredBy } = record;
      return {
        type: "change",
        atMs,
        action,
        key,
        externalId,
        trigger,
        differences,
        declaredBy,
        verdicts: record.verdicts,
        grantId: record.grantId,
        result: outcome?.result ?? "intended",
        answer: outcome?.answer,
      };
    });
  const said = verdicts
    .filter((row) => row.resourceUid === uid)
    .map(({ atMs, verdict }): HistoryEntry => ({ type: "verdict", atMs, verdict }));
  return [...made, ...said].sort((left, right) => left.atMs - right.atMs);
}
