import type { SubjectMemory } from "../../../src/ports/records.ts";
import type { ResourceRow, SubjectRow } from "../store/rows.ts";
import type { Ledger } from "./ledger.ts";
import { Violation } from "./witness.ts";

/** Generations and revisions only grow, whatever happened. */
export function judgeRevision(ledger: Ledger, resource: ResourceRow): void {
  const before = ledger.revisions.get(resource.uid);
  const { generation, revision } = resource;
  if (before !== undefined && (generation < before.generation || revision < before.revision)) {
    throw new Violation("generation", `${resource.kind}/${resource.name} went back to ${generation}/${revision}`);
  }
  ledger.revisions.set(resource.uid, { generation, revision });
}

/** What was recorded as ours is not forgotten while it exists, unless a record says why. */
export function judgeMemory(ledger: Ledger, subject: SubjectRow, before: SubjectMemory, after: SubjectMemory): void {
  if (before === after) return;
  const kept = new Set(after.owned.map((item) => item.key));
  for (const item of before.owned) {
    if (item.state !== "owned" || kept.has(item.key) || item.externalId === undefined) continue;
    const thing = ledger.outside.connections.get(subject.accountId ?? "")?.own.things.get(item.externalId);
    if (thing === undefined || thing.madeFor !== subject.resourceUid) continue;
    if (!isExplained(ledger, subject, item.key)) {
      throw new Violation(
        "ownership",
        `${subject.kind}/${subject.name} forgot ${item.key} (${item.externalId}), which is there`,
      );
    }
  }
}

function isExplained(ledger: Ledger, subject: SubjectRow, key: string): boolean {
  for (const change of ledger.state.tables.changes.values()) {
    if (change.subjectId !== subject.id || change.record.key !== key) continue;
    if (["delete", "forget", "replace", "adopt", "takeover"].includes(change.record.action)) return true;
  }
  return false;
}
